//! Redacting events, as they are written in JSON.

use serde_json::Value;
use supervisor_core::Recorded;

use super::Cipher;

/// The event with the texts of its page replaced, as JSON.
pub(crate) fn event(cipher: &Cipher, recorded: &Recorded) -> Value {
    let mut value = serde_json::to_value(recorded).unwrap_or_default();
    walk(cipher, &mut value);
    value
}

pub(super) fn walk(cipher: &Cipher, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| field(cipher, name, value)),
        Value::Array(values) => values.iter_mut().for_each(|value| walk(cipher, value)),
        _ => {}
    }
}

/// Events are our own: the fields that hold a page's texts are known.
fn field(cipher: &Cipher, name: &str, value: &mut Value) {
    match (name, value) {
        ("title" | "name" | "text" | "default_prompt" | "user_input", Value::String(text)) => {
            *text = cipher.text(text);
        }
        ("url", Value::String(url)) => *url = cipher.url(url),
        (_, value) => walk(cipher, value),
    }
}
