//! The browser of a command: one that it launches, or one that it is told of.

use chromium_launcher::{Browser as Found, Launch, LauncherError, Running};
use supervisor::Endpoint;

use crate::error::CliError;
use crate::settings::{self, Layer};

/// Which browser.
#[derive(Debug, clap::Args)]
pub(crate) struct Browser {
    /// http://HOST:PORT, ws://HOST:PORT/devtools/browser/ID, ws://HOST:PORT/devtools/page/ID, wss://…, or a user-data-dir.
    url: Option<String>,
    /// Start a browser of its own, without a window and with a profile that is thrown away.
    #[arg(long, conflicts_with = "url")]
    launch: bool,
    /// The browser to start: a path, or a name on PATH.
    #[arg(long, value_name = "PATH", requires = "launch")]
    browser: Option<String>,
}

impl Browser {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Option<Layer> {
        self.url.as_deref().map(settings::url)
    }

    /// A browser of its own, if it was asked for.
    pub(crate) async fn launched(&self) -> Result<Option<Running>, CliError> {
        self.launched_with(|launch| launch).await
    }

    /// The same, launched in a way of its own.
    pub(crate) async fn launched_with(
        &self,
        so: impl FnOnce(Launch) -> Launch,
    ) -> Result<Option<Running>, CliError> {
        if !self.launch {
            return Ok(None);
        }
        let launch = so(Launch::new(found(self.browser.clone()).await?));
        launch.start().await.map(Some).map_err(CliError::Launch)
    }
}

/// An endpoint without its secrets.
pub(crate) fn shown(url: &str) -> String {
    Endpoint::parse(url).map_or_else(|_| "this endpoint".to_owned(), |endpoint| endpoint.to_string())
}

/// The named browser, or the one that is found on this machine.
async fn found(named: Option<String>) -> Result<Found, CliError> {
    let find =
        move || named.map_or_else(chromium_launcher::find, |name| chromium_launcher::find_named(&name));
    let found = tokio::task::spawn_blocking(find).await;
    let found = found.map_err(|error| CliError::BrokeOff(error.to_string()))?;
    found.map_err(|error| match error {
        LauncherError::NotFound { .. } | LauncherError::Unusable { .. } => CliError::NoBrowser(error),
        other => CliError::Launch(other),
    })
}

/// Ends it, if there is one.
pub(crate) async fn stop(launched: Option<Running>) -> Result<(), CliError> {
    match launched {
        Some(running) => running.stop().await.map_err(CliError::Launch),
        None => Ok(()),
    }
}
