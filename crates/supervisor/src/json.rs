//! JSON text that is shared, not copied.

use std::fmt;
use std::ops::Range;

use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use supervisor_core::{Body, Code, Failure};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::limits::COPY_BELOW;

/// A JSON text as the browser wrote it: a part of its message, counted by reference. Cloning costs nothing.
///
/// Lone surrogates, which browsers send and strict parsers reject, are U+FFFD here.
#[derive(Clone)]
pub struct Json {
    message: Utf8Bytes,
    range: Range<usize>,
}

impl Json {
    /// The text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.message.as_str().get(self.range.clone()).unwrap_or("null")
    }

    /// The value.
    ///
    /// # Errors
    /// `invalid_argument` when the text is not what the type expects.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(self.get()).map_err(|error| {
            Failure::new(
                Code::InvalidArgument,
                format!("The browser's answer is not of the expected type: {error}"),
            )
        })
    }

    /// The part of `message` that the core named, or the text that it made.
    pub(crate) fn of(body: Body, message: Option<&Utf8Bytes>) -> Self {
        match (body, message) {
            (Body::Slice(range), Some(message)) => Self { message: message.clone(), range },
            (Body::Text(text), _) => Self::from(text),
            // The core slices the message that it is handling; without one there is nothing to slice.
            (Body::Slice(_), None) => Self::from("null".to_owned()),
        }
    }

    /// Readable by any parser. Costs a look at every byte, so it is done where the caller waits.
    pub(crate) fn repaired(self) -> Self {
        match cdp_wire::repair_lone_surrogates(self.get()) {
            std::borrow::Cow::Borrowed(_) => self,
            std::borrow::Cow::Owned(text) => Self::from(text),
        }
    }

    /// The same text, in a buffer of its own unless most of the shared one is this text.
    pub(crate) fn detached(self) -> Self {
        let length = self.range.len();
        if length >= COPY_BELOW && length >= self.message.as_str().len() / 2 {
            return self;
        }
        Self::from(self.get().to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self { range: 0..text.len(), message: Utf8Bytes::from(text) }
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Json({})", self.get())
    }
}

impl PartialEq for Json {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Serialize for Json {
    /// As it stands, not as a string.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(self.get()).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slice(message: &Utf8Bytes, range: Range<usize>) -> Json {
        Json::of(Body::Slice(range), Some(message))
    }

    #[test]
    fn a_slice_shares_its_message() {
        let message = Utf8Bytes::from_static(r#"{"id":1,"result":{"a":[1]}}"#);
        let json = slice(&message, 17..26);
        assert_eq!(json.get(), r#"{"a":[1]}"#);
        assert_eq!(json.get().as_ptr(), message.as_str()[17..].as_ptr());
        assert_eq!(json.parse::<serde_json::Value>().unwrap()["a"][0], 1);
        assert_eq!(serde_json::to_string(&json).unwrap(), r#"{"a":[1]}"#);
    }

    #[test]
    fn what_is_kept_does_not_hold_a_large_buffer() {
        let message = Utf8Bytes::from("x".repeat(4 * COPY_BELOW));
        let small = slice(&message, 0..10).detached();
        assert_ne!(small.get().as_ptr(), message.as_str().as_ptr());
        let large = slice(&message, 0..3 * COPY_BELOW).detached();
        assert_eq!(large.get().as_ptr(), message.as_str().as_ptr());
    }

    #[test]
    fn lone_surrogates_are_repaired() {
        let json = Json::from(r#""a\ud800b""#.to_owned());
        assert!(json.parse::<String>().is_err());
        assert_eq!(json.repaired().parse::<String>().unwrap(), "a\u{FFFD}b");
    }

    #[test]
    fn a_range_outside_the_message_is_null() {
        assert_eq!(slice(&Utf8Bytes::from_static("é"), 1..2).get(), "null");
    }
}
