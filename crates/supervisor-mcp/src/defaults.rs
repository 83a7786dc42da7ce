//! What a server's settings say.

use supervisor::{Endpoint, StartOptions};

/// What `browser_connect` takes where its caller names nothing.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Defaults {
    /// Where the browser is.
    pub endpoint: Option<Endpoint>,
    /// The choices of a task.
    pub start: StartOptions,
}

impl Defaults {
    /// A browser to take where none is named.
    #[must_use]
    pub fn with_endpoint(mut self, endpoint: Endpoint) -> Self {
        self.endpoint = Some(endpoint);
        self
    }

    /// The choices of tasks.
    #[must_use]
    pub fn with_start(mut self, start: impl Into<StartOptions>) -> Self {
        self.start = start.into();
        self
    }
}
