//! The texts of messages.

use serde_json::Value;

use crate::ids::SessionNo;
use crate::shape;

/// An event on a session, or on the root.
pub(crate) fn event(session: Option<SessionNo>, method: &str, params: Value) -> String {
    shape::event(session, method, params).to_string()
}

/// A command's result.
pub(crate) fn result(id: u64, session: Option<SessionNo>, result: Value) -> String {
    shape::result(id, session, result).to_string()
}

/// A command's error.
pub(crate) fn error(id: u64, session: Option<SessionNo>, code: i64, message: &str) -> String {
    shape::error(id, session, code, message).to_string()
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
