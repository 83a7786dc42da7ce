//! The browsers that run.

use std::path::PathBuf;
use std::time::Duration;

use supervisor::{Endpoint, Failure, Network, knock};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::finding::Finding;
use crate::settings::{self, Around, Loaded};

const ABOUT: &str = "endpoint";

/// A browser answers in milliseconds; a doctor does not wait for one that is in trouble.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where a browser listens if nobody says otherwise.
const USUAL: &str = "http://127.0.0.1:9222";

/// Below the home folder, what browsers take for their user-data-dir on Linux and on macOS.
const PROFILES: [&str; 8] = [
    ".config/chromium",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/google-chrome-unstable",
    ".config/microsoft-edge",
    ".config/BraveSoftware/Brave-Browser",
    "Library/Application Support/Chromium",
    "Library/Application Support/Google/Chrome",
];

pub(super) async fn look(loaded: &Loaded, connect: bool) -> Vec<Finding> {
    let mut findings = vec![configured(loaded, connect).await];
    findings.push(usual().await);
    for profile in profiles(&loaded.around) {
        findings.extend(self::profile(profile).await);
    }
    findings
}

async fn configured(loaded: &Loaded, connect: bool) -> Finding {
    let browser = &loaded.settings.browser;
    let Some(url) = &browser.cdp_url else {
        return Finding::ok(ABOUT, "no browser is configured (browser.cdp_url)");
    };
    let endpoint = url.endpoint();
    if !connect && !endpoint.is_local() {
        return Finding::ok(ABOUT, format!("{endpoint} is configured, and was not tried: --connect does"));
    }
    let limit = loaded.settings.timeouts.start_s.0.max(PATIENCE);
    let network = settings::network(&loaded.settings);
    match knock(endpoint, &browser.headers.secrets(), &network, limit).await {
        Ok(product) => {
            Finding::ok(ABOUT, format!("{} answers at {endpoint}, which is configured", named(product)))
        }
        Err(failure) => {
            let what = format!("nobody answers at {endpoint}, which is configured: {}", why(&failure));
            Finding::bad(ABOUT, what, crate::error::next(&failure))
        }
    }
}

async fn usual() -> Finding {
    let Ok(endpoint) = Endpoint::parse(USUAL) else { return Finding::ok(ABOUT, USUAL) };
    match knock(&endpoint, &[], &Network::default(), PATIENCE).await {
        Ok(product) => Finding::ok(ABOUT, format!("{} answers at {USUAL}", named(product))),
        Err(failure) if failure.detail.stage == Some(supervisor::Stage::Tcp) => {
            Finding::ok(ABOUT, format!("nobody listens at {USUAL}, the usual port"))
        }
        Err(failure) => {
            let next = "use another port, or end that program; the browser's own line `DevTools listening on …` says where it listens";
            Finding::warn(ABOUT, format!("what listens at {USUAL} is no browser: {}", why(&failure)), next)
        }
    }
}

fn named(product: Option<String>) -> String {
    product.unwrap_or_else(|| "a browser".to_owned())
}

fn why(failure: &Failure) -> String {
    let stage =
        failure.detail.stage.map(|stage| format!("{}: ", crate::teller::word(&stage))).unwrap_or_default();
    format!("{stage}{}", failure.message)
}

fn profiles(around: &Around) -> impl Iterator<Item = PathBuf> {
    around.home().into_iter().flat_map(|home| PROFILES.map(|profile| home.join(profile)))
}

/// A browser that its user has opened for debugging. Only its port is looked at: it asks its user about each connection.
async fn profile(folder: PathBuf) -> Option<Finding> {
    let text = std::fs::read_to_string(folder.join("DevToolsActivePort")).ok()?;
    let port: u16 = text.lines().next()?.trim().parse().ok()?;
    let listens =
        timeout(PATIENCE, TcpStream::connect(("127.0.0.1", port))).await.is_ok_and(|tried| tried.is_ok());
    let folder = folder.display();
    Some(Finding::ok(
        ABOUT,
        match listens {
            true => format!("a browser listens with the profile {folder}: give that path as its URL"),
            false => format!("a browser with the profile {folder} listened once, and does no longer"),
        },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_profile_whose_browser_listens_is_told_from_one_that_does_not() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(PROFILES[0]);
        std::fs::create_dir_all(&folder).unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        std::fs::write(folder.join("DevToolsActivePort"), format!("{port}\n/devtools/browser/x\n")).unwrap();
        let around = Around::with([("HOME", home.path().to_str().unwrap())]);
        let found = profiles(&around).next().unwrap();
        assert!(profile(found.clone()).await.unwrap().what.contains("listens with the profile"));
        drop(listener);
        assert!(profile(found).await.unwrap().what.contains("does no longer"));
        assert_eq!(profile(home.path().to_owned()).await, None);
    }
}
