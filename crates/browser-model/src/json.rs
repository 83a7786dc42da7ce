//! The texts of messages, in the shapes that Chromium writes.

use serde_json::{Value, json};

use crate::ids::SessionNo;

/// An event on a session, or on the root.
pub(crate) fn event(session: Option<SessionNo>, method: &str, params: Value) -> String {
    with_session(json!({ "method": method, "params": params }), session)
}

/// A command's result.
pub(crate) fn result(id: u64, session: Option<SessionNo>, result: Value) -> String {
    with_session(json!({ "id": id, "result": result }), session)
}

/// A command's error.
pub(crate) fn error(id: u64, session: Option<SessionNo>, code: i64, message: &str) -> String {
    with_session(json!({ "id": id, "error": { "code": code, "message": message } }), session)
}

fn with_session(mut message: Value, session: Option<SessionNo>) -> String {
    if let Some(session) = session {
        put(&mut message, "sessionId", session);
    }
    message.to_string()
}

/// Adds a field to an object.
pub(crate) fn put(object: &mut Value, name: &str, value: impl Into<Value>) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name.to_owned(), value.into());
    }
}

/// Adds a field to an object when there is something to add.
pub(crate) fn put_some<V: Into<Value>>(object: &mut Value, name: &str, value: Option<V>) {
    if let Some(value) = value {
        put(object, name, value);
    }
}
