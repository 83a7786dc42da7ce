//! Our part of a host's own snapshot.

use serde_json::{Map, Value};
use supervisor_core::{Snapshot, Status};

use crate::task_handle::Task;

/// The fields that are ours by contract; what is beside them leaves alone what a host has under the same name.
const OURS: [&str; 3] = ["pending_dialogs", "recent_dialogs", "frame_tree"];

/// Adds what is known of a task's browser to the JSON object that a host gives its agent: `pending_dialogs`,
/// `recent_dialogs`, `frame_tree`, and beside them `status`, `stale`, `pages`, `counts` and so on. Never waits.
///
/// Adds nothing when there is no task or its browser is gone for good: an agent without dialogs to answer needs no fields
/// about them. While a lost connection is made again, what was last known is added, with `stale: true`. Of the fields beside
/// the first three, one that the host has already stays the host's.
///
/// ```no_run
/// # async fn example(supervisor: supervisor::Supervisor) {
/// let mut snapshot = serde_json::json!({"url": "https://example.com/", "tree": "- button \"Delete\""});
/// if let Some(fields) = snapshot.as_object_mut() {
///     supervisor::merge_into(fields, supervisor.get("shopping").await.as_ref());
/// }
/// // {"url": …, "tree": …, "pending_dialogs": [{"id": "d-1", "type": "confirm", …}], "recent_dialogs": [], …}
/// # }
/// ```
pub fn merge_into(snapshot_json: &mut Map<String, Value>, task: Option<&Task>) {
    if let Some(task) = task {
        add(snapshot_json, &task.snapshot());
    }
}

fn add(host: &mut Map<String, Value>, snapshot: &Snapshot) {
    if !matches!(snapshot.status.status, Status::Connected | Status::Reconnecting) {
        return;
    }
    // A snapshot is an object of plain values: it can always be written.
    let Ok(Value::Object(fields)) = serde_json::to_value(snapshot) else { return };
    for (name, value) in fields {
        if OURS.contains(&name.as_str()) || !host.contains_key(&name) {
            host.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;
    use supervisor_core::snapshot::{Counts, GuardView, StatusView};

    use super::*;

    fn merged(status: Status, host: Value) -> Value {
        let status = StatusView {
            status,
            stale: status != Status::Connected,
            attempt: None,
            last_error: None,
            reason: None,
            browser: Some("Chrome/156".into()),
            guard: GuardView::default(),
        };
        let snapshot = Snapshot {
            pending_dialogs: Arc::default(),
            recent_dialogs: Arc::default(),
            frame_tree: Arc::default(),
            status: Arc::new(status),
            pages: Arc::default(),
            counts: Counts::default(),
            version: 7,
        };
        let Value::Object(mut host) = host else { panic!("an object") };
        add(&mut host, &snapshot);
        Value::Object(host)
    }

    #[test]
    fn the_fields_stand_beside_the_hosts_own() {
        let merged = merged(Status::Connected, json!({"url": "u", "pending_dialogs": "old"}));
        assert_eq!((&merged["url"], &merged["pending_dialogs"]), (&json!("u"), &json!([])));
        assert_eq!(merged["frame_tree"], json!({"top": null, "children": [], "truncated": false}));
        assert_eq!((&merged["status"], &merged["stale"]), (&json!("connected"), &json!(false)));
        assert!(merged["counts"].is_object() && merged["pages"].is_array() && merged["version"] == 7);
    }

    #[test]
    fn a_field_that_the_host_has_stays_the_hosts() {
        let merged = merged(Status::Connected, json!({"status": 200, "pages": "all"}));
        assert_eq!((&merged["status"], &merged["pages"]), (&json!(200), &json!("all")));
    }

    #[test]
    fn while_reconnecting_what_is_there_is_stale() {
        assert_eq!(merged(Status::Reconnecting, json!({}))["stale"], true);
    }

    #[test]
    fn without_a_browser_nothing_is_added() {
        for status in [Status::NotConnected, Status::Connecting, Status::Failed, Status::Stopped] {
            assert_eq!(merged(status, json!({"url": "u"})), json!({"url": "u"}), "{status:?}");
        }
        let mut host = Map::new();
        merge_into(&mut host, None);
        assert!(host.is_empty());
    }
}
