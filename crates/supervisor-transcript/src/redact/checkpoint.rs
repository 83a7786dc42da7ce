//! Redacting what a machine knows, as it is written in JSON.

use serde_json::Value;

use super::{Cipher, event, json};

/// The checkpoint with the texts of pages replaced. What is no checkpoint is a text.
pub(super) fn checkpoint(cipher: &Cipher, text: &str) -> String {
    let Ok(mut checkpoint) = serde_json::from_str::<Value>(text) else { return cipher.text(text) };
    event::walk(cipher, &mut checkpoint);
    let patterns = checkpoint.pointer_mut("/desk/host_fetch").and_then(Value::as_array_mut);
    patterns.into_iter().flatten().for_each(|pair| host_fetch(cipher, pair));
    checkpoint.to_string()
}

/// What a host asked to have stopped is kept as it wrote it, in a pair with its session.
fn host_fetch(cipher: &Cipher, pair: &mut Value) {
    if let Some(Value::String(params)) = pair.get_mut(1) {
        *params = json::message(cipher, params).unwrap_or_else(|| cipher.text(params));
    }
}
