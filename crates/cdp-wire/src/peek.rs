//! A first look at a message without parsing it.
//!
//! Chromium writes an event's `method` first, and the `type` of a console call first in its parameters. On a busy page
//! nearly all messages are events nobody models or console calls nobody keeps; this look lets them be counted and
//! dropped. Any other shape gives `None`, and the caller parses as usual.

/// The method of an event, when the text starts with it as Chromium writes it.
#[must_use]
pub fn method(text: &str) -> Option<&str> {
    quoted(text.strip_prefix("{\"method\":\"")?)
}

/// The `type` of a `Runtime.consoleAPICalled` event, when it stands where Chromium writes it.
#[must_use]
pub fn console_type(text: &str) -> Option<&str> {
    quoted(text.strip_prefix("{\"method\":\"Runtime.consoleAPICalled\",\"params\":{\"type\":\"")?)
}

/// The text up to the next quote, if it is a plain word: an escape would make it mean something else.
fn quoted(text: &str) -> Option<&str> {
    let end =
        text.bytes().take(LONGEST_WORD).position(|byte| !(byte.is_ascii_alphanumeric() || byte == b'.'))?;
    (text.as_bytes()[end] == b'"').then(|| &text[..end])
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
    }
}
