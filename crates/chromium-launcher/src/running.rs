//! A browser that runs.

use std::path::Path;

use crate::LauncherError;
use crate::endpoint::Endpoint;
use crate::group::Group;

/// A started browser. It ends when this is dropped; [`Running::stop`] ends it more gently and tells of trouble.
#[derive(Debug)]
pub struct Running {
    group: Group,
    ws_url: String,
    http_url: String,
    version: String,
}

impl Running {
    pub(crate) fn new(group: Group, endpoint: Endpoint, version: String) -> Running {
        let http_url = format!("http://127.0.0.1:{}", endpoint.port);
        let ws_url = format!("ws://127.0.0.1:{}{}", endpoint.port, endpoint.path);
        Running { group, ws_url, http_url, version }
    }

    /// Process id of the browser's main process.
    pub fn pid(&self) -> u32 {
        self.group.pid()
    }

    /// The browser's own endpoint, `ws://127.0.0.1:PORT/devtools/browser/ID`.
    pub fn ws_url(&self) -> &str {
        &self.ws_url
    }

    /// `http://127.0.0.1:PORT`, where `/json/version` is.
    pub fn http_url(&self) -> &str {
        &self.http_url
    }

    /// Its user-data-dir, deleted when it ends.
    pub fn profile(&self) -> &Path {
        &self.group.profile
    }

    /// As the executable told it, as in `Chromium 156.0.8078.114`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The last 4 KiB of its standard error.
    pub fn stderr_tail(&self) -> String {
        self.group.stderr.tail()
    }

    /// Ends it: SIGTERM to the whole process group, SIGKILL after 3 s, then the profile is deleted.
    ///
    /// Takes a fraction of a second as a rule and is bounded to 11 s. Dropping the future does not stop the stopping.
    ///
    /// # Errors
    /// `StillThere` when a killed process does not go, `ProfileLeft` when the profile cannot be deleted.
    pub async fn stop(self) -> Result<(), LauncherError> {
        let group = self.group;
        // A task that is never run (the runtime is shutting down) drops the group, which ends it all the same.
        tokio::task::spawn_blocking(move || group.stop()).await.unwrap_or(Ok(()))
    }
}
