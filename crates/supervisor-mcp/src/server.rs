//! The way in for hosts.

use std::fmt;
use std::sync::Arc;

use serde_json::{Map, Value};
use supervisor::Supervisor;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::answer::ToolAnswer;
use crate::defaults::Defaults;
use crate::hub::Hub;
use crate::limits::LIST_WAITS;
use crate::serve::{self, ServeError};
use crate::tools;

/// The tools on the tasks of one supervisor, for any number of clients. Cloning it costs nothing.
#[derive(Clone)]
pub struct McpServer {
    hub: Arc<Hub>,
}

impl McpServer {
    /// A server of this supervisor's tasks. When the defaults name a browser, the task `default` is connected to it, in the
    /// background: whoever asks for the tools or the task waits for that a moment.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn new(supervisor: Supervisor, defaults: Defaults) -> Self {
        let hub = Hub::new(supervisor, defaults);
        if hub.has_endpoint() {
            hub.connect_default();
        }
        Self { hub }
    }

    /// Serves one MCP client (JSON-RPC, a line a message) until its input ends. The tasks go on, for other clients and the
    /// next one.
    ///
    /// # Errors
    /// When the client does not speak MCP.
    pub async fn serve<R, W>(&self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        serve::serve(Arc::clone(&self.hub), reader, writer).await
    }

    /// Serves the only client this server will have. When its input ends, all tasks are stopped, which first answers the
    /// dialogs that may be answered; calls that still run then have two seconds to end.
    ///
    /// # Errors
    /// When the client does not speak MCP.
    pub async fn serve_to_the_end<R, W>(&self, reader: R, writer: W) -> Result<(), ServeError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        serve::serve_to_the_end(Arc::clone(&self.hub), reader, writer).await
    }

    /// The same on standard input and output. Nothing else may write to standard output.
    ///
    /// # Errors
    /// When the client does not speak MCP.
    pub async fn serve_stdio(&self) -> Result<(), ServeError> {
        self.serve_to_the_end(tokio::io::stdin(), tokio::io::stdout()).await
    }

    /// Calls a tool directly, without MCP; `None` when there is none of this name. Dropping the future gives the call up.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Option<ToolAnswer> {
        let tool = tools::find(tool)?;
        Some(self.hub.call(tool, arguments).await)
    }

    /// Waits while connections are being made, such as the configured one at start: for a moment, not for one that hangs.
    pub async fn settled(&self) {
        self.hub.wait_until_connected(LIST_WAITS).await;
    }

    /// Ends it for all clients: they are heard no longer, all tasks are stopped (which first answers the dialogs that may be
    /// answered), and calls that ran get their last answer. Takes two seconds at most.
    pub async fn end(&self) {
        self.hub.end().await;
    }

    /// The supervisor whose tasks these are.
    #[must_use]
    pub fn supervisor(&self) -> &Supervisor {
        self.hub.supervisor()
    }
}

impl fmt::Debug for McpServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServer").finish_non_exhaustive()
    }
}
