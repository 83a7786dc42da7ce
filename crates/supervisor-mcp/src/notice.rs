//! What a client is told without having asked, as messages of its log.

use serde_json::{Value, json};
use supervisor::{DialogView, TaskId};

/// A message.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Notice {
    pub(crate) level: Level,
    /// An object with `event` and `task_id`.
    pub(crate) data: Value,
}

impl Notice {
    pub(crate) fn dialog_opened(task_id: &TaskId, dialog: &DialogView) -> Self {
        Self::new(
            Level::Warning,
            json!({"event": "dialog_opened", "task_id": task_id.as_str(), "dialog": dialog}),
        )
    }

    pub(crate) fn dialog_closed(task_id: &TaskId, dialog: &DialogView) -> Self {
        Self::new(
            Level::Info,
            json!({"event": "dialog_closed", "task_id": task_id.as_str(), "dialog": dialog}),
        )
    }

    pub(crate) fn connected(task_id: &TaskId) -> Self {
        Self::new(Level::Info, json!({"event": "connected", "task_id": task_id.as_str()}))
    }

    pub(crate) fn connection_lost(task_id: &TaskId, reason: &str) -> Self {
        let data = json!({"event": "connection_lost", "task_id": task_id.as_str(), "reason": reason});
        Self::new(Level::Warning, data)
    }

    pub(crate) fn failed(task_id: &TaskId, reason: &str) -> Self {
        let data = json!({"event": "failed", "task_id": task_id.as_str(), "reason": reason});
        Self::new(Level::Error, data)
    }

    /// Some messages were left out, because whoever reads them is slow.
    pub(crate) fn missed(count: u64) -> Self {
        let next = "read browser_snapshot for what is true now";
        Self::new(Level::Warning, json!({"event": "missed", "count": count, "next": next}))
    }

    fn new(level: Level, data: Value) -> Self {
        Self { level, data }
    }
}

/// How important a message is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warning,
    Error,
}
