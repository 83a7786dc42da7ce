//! The demo's browser: found, or installed where that is allowed, and started.

use std::sync::Arc;

use chromium_launcher::{Browser, Launch, LauncherError, Running};
use tokio::task::spawn_blocking;

use crate::error::CliError;
use crate::signals::{Signal, Signals};

use super::narrate::Narrator;

/// What became of looking for a browser.
pub(super) enum Found {
    /// This one.
    Browser(Browser),
    /// There is none, and why.
    None(LauncherError),
    /// A signal came meanwhile.
    Interrupted(Signal),
}

/// Finds a browser; where there is none, installs it if it may.
pub(super) async fn find_or_install(
    narrator: &Arc<Narrator>,
    install: bool,
    signals: &mut Signals,
) -> Result<Found, CliError> {
    let found = tokio::select! {
        signal = signals.next() => return Ok(Found::Interrupted(signal)),
        found = blocking(chromium_launcher::find) => found?,
    };
    match found {
        Ok(browser) => Ok(Found::Browser(browser)),
        Err(LauncherError::NotFound { .. }) if install && chromium_launcher::may_install() => {
            installed(narrator, signals).await
        }
        Err(why) => Ok(Found::None(why)),
    }
}

/// A signal does not break the installation off, which would leave the package manager's database broken; it ends the
/// demo afterwards.
async fn installed(narrator: &Arc<Narrator>, signals: &mut Signals) -> Result<Found, CliError> {
    narrator.title("there is no Chromium: installing the package (--no-install forbids it)")?;
    let progress = Arc::clone(narrator);
    let mut installing = std::pin::pin!(blocking(move || {
        // Output that nobody reads is no reason to break the installation off.
        chromium_launcher::install(|line| drop(progress.note(line)))
    }));
    let mut interrupted = None;
    let installed = loop {
        tokio::select! {
            installed = &mut installing => break installed?,
            signal = signals.next() => interrupted = Some(signal),
        }
    };
    Ok(match (interrupted, installed) {
        (Some(signal), _) => Found::Interrupted(signal),
        (None, Ok(browser)) => Found::Browser(browser),
        (None, Err(why)) => Found::None(why),
    })
}

/// Starts it with every site in a process of its own and with all hosts below `.test` on this machine.
pub(super) async fn start(narrator: &Narrator, browser: Browser) -> Result<Running, CliError> {
    narrator.title(&browser.version)?;
    narrator.act(&format!("start {} without a window", browser.path.display()))?;
    let launch = Launch::new(browser).site_per_process(true).map_test_hosts(true);
    let running = launch.start().await.map_err(CliError::Launch)?;
    let (pid, profile) = (running.pid(), running.profile().display());
    narrator.good(&format!("it runs: process {pid}, throw-away profile {profile}"))?;
    Ok(running)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, CliError> {
    spawn_blocking(work).await.map_err(|error| CliError::BrokeOff(error.to_string()))
}
