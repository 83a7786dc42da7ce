//! Starts a browser.

use std::time::{Duration, Instant};

use rustix::process::geteuid;

use crate::endpoint::Endpoint;
use crate::group::Group;
use crate::{Browser, LauncherError, Running, wait};

/// A cold start on a loaded machine was seen to take several seconds; a browser that needs longer does not work.
const START_LIMIT: Duration = Duration::from_secs(30);

/// For every start: a free port, no questions, and no traffic of the browser's own.
const ALWAYS: [&str; 8] = [
    "--remote-debugging-port=0",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
];

/// How to start a browser: headless, on `about:blank` and with a fresh profile unless told otherwise.
#[derive(Debug, Clone)]
pub struct Launch {
    browser: Browser,
    headless: bool,
    site_per_process: bool,
    map_test_hosts: bool,
    arguments: Vec<String>,
    url: String,
}

impl Launch {
    /// A start of this browser.
    pub fn new(browser: Browser) -> Launch {
        Launch {
            browser,
            headless: true,
            site_per_process: false,
            map_test_hosts: false,
            arguments: Vec::new(),
            url: "about:blank".to_owned(),
        }
    }

    /// Adds a command-line switch. It comes after ours: Chromium takes the last of two that contradict.
    pub fn arg(mut self, argument: impl Into<String>) -> Launch {
        self.arguments.push(argument.into());
        self
    }

    /// Whether it runs without a window (the default). With one it needs a display.
    pub fn headless(mut self, headless: bool) -> Launch {
        self.headless = headless;
        self
    }

    /// Whether every site gets a process of its own, so that each cross-site iframe is an OOPIF, as on desktops with
    /// enough memory.
    pub fn site_per_process(mut self, site_per_process: bool) -> Launch {
        self.site_per_process = site_per_process;
        self
    }

    /// Whether every host below `.test` is 127.0.0.1, so that local pages can be of several sites. A proxy of the
    /// environment would be asked for those hosts instead, so none is used then.
    pub fn map_test_hosts(mut self, map_test_hosts: bool) -> Launch {
        self.map_test_hosts = map_test_hosts;
        self
    }

    /// The page to open.
    pub fn url(mut self, url: impl Into<String>) -> Launch {
        self.url = url.into();
        self
    }

    /// Starts it, and waits until its DevTools port is open: 30 s at most.
    ///
    /// Dropping the future ends the browser. Needs a tokio runtime with timers.
    ///
    /// # Errors
    /// `NoProfile` and `Spawn` from the operating system; `EndedEarly` and `NoPort`, with the end of the browser's
    /// standard error, when it does not come up.
    pub async fn start(self) -> Result<Running, LauncherError> {
        let mut group = Group::spawn(&self.browser.path, &self.switches(geteuid().is_root()))?;
        match wait_for_endpoint(&mut group).await {
            Ok(endpoint) => Ok(Running::new(group, endpoint, self.browser.version)),
            Err(failure) => Err(self.explain(group, failure).await),
        }
    }

    /// Without `--user-data-dir`, which is known once there is a profile.
    fn switches(&self, root: bool) -> Vec<String> {
        let optional = [
            (self.headless, "--headless"),
            // The sandbox refuses to run as root.
            (root, "--no-sandbox"),
            (self.site_per_process, "--site-per-process"),
            (self.map_test_hosts, "--host-resolver-rules=MAP *.test 127.0.0.1"),
            (self.map_test_hosts, "--no-proxy-server"),
        ];
        let chosen = optional.iter().filter(|(wanted, _)| *wanted).map(|(_, switch)| *switch);
        let own = ALWAYS.iter().copied().chain(chosen).map(str::to_owned);
        own.chain(self.arguments.iter().cloned()).chain([self.url.clone()]).collect()
    }

    /// Ends what has been started, so that all of its standard error has been read, and puts that into the error.
    async fn explain(&self, group: Group, failure: Failure) -> LauncherError {
        let stderr = group.stderr.clone();
        // A closure that is never run (the runtime is shutting down) drops the group, which ends it all the same.
        let _ = tokio::task::spawn_blocking(move || drop(group)).await;
        let (path, stderr) = (self.browser.path.clone(), stderr.tail());
        match failure {
            Failure::Ended(status) => LauncherError::EndedEarly { path, status, stderr },
            Failure::Silent => LauncherError::NoPort { path, limit: START_LIMIT, stderr },
        }
    }
}

enum Failure {
    Ended(std::process::ExitStatus),
    Silent,
}

async fn wait_for_endpoint(group: &mut Group) -> Result<Endpoint, Failure> {
    let deadline = Instant::now() + START_LIMIT;
    loop {
        if let Some(endpoint) = Endpoint::from_profile(&group.profile).or_else(|| group.stderr.endpoint()) {
            return Ok(endpoint);
        }
        if let Some(status) = group.exit_status() {
            return Err(Failure::Ended(status));
        }
        if Instant::now() >= deadline {
            return Err(Failure::Silent);
        }
        tokio::time::sleep(wait::LOOK_AGAIN).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> Launch {
        Launch::new(Browser { path: "/bin/false".into(), version: "none 1".to_owned() })
    }

    #[test]
    fn the_sandbox_is_off_for_root_only() {
        assert!(launch().switches(true).contains(&"--no-sandbox".to_owned()));
        assert!(!launch().switches(false).contains(&"--no-sandbox".to_owned()));
    }

    #[test]
    fn own_switches_come_first_and_the_page_last() {
        let switches = launch().arg("--lang=de").url("http://a.test/").switches(false);
        assert_eq!(switches[0], "--remote-debugging-port=0");
        assert_eq!(switches[switches.len() - 2..], ["--lang=de", "http://a.test/"]);
    }

    #[test]
    fn test_hosts_are_mapped_when_asked() {
        let switches = launch().headless(false).site_per_process(true).map_test_hosts(true).switches(false);
        for wanted in ["--site-per-process", "--host-resolver-rules=MAP *.test 127.0.0.1"] {
            assert!(switches.contains(&wanted.to_owned()), "{switches:?}");
        }
        assert!(!switches.contains(&"--headless".to_owned()));
    }
}
