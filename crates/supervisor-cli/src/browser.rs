//! The browser of a command: one that it launches, or one that it is told of.

use chromium_launcher::{Launch, LauncherError, Running};
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
}

impl Browser {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Option<Layer> {
        self.url.as_deref().map(settings::url)
    }

    /// A browser of its own, if it was asked for.
    pub(crate) async fn launched(&self) -> Result<Option<Running>, CliError> {
        match self.launch {
            true => launch().await.map(Some),
            false => Ok(None),
        }
    }
}

/// An endpoint without its secrets.
pub(crate) fn shown(url: &str) -> String {
    Endpoint::parse(url).map_or_else(|_| "this endpoint".to_owned(), |endpoint| endpoint.to_string())
}

/// Starts a browser that is found on this machine.
async fn launch() -> Result<Running, CliError> {
    let found = tokio::task::spawn_blocking(chromium_launcher::find).await;
    let found = found.map_err(|error| CliError::BrokeOff(error.to_string()))?;
    let browser = found.map_err(|error| match error {
        LauncherError::NotFound { .. } | LauncherError::Unusable { .. } => CliError::NoBrowser(error),
        other => CliError::Launch(other),
    })?;
    Launch::new(browser).start().await.map_err(CliError::Launch)
}

/// Ends it, if there is one.
pub(crate) async fn stop(launched: Option<Running>) -> Result<(), CliError> {
    match launched {
        Some(running) => running.stop().await.map_err(CliError::Launch),
        None => Ok(()),
    }
}
