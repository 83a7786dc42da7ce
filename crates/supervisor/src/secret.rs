//! What must not be shown.

use std::fmt;

use supervisor_core::{Code, Failure};
use tokio_tungstenite::tungstenite::http::{HeaderMap, HeaderName, HeaderValue};

/// A text that `Debug` does not show.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

impl<T: Into<String>> From<T> for Secret {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// The host's headers, ready to send.
pub(crate) fn headers(given: &[(String, Secret)]) -> Result<HeaderMap, Failure> {
    given.iter().map(|(name, value)| header(name, value)).collect()
}

fn header(name: &str, value: &Secret) -> Result<(HeaderName, HeaderValue), Failure> {
    let wrong =
        |what: &str| Failure::new(Code::InvalidArgument, format!("{what}; give it as HTTP writes it."));
    let parsed = HeaderName::try_from(name).map_err(|_| wrong(&format!("`{name}` is no header name")))?;
    if parsed == "origin" {
        return Err(wrong("browsers refuse a connection with an `Origin` header"));
    }
    let mut value = HeaderValue::try_from(value.reveal())
        .map_err(|_| wrong(&format!("the value of header `{name}` has characters that HTTP forbids")))?;
    value.set_sensitive(true);
    Ok((parsed, value))
}

/// The `Authorization` header for a user and password in a URL (RFC 7617).
pub(crate) fn basic(url: &url::Url) -> Option<HeaderValue> {
    if url.username().is_empty() && url.password().is_none() {
        return None;
    }
    let pair =
        [percent_decoded(url.username()), vec![b':'], percent_decoded(url.password().unwrap_or_default())]
            .concat();
    let mut value = HeaderValue::try_from(format!("Basic {}", base64(&pair))).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match code.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    bytes
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let group =
            chunk.iter().fold(0u32, |group, byte| group << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = ALPHABET[(group >> (18 - 6 * place) & 63) as usize];
            text.push(if place <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret::new("token")), "Secret(…)");
        let map = headers(&[("X-Key".into(), "token".into())]).unwrap();
        assert_eq!(map["x-key"], "token");
        assert!(!format!("{map:?}").contains("token"), "{map:?}");
    }

    #[test]
    fn a_wrong_header_is_named_without_its_value() {
        for (name, value) in [("bad name", "token"), ("X", "tok\nen"), ("Origin", "token")] {
            let failure = headers(&[(name.into(), value.into())]).unwrap_err();
            assert_eq!(failure.code, Code::InvalidArgument);
            assert!(!failure.message.contains("tok"), "{failure}");
        }
    }

    #[test]
    fn a_user_in_the_url_becomes_basic_authorization() {
        let url = |text: &str| url::Url::parse(text).unwrap();
        assert_eq!(
            basic(&url("wss://Aladdin:open%20sesame@h/")).unwrap(),
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
        );
        assert_eq!(basic(&url("wss://a@h/")).unwrap(), "Basic YTo=");
        assert_eq!(basic(&url("wss://h/")), None);
        assert_eq!(["", "f", "fo", "foo"].map(|text| base64(text.as_bytes())), ["", "Zg==", "Zm8=", "Zm9v"]);
    }
}
