//! Strings as browsers send them: borrowed where they can be, and with lone surrogates survived.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

/// A JSON string borrowed from its message, or owned where it had escapes.
///
/// Chromium writes lone surrogates as raw `\ud800` escapes, which a strict parser rejects together with the whole
/// message. Here each becomes U+FFFD.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'a>(Cow<'a, str>);

impl<'a> Text<'a> {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text, kept borrowed where it is.
    #[must_use]
    pub fn into_cow(self) -> Cow<'a, str> {
        self.0
    }
}

impl Deref for Text<'_> {
    type Target = str;

    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Self(Cow::Borrowed(text))
    }
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Serialize for Text<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Asking for bytes is what makes serde_json accept a lone surrogate (it hands it over as WTF-8).
        deserializer.deserialize_bytes(TextVisitor).map(Text)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Cow::Borrowed(text),
            Err(_) => Cow::Owned(from_wtf8(bytes)),
        })
    }

    fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Ok(Cow::Owned(from_wtf8(bytes)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

/// Decodes WTF-8: each encoded surrogate (ED A0..BF xx) becomes one U+FFFD.
fn from_wtf8(mut bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    while !bytes.is_empty() {
        match std::str::from_utf8(bytes) {
            Ok(rest) => {
                text.push_str(rest);
                break;
            }
            Err(error) => {
                let (good, bad) = bytes.split_at(error.valid_up_to());
                text.push_str(std::str::from_utf8(good).unwrap_or_default());
                text.push(char::REPLACEMENT_CHARACTER);
                let surrogate = matches!(bad, [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..]);
                bytes = &bad[if surrogate { 3 } else { 1 }..];
            }
        }
    }
    text
}

/// Rewrites each lone surrogate escape of a JSON text as `\ufffd`, so that any strict parser can read it.
///
/// Results travel to hosts as the browser wrote them; this is what makes one with a lone surrogate readable there.
/// Borrowed when there is nothing to repair.
#[must_use]
pub fn repair_lone_surrogates(json: &str) -> Cow<'_, str> {
    let bytes = json.as_bytes();
    let mut repaired: Option<Vec<u8>> = None;
    let mut at = 0;
    while let Some(offset) = memchr::memchr(b'\\', &bytes[at..]) {
        let start = at + offset;
        let (length, lone) = escape_at(&bytes[start..]);
        if lone {
            repaired.get_or_insert_with(|| bytes.to_vec())[start..start + 6].copy_from_slice(b"\\ufffd");
        }
        at = start + length;
    }
    match repaired.map(String::from_utf8) {
        Some(Ok(text)) => Cow::Owned(text),
        _ => Cow::Borrowed(json),
    }
}

/// The length of the escape that `bytes` starts with, and whether it is a lone surrogate.
fn escape_at(bytes: &[u8]) -> (usize, bool) {
    match code_unit(bytes) {
        Some(0xD800..=0xDBFF) => match code_unit(&bytes[6..]) {
            Some(0xDC00..=0xDFFF) => (12, false),
            _ => (6, true),
        },
        Some(0xDC00..=0xDFFF) => (6, true),
        Some(_) => (6, false),
        None => (2.min(bytes.len()), false),
    }
}

/// The value of a `\uXXXX` escape at the start of `bytes`.
fn code_unit(bytes: &[u8]) -> Option<u16> {
    let digits = bytes.strip_prefix(b"\\u")?.get(..4)?;
    u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Text<'_> {
        serde_json::from_str(json).unwrap()
    }

    #[test]
    fn a_plain_string_is_borrowed() {
        assert!(matches!(read(r#""plain é""#).0, Cow::Borrowed("plain é")));
    }

    #[test]
    fn lone_surrogates_become_one_replacement_each() {
        assert_eq!(read(r#""a\ud800b""#).as_str(), "a\u{FFFD}b");
        assert_eq!(read(r#""\udc00\ud800""#).as_str(), "\u{FFFD}\u{FFFD}");
        assert_eq!(read(r#""\ud83d\ude00 é""#).as_str(), "😀 é");
    }

    #[test]
    fn repair_touches_lone_surrogates_only() {
        assert_eq!(repair_lone_surrogates(r#""a\ud800b""#), r#""a\ufffdb""#);
        assert_eq!(repair_lone_surrogates(r#""\ud800\ud800\udc00""#), r#""\ufffd\ud800\udc00""#);
        assert!(matches!(repair_lone_surrogates(r#""\\ud800 \ud83d\ude00 \n""#), Cow::Borrowed(_)));
        assert!(matches!(repair_lone_surrogates("\\"), Cow::Borrowed(_)));
    }
}
