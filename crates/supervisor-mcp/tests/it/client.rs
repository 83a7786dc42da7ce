//! A client of the server, in the same process.

#![expect(deprecated, reason = "newer protocols have no log for clients; the clients of today read it")]

use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResult, LoggingMessageNotificationParam, ProgressNotificationParam,
};
use rmcp::service::{NotificationContext, RunningService};
use rmcp::{ClientHandler, RoleClient, ServiceExt as _};
use serde_json::Value;
use supervisor::Supervisor;
use supervisor_mcp::{Defaults, McpServer, ServeError};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Generous: it only ends a test that would hang.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.expect("it took too long")
}

/// What a client is told without having asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Told {
    ToolsChanged,
    Log(Value),
    Progress(f64),
}

pub(crate) struct Ears(UnboundedSender<Told>);

impl ClientHandler for Ears {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(Told::ToolsChanged);
    }

    async fn on_logging_message(
        &self,
        message: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let _ = self.0.send(Told::Log(message.data));
    }

    async fn on_progress(&self, progress: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let _ = self.0.send(Told::Progress(progress.progress));
    }
}

/// A server with one client.
pub(crate) struct Client {
    pub(crate) running: RunningService<RoleClient, Ears>,
    pub(crate) server: McpServer,
    pub(crate) serving: JoinHandle<Result<(), ServeError>>,
    told: UnboundedReceiver<Told>,
}

impl Client {
    pub(crate) async fn new() -> Self {
        Self::with(Defaults::default()).await
    }

    pub(crate) async fn with(defaults: Defaults) -> Self {
        let server = McpServer::new(Supervisor::start(), defaults);
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = tokio::spawn({
            let server = server.clone();
            async move { server.serve_to_the_end(reader, writer).await }
        });
        let (tell, told) = unbounded_channel();
        let running = within(Ears(tell).serve(ours)).await.unwrap();
        Self { running, server, serving, told }
    }

    /// The names of the tools that are there now.
    pub(crate) async fn tools(&self) -> Vec<String> {
        let tools = within(self.running.list_all_tools()).await.unwrap();
        tools.into_iter().map(|tool| tool.name.into_owned()).collect()
    }

    pub(crate) async fn result(&self, tool: &str, arguments: Value) -> CallToolResult {
        within(self.running.call_tool(request(tool, arguments))).await.unwrap()
    }

    /// Calls a tool, and gives its content: it is the same as text.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let result = self.result(tool, arguments).await;
        let content = result.structured_content.unwrap();
        let text = &result.content[0].as_text().unwrap().text;
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), content);
        assert_eq!(result.is_error, Some(content["success"] == false), "{content}");
        content
    }

    /// Calls a tool that shall succeed.
    pub(crate) async fn done(&self, tool: &str, arguments: Value) -> Value {
        let content = self.call(tool, arguments).await;
        assert_eq!(content["success"], true, "{content}");
        content
    }

    /// Calls a tool that shall fail with this code; gives the whole content.
    pub(crate) async fn fails(&self, tool: &str, arguments: Value, code: &str) -> Value {
        let content = self.call(tool, arguments).await;
        assert_eq!(content["error"]["code"], code, "{content}");
        content
    }

    /// The next thing it is told that is as wished; others are skipped.
    pub(crate) async fn told(&mut self, wished: impl Fn(&Told) -> bool) -> Told {
        within(async {
            loop {
                let told = self.told.recv().await.expect("the client lives");
                if wished(&told) {
                    return told;
                }
            }
        })
        .await
    }

    /// What it was told up to now.
    pub(crate) fn told_already(&mut self) -> Vec<Told> {
        std::iter::from_fn(|| self.told.try_recv().ok()).collect()
    }

    /// The next message of the log about this.
    pub(crate) async fn logged(&mut self, event: &str) -> Value {
        match self.told(|told| matches!(told, Told::Log(data) if data["event"] == event)).await {
            Told::Log(data) => data,
            other => panic!("{other:?}"),
        }
    }

    /// Waits until a snapshot is as wished.
    pub(crate) async fn snapshot_where(&self, wished: impl Fn(&Value) -> bool) -> Value {
        within(async {
            loop {
                let snapshot = self.done("browser_snapshot", serde_json::json!({})).await;
                if wished(&snapshot) {
                    return snapshot;
                }
                tokio::task::yield_now().await;
            }
        })
        .await
    }
}

pub(crate) fn request(tool: &str, arguments: Value) -> CallToolRequestParams {
    let Value::Object(arguments) = arguments else { panic!("arguments are an object") };
    CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments)
}
