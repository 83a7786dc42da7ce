use serde::Deserialize;
use serde_json::value::RawValue;

use crate::known::Known;
use crate::{CommandId, Text, WireError};

/// One message of the browser, its body still text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Message<'a> {
    /// Something happened.
    Event(Event<'a>),
    /// A command was answered.
    Reply(Reply<'a>),
}

/// An event, of the browser (`session` is `None`) or of an attached target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// `Domain.event`.
    pub method: Text<'a>,
    /// The flat session that it belongs to.
    pub session: Option<Text<'a>>,
    /// The JSON text of the parameters (`{}` when there are none).
    pub params: &'a str,
}

impl<'a> Event<'a> {
    /// Parses the parameters when the event is one that this crate models; `None` when it is not.
    ///
    /// # Errors
    /// [`WireError::Body`] when a modelled event does not have the protocol's shape.
    pub fn known(&self) -> Result<Option<Known<'a>>, WireError> {
        Known::decode(&self.method, self.params)
    }
}

/// The answer to a command. Match it by `id` alone: a reply about a dead session carries no `session`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply<'a> {
    /// The command's id.
    pub id: CommandId,
    /// The session of the command, where the browser says it.
    pub session: Option<Text<'a>>,
    /// The JSON text of the result, or the browser's error.
    pub outcome: Result<&'a str, ReplyError<'a>>,
}

/// The error in a reply (JSON-RPC's shape).
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ReplyError<'a> {
    /// A JSON-RPC code, such as -32601 (method not found) or -32001 (no such session).
    pub code: i64,
    /// What the browser says.
    #[serde(borrow, default)]
    pub message: Text<'a>,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    #[serde(borrow)]
    error: Option<ReplyError<'a>>,
}

/// Reads the envelope of one message.
///
/// # Errors
/// [`WireError::Envelope`], [`WireError::Neither`] or [`WireError::NoOutcome`], saying what was expected and found.
pub fn decode(text: &str) -> Result<Message<'_>, WireError> {
    let envelope: Envelope<'_> =
        serde_json::from_str(text).map_err(|error| WireError::Envelope { reason: error.to_string() })?;
    match (envelope.id, envelope.method) {
        (Some(id), _) => {
            let outcome = match (envelope.error, envelope.result) {
                (Some(error), _) => Err(error),
                (None, Some(result)) => Ok(result.get()),
                (None, None) => return Err(WireError::NoOutcome { id }),
            };
            Ok(Message::Reply(Reply { id: CommandId(id), session: envelope.session, outcome }))
        }
        (None, Some(method)) => {
            let params = envelope.params.map_or("{}", RawValue::get);
            Ok(Message::Event(Event { method, session: envelope.session, params }))
        }
        (None, None) => Err(WireError::Neither),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_keeps_its_parameters_as_text() {
        let Message::Event(event) =
            decode(r#"{"method":"Page.loadEventFired","params":{"timestamp":1.5},"sessionId":"S1"}"#)
                .unwrap()
        else {
            panic!("an event")
        };
        assert_eq!(event.method.as_str(), "Page.loadEventFired");
        assert_eq!(event.session.unwrap().as_str(), "S1");
        assert_eq!(event.params, r#"{"timestamp":1.5}"#);
    }

    #[test]
    fn an_error_reply_without_a_session_is_matched_by_id() {
        let text = r#"{"id":7,"error":{"code":-32001,"message":"Session with given id not found."}}"#;
        let Message::Reply(reply) = decode(text).unwrap() else { panic!("a reply") };
        assert_eq!((reply.id, reply.session), (CommandId(7), None));
        assert_eq!(reply.outcome.unwrap_err().code, -32001);
    }

    #[test]
    fn a_lone_surrogate_does_not_lose_the_message() {
        let text = r#"{"id":1,"result":{"result":{"type":"string","value":"\ud800"}}}"#;
        assert!(matches!(decode(text), Ok(Message::Reply(Reply { outcome: Ok(_), .. }))));
        let text =
            r#"{"method":"Runtime.consoleAPICalled","params":{"args":[{"type":"string","value":"\udc00"}]}}"#;
        assert!(matches!(decode(text), Ok(Message::Event(_))));
    }

    #[test]
    fn what_is_not_a_message_says_so() {
        assert_eq!(decode("{}"), Err(WireError::Neither));
        assert_eq!(decode(r#"{"id":3}"#), Err(WireError::NoOutcome { id: 3 }));
        for text in
            ["", "[]", "null", "{\"id\":-1}", "{\"id\":\"x\"}", "{\"method\":1}", "{\"id\":1,\"id\":1}"]
        {
            assert!(matches!(decode(text), Err(WireError::Envelope { .. })), "{text}");
        }
    }
}
