//! A real Chromium, a server with the test's pages, and a task that supervises the one with the other.

use std::sync::Arc;
use std::time::Duration;

use chromium_launcher::{Browser, Launch, Running};
use page_server::{PageServer, Site};
use supervisor::{Options, PageView, Snapshot, StartOptions, Supervisor, TargetId, Task};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// How long a test waits for a condition. It only decides how fast a broken test fails: a loaded machine may be slow.
#[must_use]
pub fn patience() -> Duration {
    Duration::from_secs(40)
}

/// The browser that the tests run on: `CDP_SUPERVISOR_BROWSER` (a name or a path), or the one that is found.
#[must_use]
pub fn browser() -> Browser {
    assert!(
        std::env::var_os("CDP_SUPERVISOR_NO_BROWSER").is_none(),
        "this test needs a Chromium: it must stand in a module named `browser`, so that it can be left out"
    );
    match std::env::var("CDP_SUPERVISOR_BROWSER") {
        Ok(name) if !name.is_empty() => chromium_launcher::find_named(&name),
        _ => chromium_launcher::find(),
    }
    .unwrap_or_else(|error| panic!("{error}"))
}

/// Whether the tests run on the headless shell: it has nobody who could show a dialog, so it keeps none open that nobody
/// listens to, and it takes the last one for the only one.
#[must_use]
pub fn is_headless_shell() -> bool {
    let path = browser().path;
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace('_', "-");
    name.contains("headless-shell")
}

/// The major version that a browser tells.
#[must_use]
pub fn major_version(version: &str) -> u32 {
    // The first number: a build may name its system and that one's version behind it.
    let major = version.split(' ').find_map(|word| word.split('.').next()?.parse().ok());
    major.unwrap_or_else(|| panic!("no version in {version:?}"))
}

/// Two browsers at once: the tests are to be fast, not the machine to be on its knees.
static BROWSERS: std::sync::LazyLock<Arc<Semaphore>> =
    std::sync::LazyLock::new(|| Arc::new(Semaphore::new(2)));

/// A browser that nobody supervises.
pub struct Alone {
    /// The browser.
    pub browser: Running,
    _permit: Option<OwnedSemaphorePermit>,
}

impl Alone {
    /// A browser at `about:blank`, with a process for each site.
    pub async fn new() -> Self {
        let permit = Arc::clone(&BROWSERS).acquire_owned().await.unwrap();
        Self { _permit: Some(permit), ..Self::one_more().await }
    }

    /// One more in the same test. It waits for no permit: two tests that each waited for a second one would wait for ever.
    pub async fn one_more() -> Self {
        let launch = Launch::new(browser()).site_per_process(true);
        let browser = launch.start().await.unwrap_or_else(|error| panic!("{error}"));
        Self { browser, _permit: None }
    }

    /// Ends it.
    pub async fn end(self) {
        self.browser.stop().await.unwrap();
    }
}

/// Everything that a browser test stands on.
pub struct Stage {
    /// The browser.
    pub browser: Running,
    /// The pages.
    pub pages: PageServer,
    /// The library.
    pub supervisor: Supervisor,
    /// The task, connected to the browser.
    pub task: Task,
    _permit: OwnedSemaphorePermit,
}

impl Stage {
    /// Pages, a browser at `about:blank`, and a connected task with the default options.
    pub async fn new(site: Site) -> Self {
        Self::with(site, Options::default()).await
    }

    /// The same with other options.
    pub async fn with(site: Site, options: impl Into<StartOptions>) -> Self {
        Self::launched(Launch::new(browser()), site, options).await
    }

    /// The same on a browser that is launched in its own way. Test hosts (`a.test`, …) and site isolation are added.
    pub async fn launched(launch: Launch, site: Site, options: impl Into<StartOptions>) -> Self {
        let permit = Arc::clone(&BROWSERS).acquire_owned().await.unwrap();
        let pages = PageServer::start(site).await.unwrap();
        let launch = launch.site_per_process(true).map_test_hosts(true);
        let browser = launch.start().await.unwrap_or_else(|error| panic!("{error}"));
        let supervisor = Supervisor::start();
        let started = supervisor.get_or_start("test", browser.ws_url(), options).await;
        let task = started.unwrap_or_else(|error| panic!("{error:?}"));
        let stage = Self { browser, pages, supervisor, task, _permit: permit };
        stage.until(|snapshot| snapshot.frame_tree.top.is_some()).await;
        stage
    }

    /// Waits until the snapshot is as wished.
    pub async fn until(&self, wished: impl FnMut(&Snapshot) -> bool) -> Arc<Snapshot> {
        match self.task.wait_for(wished, patience()).await {
            Ok(snapshot) => snapshot,
            Err(failure) => {
                let last = serde_json::to_string_pretty(&*self.task.snapshot()).unwrap();
                panic!("{failure}; the last snapshot: {last}")
            }
        }
    }

    /// The active page.
    #[must_use]
    pub fn page(&self) -> PageView {
        let snapshot = self.task.snapshot();
        snapshot.pages.iter().find(|page| page.active).cloned().expect("an active page")
    }

    /// The page with this target, if it is there.
    #[must_use]
    pub fn page_of(&self, target: &TargetId) -> Option<PageView> {
        self.task.snapshot().pages.iter().find(|page| page.target_id == *target).cloned()
    }

    /// The browser's major version.
    #[must_use]
    pub fn major_version(&self) -> u32 {
        major_version(self.browser.version())
    }

    /// Whether a sandboxed frame gets a process of its own: not on 111 and 123.
    #[must_use]
    pub fn isolates_sandboxed_frames(&self) -> bool {
        self.major_version() > 123
    }

    /// Whether a script that is added can run in a document that is there already (`runImmediately`), and whether a request
    /// that the permissions policy stops is told in the console: not on 111.
    #[must_use]
    pub fn runs_scripts_immediately(&self) -> bool {
        self.major_version() > 111
    }

    /// Stops everything, in the order in which a careful host does.
    pub async fn end(self) {
        self.supervisor.stop_all().await;
        self.browser.stop().await.unwrap();
        self.pages.stop().await;
    }
}
