use serde::{Deserialize, Serialize};

use crate::{CommandId, SessionId};

/// A command of CDP: its parameters are the type itself.
pub trait Command: Serialize {
    /// `Domain.command`.
    const METHOD: &'static str;
}

/// The result of a command that returns nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Empty {}

#[derive(Serialize)]
struct Outgoing<'a, P> {
    id: CommandId,
    method: &'a str,
    params: P,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    session: Option<&'a SessionId>,
}

/// The text of a command, on a flat session or on the connection's root.
#[must_use]
pub fn encode<C: Command>(id: CommandId, session: Option<&SessionId>, command: &C) -> String {
    // Serialising plain structs with string keys into memory has no way to fail.
    serde_json::to_string(&Outgoing { id, method: C::METHOD, params: command, session }).unwrap_or_default()
}

/// The text of a command that a host wrote: `params` is the JSON text of an object, passed on as it is.
#[must_use]
pub fn encode_raw(id: CommandId, session: Option<&SessionId>, method: &str, params: &str) -> String {
    let method = serde_json::to_string(method).unwrap_or_default();
    let mut text = format!("{{\"id\":{id},\"method\":{method},\"params\":{params}");
    if let Some(session) = session {
        let session = serde_json::to_string(session.as_str()).unwrap_or_default();
        text.push_str(&format!(",\"sessionId\":{session}"));
    }
    text.push('}');
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page;

    #[test]
    fn a_command_is_written_with_its_session_last() {
        let command = page::HandleJavaScriptDialog { accept: true, prompt_text: Some("x\"y".into()) };
        assert_eq!(
            encode(CommandId(4), Some(&SessionId::from("S")), &command),
            r#"{"id":4,"method":"Page.handleJavaScriptDialog","params":{"accept":true,"promptText":"x\"y"},"sessionId":"S"}"#
        );
        assert_eq!(
            encode_raw(CommandId(5), None, "Browser.getVersion", "{}"),
            r#"{"id":5,"method":"Browser.getVersion","params":{}}"#
        );
    }
}
