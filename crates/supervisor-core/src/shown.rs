//! Texts of a page, bounded. They are the page's, and untrusted.

use serde::{Deserialize, Serialize};

use crate::limits::MAX_SHOWN_TEXT;

/// A page's text as it is shown: cut at [`MAX_SHOWN_TEXT`] bytes, at a character boundary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Shown {
    /// The text, or its beginning.
    pub text: String,
    /// The whole length in bytes, when it was cut.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_length: Option<usize>,
}

impl Shown {
    /// Cuts the text if it is too long.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let cut = cut(text, MAX_SHOWN_TEXT);
        Self { text: cut.to_owned(), full_length: (cut.len() < text.len()).then_some(text.len()) }
    }
}

/// The longest beginning of `text` that has at most `bytes` bytes and ends at a character boundary.
#[must_use]
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// The URL of the document, wherever in it the reader is.
pub(crate) fn without_fragment(url: &str) -> &str {
    url.split_once('#').map_or(url, |(document, _)| document)
}

/// A URL as it is shown. Before a frame's first commit there is none; older browsers (seen up to Chrome 138)
/// write `:` then.
pub(crate) fn url(told: &str) -> &str {
    if told == ":" { "" } else { cut(told, MAX_SHOWN_TEXT) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_at_a_character_and_says_so() {
        let at_the_limit = "x".repeat(MAX_SHOWN_TEXT);
        assert_eq!(Shown::new(&at_the_limit), Shown { text: at_the_limit.clone(), full_length: None });
        let beyond = format!("{}é", "x".repeat(MAX_SHOWN_TEXT - 1));
        assert_eq!(Shown::new(&beyond).full_length, Some(MAX_SHOWN_TEXT + 1));
        assert_eq!(Shown::new(&beyond).text.len(), MAX_SHOWN_TEXT - 1);
    }
}
