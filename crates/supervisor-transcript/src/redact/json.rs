//! Redacting a message where it stands: every text in it is replaced, except for what is known to be none.
//!
//! The message is not taken apart and written anew, so that its layout, its order and its escapes stay.

use std::borrow::Cow;

use cdp_wire::base64;
use serde_json::value::RawValue;

use super::cipher::{Cipher, Word, is_kept};
use crate::json::string_length;

/// The message with its texts replaced; `None` when it is no JSON.
pub(crate) fn message(cipher: &Cipher, text: &str) -> Option<String> {
    serde_json::from_str::<&RawValue>(text).ok()?;
    let mut walk = Walk { cipher, rest: text, out: String::with_capacity(text.len()), stack: Vec::new() };
    while walk.step().is_some() {}
    Some(walk.out)
}

/// What is done with a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Treat {
    Keep,
    Text,
    Url,
    /// A text that may be JSON itself: what a page posts.
    Posted,
    /// JSON in Base64, perhaps: what a stopped request is fulfilled with.
    Fulfilled,
    /// What a page computed: its texts, its names and its numbers.
    Value,
}

/// By the name of the field. What is not listed is a text.
fn treat(key: &str) -> Treat {
    match key {
        "method"
        | "sessionId"
        | "targetId"
        | "frameId"
        | "id"
        | "parentId"
        | "loaderId"
        | "parentFrameId"
        | "openerId"
        | "openerFrameId"
        | "browserContextId"
        | "uniqueId"
        | "uniqueContextId"
        | "type"
        | "subtype"
        | "kind"
        | "reason"
        | "navigationType"
        | "product"
        | "level"
        | "source"
        | "resourceType"
        | "requestId"
        | "responseErrorReason"
        | "errorReason"
        | "securityOrigin"
        | "origin"
        | "identifier"
        | "policy"
        | "protocolVersion"
        | "status"
        | "code" => Treat::Keep,
        "url" | "urlFragment" | "unreachableUrl" | "documentURL" | "urlPattern" | "href" => Treat::Url,
        "postData" => Treat::Posted,
        "body" => Treat::Fulfilled,
        "value" => Treat::Value,
        _ => Treat::Text,
    }
}

/// An object or an array that the walk is in.
struct Level {
    is_object: bool,
    /// Whether the next string is a name.
    at_name: bool,
    treat: Treat,
    /// How the texts of an array, or of an object that a page made, are treated; none goes by their names.
    inherited: Option<Treat>,
    /// Whether it is the reply's `error`: its message is the browser's, and rules go by it.
    is_error: bool,
}

struct Walk<'a> {
    cipher: &'a Cipher,
    rest: &'a str,
    out: String,
    stack: Vec<Level>,
}

impl<'a> Walk<'a> {
    fn step(&mut self) -> Option<()> {
        let first = self.rest.chars().next()?;
        match first {
            '{' | '[' => self.enter(first == '{'),
            '}' | ']' => self.leave(),
            '"' => self.string(),
            '-' | '0'..='9' => self.number(),
            _ => self.punctuation(first),
        }
        Some(())
    }

    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        self.rest = rest;
        taken
    }

    fn here(&self) -> Treat {
        self.stack.last().map_or(Treat::Text, |level| level.treat)
    }

    fn enter(&mut self, is_object: bool) {
        let treat = self.here();
        let by_name = is_object && treat != Treat::Value;
        let is_error = self.stack.len() == 1 && self.stack.last().is_some_and(|level| level.is_error);
        let inherited = (!by_name).then_some(treat);
        self.stack.push(Level { is_object, at_name: is_object, treat, inherited, is_error });
        let opened = self.take(1);
        self.out.push_str(opened);
    }

    fn leave(&mut self) {
        self.stack.pop();
        let closed = self.take(1);
        self.out.push_str(closed);
    }

    fn punctuation(&mut self, first: char) {
        if let Some(level) = self.stack.last_mut().filter(|level| level.is_object) {
            match first {
                ',' => level.at_name = true,
                ':' => level.at_name = false,
                _ => {}
            }
        }
        let taken = self.take(first.len_utf8());
        self.out.push_str(taken);
    }

    /// Numbers are kept, but for those that a page computed.
    fn number(&mut self) {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
        let length = self.rest.bytes().take_while(|byte| is_part(*byte)).count();
        let number = self.take(length);
        if self.here() != Treat::Value {
            return self.out.push_str(number);
        }
        let mut word = self.cipher.word();
        let keep = |character: char| if character.is_ascii_alphabetic() { Some(character) } else { None };
        self.out.extend(number.chars().map(|character| {
            let becomes = word.next(character);
            keep(character).unwrap_or(becomes)
        }));
    }

    fn string(&mut self) {
        let body = self.take(string_length(self.rest));
        let is_name = self.stack.last().is_some_and(|level| level.at_name);
        let treat = if is_name { self.name(body) } else { self.here() };
        match treat {
            Treat::Keep => self.out.push_str(body),
            Treat::Text if is_kept(body) => self.out.push_str(body),
            Treat::Text | Treat::Value => escaped(&mut self.cipher.word(), body, &mut self.out),
            Treat::Url => self.whole(body, |cipher, text| cipher.url(text)),
            Treat::Posted => self.whole(body, posted),
            Treat::Fulfilled => self.whole(body, fulfilled),
        }
    }

    /// Notes how the value of this name is treated; tells what to do with the name.
    fn name(&mut self, body: &str) -> Treat {
        let depth = self.stack.len();
        let Some(level) = self.stack.last_mut() else { return Treat::Keep };
        if let Some(inherited) = level.inherited {
            level.treat = inherited;
            return Treat::Text;
        }
        let key = body.trim_matches('"');
        let is_message = level.is_error && depth == 2 && key == "message";
        level.treat = if is_message { Treat::Keep } else { treat(key) };
        if depth == 1 {
            level.is_error = key == "error";
        }
        Treat::Keep
    }

    /// Replaces a string whose parts differ.
    fn whole(&mut self, body: &str, replace: impl Fn(&Cipher, &str) -> String) {
        let replaced = serde_json::from_str::<cdp_wire::Text<'_>>(body)
            .ok()
            .and_then(|text| serde_json::to_string(&replace(self.cipher, &text)).ok());
        match replaced {
            Some(replaced) => self.out.push_str(&replaced),
            None => escaped(&mut self.cipher.word(), body, &mut self.out),
        }
    }
}

/// What is posted to a bridge is JSON: what it asks must stay readable, and a token in it what it is.
fn posted(cipher: &Cipher, body: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Asked<'a> {
        #[serde(borrow)]
        token: Option<&'a str>,
        #[serde(alias = "type", rename = "kind")]
        _kind: cdp_wire::page::DialogType,
        #[serde(borrow, rename = "message")]
        _message: Cow<'a, str>,
    }
    match (serde_json::from_str::<Asked<'_>>(body), message(cipher, body)) {
        (Ok(Asked { token: Some(token), .. }), Some(new)) => new.replacen(&cipher.text(token), token, 1),
        (Ok(_), Some(new)) => new,
        _ => cipher.text(body),
    }
}

/// The answer of a bridge is JSON in Base64. Any other body is a text, as Base64 too.
fn fulfilled(cipher: &Cipher, body: &str) -> String {
    let plain = base64::decode(body).and_then(|bytes| String::from_utf8(bytes).ok());
    match plain.as_deref().and_then(|plain| message(cipher, plain)) {
        Some(new) => base64::encode(new.as_bytes()),
        None => cipher.text(body),
    }
}

/// Replaces the characters of a JSON string; what is escaped is written as an escape again.
fn escaped(word: &mut Word<'_>, body: &str, out: &mut String) {
    let mut rest = body;
    while let Some(first) = rest.chars().next() {
        let (length, character) = if first == '\\' { escape(rest) } else { (first.len_utf8(), first) };
        let becomes = if rest.len() == body.len() || rest.len() == 1 { first } else { word.next(character) };
        match &rest[..length] {
            // The quotes around it, and what stays as it is.
            part if becomes == character => out.push_str(part),
            part if part.starts_with('\\') => becomes
                .encode_utf16(&mut [0; 2])
                .iter()
                .for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
            _ => out.push(becomes),
        }
        rest = &rest[length..];
    }
}

/// The length of the escape that a text begins with, and what it stands for; a lone surrogate stands for U+FFFD.
fn escape(text: &str) -> (usize, char) {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let simple = match text.as_bytes().get(1) {
        Some(b'n') => '\n',
        Some(b't') => '\t',
        Some(b'r') => '\r',
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(other) => char::from(*other),
        None => return (text.len(), '\\'),
    };
    let Some(high) = unit(0) else { return (2, simple) };
    let pair = unit(6).and_then(|low| char::decode_utf16([high, low]).next()?.ok());
    match (char::decode_utf16([high]).next(), pair) {
        (Some(Ok(character)), _) => (6, character),
        (_, Some(character)) => (12, character),
        _ => (6, char::REPLACEMENT_CHARACTER),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn redacted(message: &Value) -> Value {
        let cipher = Cipher::of(b"a recording");
        serde_json::from_str(&super::message(&cipher, &message.to_string()).unwrap()).unwrap()
    }

    #[test]
    fn what_the_machine_reads_is_kept_and_what_the_page_says_is_not() {
        let message = json!({"method": "Page.javascriptDialogOpening", "sessionId": "S1", "params": {"frameId": "F1",
            "type": "prompt", "message": "your card number?", "url": "http://a.test/pay?session=1"}});
        let new = redacted(&message);
        for kept in ["/method", "/sessionId", "/params/frameId", "/params/type"] {
            assert_eq!(new.pointer(kept), message.pointer(kept));
        }
        assert_ne!(new["params"]["message"], message["params"]["message"]);
        assert!(new["params"]["url"].as_str().unwrap().starts_with("http://a.test/pay?"));
    }

    #[test]
    fn cookies_headers_and_results_are_replaced() {
        let secret = "s3cretvalue";
        let message = json!({"id": 1, "result": {"cookies": [{"name": secret, "value": secret}],
            "headers": {"Authorization": secret, "Cookie": secret},
            "result": {"type": "object", "value": {"type": secret, secret: 12_345_678, "id": secret}}}});
        let text = redacted(&message).to_string();
        assert!(!text.contains(secret) && !text.contains("12345678"), "{text}");
    }

    #[test]
    fn errors_stay_readable() {
        let message =
            json!({"id": 1, "error": {"code": -32602, "message": "No dialog is showing", "data": "secret"}});
        assert_eq!(redacted(&message)["error"]["message"], "No dialog is showing");
        assert_ne!(redacted(&message)["error"]["data"], "secret");
    }

    #[test]
    fn what_a_bridge_posts_can_still_be_read() {
        let body = json!({"token": "0123456789abcdef", "kind": "confirm", "message": "sure?", "preset": ""})
            .to_string();
        let new = redacted(&json!({"params": {"request": {"postData": body}}}));
        let body: Value =
            serde_json::from_str(new["params"]["request"]["postData"].as_str().unwrap()).unwrap();
        assert_eq!((&body["token"], &body["kind"]), (&json!("0123456789abcdef"), &json!("confirm")));
        assert_ne!(body["message"], "sure?");
    }

    #[test]
    fn the_layout_stays() {
        let text = r#"{ "params":{"message":"a\u00e9\ud83d\ude00\ud800\n\"b"} , "x":[1.50,null] }"#;
        let new = message(&Cipher::of(b"x"), text).unwrap();
        assert_eq!(new.len(), text.len());
        assert!(
            new.starts_with("{ \"params\":{\"message\":\"") && new.ends_with("} , \"x\":[1.50,null] }"),
            "{new}"
        );
        assert!(new.contains("\\ud800\\n\\\""), "{new}");
    }

    proptest! {
        #[test]
        fn an_escaped_text_becomes_what_the_plain_one_does(text in ".*") {
            let cipher = Cipher::of(b"x");
            let units = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            let escaped = message(&cipher, &format!("{{\"message\":\"{units}\"}}")).unwrap();
            let new: Value = serde_json::from_str(&escaped).unwrap();
            prop_assert_eq!(new["message"].as_str().unwrap(), cipher.text(&text));
        }
    }
}
