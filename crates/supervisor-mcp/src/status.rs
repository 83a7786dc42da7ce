//! What a server is doing, for whoever asks over its own protocol.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::{Status, Task};

/// The method of the request. It is not one of MCP's: those leave room for others, with a name of their own before a slash.
pub(crate) const METHOD: &str = "cdp-supervisor/status";

/// What a server is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ServerStatus {
    /// Its version.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// For how many seconds it has run.
    pub uptime_s: f64,
    /// Clients that are connected to it, whoever asks included.
    pub clients: usize,
    /// Its tasks, in the order of their names.
    pub tasks: Vec<TaskStatus>,
}

/// What a task is doing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TaskStatus {
    /// Its name.
    pub task_id: String,
    /// Where its browser is, without secrets.
    pub endpoint: String,
    /// The state of its connection.
    pub status: Status,
    /// Why it failed, or what went wrong last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The browser's name and version, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// How many pages it has.
    pub pages: usize,
    /// How many dialogs wait for an answer.
    pub pending_dialogs: usize,
}

impl From<&Task> for TaskStatus {
    fn from(task: &Task) -> Self {
        let snapshot = task.snapshot();
        let status = &snapshot.status;
        Self {
            task_id: task.task_id().to_string(),
            endpoint: task.endpoint().to_string(),
            status: status.status,
            reason: status.reason.clone().or_else(|| status.last_error.clone()),
            browser: status.browser.clone(),
            pages: snapshot.pages.len(),
            pending_dialogs: snapshot.pending_dialogs.len(),
        }
    }
}
