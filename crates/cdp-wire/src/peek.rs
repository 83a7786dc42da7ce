//! A first look at a message without parsing it.
//!
//! Chromium writes an event's `method` first, and the `type` of a console call first in its parameters. On a busy page
//! nearly all messages are events nobody models or console calls nobody keeps; this look lets them be counted and
//! dropped. Other programs may put a space after each colon and comma, as Python does. Any other shape gives `None`, and the
//! caller parses as usual.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::{Event, Text};

use memchr::memmem::Finder;

/// The method of an event, when the text starts with it as Chromium writes it.
#[must_use]
pub fn method(text: &str) -> Option<&str> {
    quoted(after_method(text)?)
}

/// The `type` of a `Runtime.consoleAPICalled` event, when it stands where Chromium writes it.
#[must_use]
pub fn console_type(text: &str) -> Option<&str> {
    let params = after_params(after_method(text)?.strip_prefix("Runtime.consoleAPICalled")?)?;
    quoted(unspaced(params.strip_prefix("{\"type\":")?).strip_prefix('"')?)
}

/// The same where it stands elsewhere: a look at each of the parameters, which takes in none of them.
#[must_use]
pub fn console_type_anywhere<'a>(event: &Event<'a>) -> Option<Text<'a>> {
    #[derive(Deserialize)]
    struct Typed<'a> {
        #[serde(borrow, rename = "type")]
        kind: Text<'a>,
    }
    serde_json::from_str::<Typed<'_>>(event.params).ok().map(|typed| typed.kind)
}

/// An event whose parts stand where Chromium writes them: the method, the parameters, and last the session, if it has one.
///
/// The text between is taken for the parameters and not looked at. Once it was read as one whole JSON value
/// ([`Event::known`] does), the message is what it seemed to be: there is no other way to read it. Where it cannot be read
/// so, only [`decode`](crate::decode) tells what the message is.
#[must_use]
pub fn event(text: &str) -> Option<Event<'_>> {
    event_of(text, method(text)?)
}

/// The same of a text that starts with this [`method`].
#[must_use]
pub fn event_of<'a>(text: &'a str, method: &'a str) -> Option<Event<'a>> {
    let rest = after_method(text)?.strip_prefix(method)?;
    let rest = after_params(rest)?.strip_suffix('}')?;
    let (params, session) = match before_session(rest) {
        Some((params, session)) => (params, Some(session.into())),
        None => (rest, None),
    };
    Some(Event { method: method.into(), session, params })
}

fn after_method(text: &str) -> Option<&str> {
    unspaced(text.strip_prefix("{\"method\":")?).strip_prefix('"')
}

/// What follows where the parameters begin, after the method.
fn after_params(text: &str) -> Option<&str> {
    Some(unspaced(unspaced(text.strip_prefix("\",")?).strip_prefix("\"params\":")?))
}

/// What comes before the session, and the session, where a message has both.
fn before_session(text: &str) -> Option<(&str, &str)> {
    let (before, session) = last_quoted(text.strip_suffix('"')?)?;
    let before = before.strip_suffix(' ').unwrap_or(before).strip_suffix("\"sessionId\":")?;
    let before = before.strip_suffix(' ').unwrap_or(before).strip_suffix(',')?;
    is_word(session.as_bytes()).then_some((before, session))
}

/// What comes before the last quote, and what follows it, if that is short.
fn last_quoted(text: &str) -> Option<(&str, &str)> {
    let tail = text.as_bytes().get(text.len().saturating_sub(LONGEST_WORD + 1)..)?;
    let quote = text.len() - tail.len() + memchr::memrchr(b'"', tail)?;
    Some((text.get(..quote)?, text.get(quote + 1..)?))
}

fn unspaced(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
}

/// The session of a message, when its id stands last as Chromium writes it.
#[must_use]
pub fn session(text: &str) -> Option<&str> {
    let (before, id) = last_quoted(text.strip_suffix("\"}")?)?;
    let is_last = before.ends_with("},\"sessionId\":");
    (is_last && id.bytes().all(|byte| byte.is_ascii_alphanumeric())).then_some(id)
}

/// Whether a message has the handle of an object in it. Inside of a string its quotes would be escaped.
#[must_use]
pub fn has_object(text: &str) -> bool {
    /// Made once: to make it costs more than most messages are long.
    static OBJECT: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("\"objectId\":\""));
    OBJECT.find(text.as_bytes()).is_some()
}

/// The text up to the next quote, if it is a plain word: an escape would make it mean something else.
fn quoted(text: &str) -> Option<&str> {
    let bytes = &text.as_bytes()[..text.len().min(LONGEST_WORD)];
    let end = memchr::memchr(b'"', bytes)?;
    is_word(&bytes[..end]).then(|| &text[..end])
}

/// Looks at all of them, many at once: that is less than to stop at the first that is none.
fn is_word(bytes: &[u8]) -> bool {
    bytes.iter().fold(true, |is_plain_yet, byte| is_plain_yet & is_plain(*byte))
}

/// Without a branch, so that many are looked at together.
fn is_plain(byte: u8) -> bool {
    let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
    let is_digit = byte.wrapping_sub(b'0') < 10;
    is_letter | is_digit | (byte == b'.')
}

/// Longer than any method of the protocol (the longest has 62 characters); bounds the look.
const LONGEST_WORD: usize = 96;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chromiums_order_is_seen_and_any_other_is_left_to_the_parser() {
        assert_eq!(method(r#"{"method":"Page.frameAttached","params":{}}"#), Some("Page.frameAttached"));
        assert_eq!(method(r#"{"params":{},"method":"Page.frameAttached"}"#), None);
        assert_eq!(method(r#"{"method":"Page.\u0066rameAttached"}"#), None);
        assert_eq!(method(r#"{"method":"Page.frameAttac"#), None);
        let console = r#"{"method":"Runtime.consoleAPICalled","params":{"type":"log","args":[]}}"#;
        assert_eq!(console_type(console), Some("log"));
        let spaced = r#"{"method": "Runtime.consoleAPICalled", "params": {"type": "log", "args": []}}"#;
        assert_eq!((method(spaced), console_type(spaced)), (Some("Runtime.consoleAPICalled"), Some("log")));
        let last =
            r#"{"method":"Runtime.consoleAPICalled","params":{"args":[{"type":"string"}],"type":"log"}}"#;
        assert_eq!(console_type(last), None);
        assert_eq!(console_type_anywhere(&event(last).unwrap()).unwrap().as_str(), "log");
    }

    fn read(text: &str) -> Option<Event<'_>> {
        event(text).filter(|event| serde_json::from_str::<serde::de::IgnoredAny>(event.params).is_ok())
    }

    /// Whatever is read at first sight is what the parser reads.
    #[test]
    fn at_first_sight_an_event_is_what_the_parser_reads() {
        let seen = [
            r#"{"method":"A.b","params":{}}"#,
            r#"{"method":"A.b","params":{"x":",\"sessionId\":\"T"},"sessionId":"S"}"#,
            r#"{"method":"A.b","params":{"x":{"y":1,"sessionId":"S"}}}"#,
            r#"{"method":"A.b","params":{"x":1,"sessionId":"S"},"sessionId":"T.1"}"#,
            r#"{"method":"A.b","params":{"x":"\""}}"#,
            r#"{"method": "A.b", "params": {"x": 1}, "sessionId": "S"}"#,
            r#"{"method": "A.b", "params": {"x": 1}}"#,
        ];
        for text in seen {
            assert_eq!(crate::decode(text), Ok(crate::Message::Event(read(text).unwrap())), "{text}");
        }
        let not_seen = [
            r#"{"method":"A.b"}"#,
            r#"{"method":"A.b","params":{},"sessionId":"a b"}"#,
            r#"{"method":"A.b","params":{},"sessionId":"S","more":1}"#,
            r#"{"method":"A.b","params":{},"params":{}}"#,
            r#"{"method":"A.b","params":{"x":{"y":1},"sessionId":"S"}"#,
            r#"{"method":"A.b","params":{},"id":1,"sessionId":"S"}"#,
            r#"{"method":"A.b","params":{}"#,
            r#"{"method":"A.b","params":"#,
            r#"{"method":"A.b","params":}"#,
            r#"{"sessionId":"S","method":"A.b","params":{}}"#,
        ];
        assert!(not_seen.iter().all(|text| read(text).is_none()));
    }

    #[test]
    fn a_session_is_seen_at_the_end_and_nowhere_else() {
        assert_eq!(session(r#"{"method":"A.b","params":{},"sessionId":"S1"}"#), Some("S1"));
        assert_eq!(session(r#"{"method":"A.b","params":{"a":"},\"sessionId\":\"S1"}"#), None);
        assert_eq!(session(r#"{"method":"A.b","params":{"b":{},"sessionId":"S1"}}"#), None);
        assert_eq!(session(r#"{"method":"A.b","params":{}}"#), None);
    }

    #[test]
    fn an_object_is_seen_and_its_name_in_a_string_is_none() {
        assert!(has_object(r#"{"args":[{"type":"object","objectId":"1.2.3"}]}"#));
        assert!(!has_object(r#"{"args":[{"type":"string","value":"\"objectId\":\"1"}]}"#));
    }

    #[test]
    fn a_session_is_looked_for_so_far_from_the_end_and_left_to_the_parser_beyond() {
        let text =
            |length| format!(r#"{{"method":"A.b","params":{{}},"sessionId":"{}"}}"#, "s".repeat(length));
        for (length, is_seen) in [(LONGEST_WORD, true), (LONGEST_WORD + 1, false)] {
            let text = text(length);
            assert_eq!(session(&text).is_some(), is_seen, "{length}");
            assert_eq!(read(&text).is_some(), is_seen, "{length}");
            assert!(crate::decode(&text).is_ok());
        }
    }

    #[test]
    fn a_word_is_looked_at_for_so_long_and_left_to_the_parser_then() {
        let text = |length| format!(r#"{{"method":"{}","params":{{}}}}"#, "a".repeat(length));
        assert_eq!(method(&text(LONGEST_WORD - 1)).map(str::len), Some(LONGEST_WORD - 1));
        assert_eq!(method(&text(LONGEST_WORD)), None);
        assert!(crate::decode(&text(LONGEST_WORD)).is_ok());
    }
}
