//! A client of a server, for commands of our own.

use std::fmt;

use rmcp::model::{
    CallToolRequestParams, ClientConfig, ClientRequest, CustomRequest, Implementation, ServerResult,
};
use rmcp::service::{ClientInitializeError, RunningService, ServiceError};
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::{RoleClient, ServiceExt as _};
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::answer::ToolAnswer;
use crate::limits::MAX_RESULT_LINE;
use crate::status::{METHOD, ServerStatus};

/// Why there is no answer from a server.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// It did not begin as a server does.
    #[error("what listens there does not speak as a server does: {0}")]
    Greeting(String),
    /// It went away.
    #[error("the server has gone while it was asked")]
    Gone,
    /// It does not know what was asked.
    #[error("the server refused: {0}; it may be of another version")]
    Refused(String),
}

/// A connection to a server.
pub struct ToolClient {
    running: RunningService<RoleClient, ClientConfig>,
}

impl ToolClient {
    /// Greets the server.
    ///
    /// # Errors
    /// [`ClientError::Greeting`], [`ClientError::Gone`].
    pub async fn connect<R, W>(reader: R, writer: W) -> Result<Self, ClientError>
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let name = Implementation::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"));
        let info = ClientConfig::new(Default::default(), name);
        let transport = AsyncRwTransport::new(reader, writer).with_max_line_length(MAX_RESULT_LINE);
        let running = info.serve(transport).await.map_err(no_greeting)?;
        Ok(Self { running })
    }

    /// Calls a tool. Dropping the future gives the call up.
    ///
    /// # Errors
    /// When there is no answer. That the tool refused or failed is an answer.
    pub async fn call(&self, tool: &str, arguments: Map<String, Value>) -> Result<ToolAnswer, ClientError> {
        let request = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let result = self.running.call_tool(request).await.map_err(no_answer)?;
        let Some(Value::Object(content)) = result.structured_content else {
            return Err(ClientError::Refused("its result has no structured content".to_owned()));
        };
        // The content comes first as text too.
        let note = result.content.get(1).and_then(|block| Some(block.as_text()?.text.clone()));
        Ok(ToolAnswer { content, note })
    }

    /// Asks what the server is doing.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn status(&self) -> Result<ServerStatus, ClientError> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(METHOD, None));
        let ServerResult::CustomResult(result) =
            self.running.send_request(request).await.map_err(no_answer)?
        else {
            return Err(ClientError::Refused("it does not tell its status".to_owned()));
        };
        serde_json::from_value(result.0).map_err(|error| ClientError::Refused(error.to_string()))
    }
}

fn no_greeting(error: ClientInitializeError) -> ClientError {
    match error {
        ClientInitializeError::ConnectionClosed(_) => ClientError::Gone,
        other => ClientError::Greeting(other.to_string()),
    }
}

fn no_answer(error: ServiceError) -> ClientError {
    match error {
        ServiceError::McpError(error) => ClientError::Refused(error.message.into_owned()),
        ServiceError::TransportClosed | ServiceError::TransportSend(_) | ServiceError::Cancelled { .. } => {
            ClientError::Gone
        }
        other => ClientError::Refused(other.to_string()),
    }
}

impl fmt::Debug for ToolClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolClient").finish_non_exhaustive()
    }
}
