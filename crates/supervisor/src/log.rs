//! What the log says of a task: its connection, and what became of its dialogs. Never a text of a page, nor a URL.

use supervisor_core::Event;
use supervisor_core::dialog::ClosedBy;

use crate::ids::TaskId;

/// Logs an event that whoever operates the host wants to know of.
pub(crate) fn event(task: &TaskId, event: &Event) {
    match event {
        Event::Connected { epoch } => tracing::info!(%task, epoch = epoch.0, "connected"),
        Event::ConnectionLost { reason, .. } => tracing::warn!(%task, reason, "the connection was lost"),
        Event::BrowserReplaced => {
            tracing::warn!(%task, "another browser was found than the one that was lost: what was known is forgotten")
        }
        Event::Failed { failure } => tracing::error!(%task, %failure, "the task failed for good"),
        Event::Stopped => tracing::info!(%task, "stopped"),
        Event::DialogOpened { id, dialog, .. } => {
            tracing::info!(%task, %id, kind = ?dialog.kind, "a dialog opened")
        }
        Event::DialogEnded { id, by: ClosedBy::Watchdog, .. } => {
            tracing::warn!(%task, %id, "nobody answered a dialog in time: the watchdog dismissed it");
        }
        Event::DialogEnded { id, by, reason, .. } => {
            tracing::info!(%task, %id, ?by, ?reason, "a dialog closed")
        }
        Event::PageBlocked { target, why, .. } => tracing::warn!(%task, %target, ?why, "a page is blocked"),
        _ => {}
    }
}
