//! How one text becomes another of the same length.
//!
//! Each letter and digit is moved within its class by a distance that follows from the key and from what stands before it in
//! its word. So two texts become equal only if they were; and a text that is cut becomes the cut of what it would have
//! become, which matters because the core cuts long texts.

use std::hash::{DefaultHasher, Hasher};

/// A path segment of this length that has a digit may be a token; names that people choose are rarely so.
const TOKEN_LENGTH: usize = 16;

/// The domain that leads nowhere: the host of a bridge, whose requests must stay what they are.
const NOWHERE: &str = ".invalid";

/// Complaints of the browser that say why a bridge does not work. They hold no text of the page.
const KEPT: &str = "Synchronous requests are disabled by permissions policy";

/// The attribute of an iframe that says what its page may not, dialogs among it. Its words are those of HTML.
const SANDBOX: &str = "sandbox";

/// Whether it is something that rules go by: a complaint, or what a frame may do.
pub(crate) fn is_kept(text: &str) -> bool {
    let is_policy = text.contains(NOWHERE) && text.contains("Content Security Policy");
    let text = text.trim_matches('"');
    let mut words = text.split_ascii_whitespace().peekable();
    let is_sandbox = text == SANDBOX || words.peek().is_some() && words.all(is_permission);
    is_policy || text.contains(KEPT) || is_sandbox
}

/// `allow-modals` and its like.
fn is_permission(word: &str) -> bool {
    let what = word.strip_prefix("allow-");
    what.is_some_and(|what| what.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-'))
}

/// What replaces the texts of one recording.
#[derive(Debug, Clone)]
pub(crate) struct Cipher {
    keyed: DefaultHasher,
}

impl Cipher {
    pub(crate) fn of(recording: &[u8]) -> Self {
        let mut keyed = DefaultHasher::new();
        for half in [1, 2] {
            let mut hash = DefaultHasher::new();
            hash.write_u8(half);
            hash.write(recording);
            keyed.write_u64(hash.finish());
        }
        Self { keyed }
    }

    /// A text of a page, or one that was typed.
    pub(crate) fn text(&self, text: &str) -> String {
        if is_kept(text) {
            return text.to_owned();
        }
        let mut word = self.word();
        text.chars().map(|character| word.next(character)).collect()
    }

    /// A text that is replaced one character at a time.
    pub(crate) fn word(&self) -> Word<'_> {
        Word { cipher: self, before: self.keyed.clone(), after_digit: false }
    }

    /// A URL: who and where stay readable, what may be a secret does not.
    pub(crate) fn url(&self, url: &str) -> String {
        let (rest, fragment) = split(url, '#');
        let (rest, query) = split(rest, '?');
        let rest = match rest.split_once("://") {
            Some((_, rest)) if authority(rest).ends_with(NOWHERE) => return url.to_owned(),
            Some((scheme, rest)) => format!("{scheme}://{}", self.place(rest)),
            None => self.opaque(rest),
        };
        rest + &self.text(query) + &self.text(fragment)
    }

    /// What stands after the scheme: `user:password@host:port/path`.
    fn place(&self, rest: &str) -> String {
        let authority = authority(rest);
        let (user, host) = authority.rsplit_once('@').map_or(("", authority), |(user, _)| {
            let user = &authority[..=user.len()];
            (user, &authority[user.len()..])
        });
        let path = &rest[authority.len()..];
        let segments: Vec<String> = path.split('/').map(|segment| self.segment(segment)).collect();
        self.text(user) + host + &segments.join("/")
    }

    fn segment(&self, segment: &str) -> String {
        let may_be_token = segment.len() >= TOKEN_LENGTH && segment.bytes().any(|byte| byte.is_ascii_digit());
        if may_be_token { self.text(segment) } else { segment.to_owned() }
    }

    /// `about:blank`, `data:…`, `javascript:…`.
    fn opaque(&self, rest: &str) -> String {
        match rest.split_once(':') {
            Some(("about" | "chrome", _)) | None => rest.to_owned(),
            Some((scheme, body)) => format!("{scheme}:{}", self.text(body)),
        }
    }
}

fn authority(rest: &str) -> &str {
    rest.split('/').next().unwrap_or_default()
}

/// The text before a mark, and from the mark on.
fn split(text: &str, mark: char) -> (&str, &str) {
    text.split_at(text.find(mark).unwrap_or(text.len()))
}

/// A place in a text that is replaced.
pub(crate) struct Word<'c> {
    cipher: &'c Cipher,
    before: DefaultHasher,
    after_digit: bool,
}

impl Word<'_> {
    /// What this character becomes. Words do not depend on each other, because the core joins texts with spaces.
    pub(crate) fn next(&mut self, character: char) -> char {
        let becomes = moved(character, self.before.finish(), self.after_digit);
        self.after_digit = character.is_ascii_digit();
        if character.is_ascii_whitespace() {
            self.before = self.cipher.keyed.clone();
        } else {
            self.before.write_u32(character.into());
        }
        becomes
    }
}

/// Moves a character within its class; each class has one length in UTF-8, and the rest stays.
fn moved(character: char, distance: u64, after_digit: bool) -> char {
    match character {
        'a'..='z' => shifted(character, 'a', 26, distance),
        'A'..='Z' => shifted(character, 'A', 26, distance),
        // A number keeps its zero in front, or it would be none any more.
        '1'..='9' if !after_digit => shifted(character, '1', 9, distance),
        '0'..='9' if after_digit => shifted(character, '0', 10, distance),
        '\u{80}'..='\u{7FF}' => shifted(character, '\u{80}', 0x780, distance),
        '\u{800}'..='\u{D7FF}' => shifted(character, '\u{800}', 0xD000, distance),
        // Not U+FFFD, which stands for what no text can hold.
        '\u{E000}'..='\u{FFFC}' => shifted(character, '\u{E000}', 0x1FFD, distance),
        '\u{10000}'..='\u{10FFFF}' => shifted(character, '\u{10000}', 0x10_0000, distance),
        other => other,
    }
}

fn shifted(character: char, first: char, size: u32, distance: u64) -> char {
    let place = u32::from(character) - u32::from(first);
    let distance = u32::try_from(distance % u64::from(size)).unwrap_or(0);
    char::from_u32(u32::from(first) + (place + distance) % size).unwrap_or(character)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cipher() -> Cipher {
        Cipher::of(b"a recording")
    }

    #[test]
    fn urls_keep_who_and_where() {
        let url = cipher().url("https://me:pass@a.test:8080/order/tok3n0123456789ab/pay?token=s3cret#acc");
        assert!(url.contains("@a.test:8080/order/") && url.contains("/pay?") && url.contains('#'), "{url}");
        for secret in ["me:pass", "tok3n", "token", "s3cret", "acc"] {
            assert!(!url.contains(secret), "{url}");
        }
        for kept in ["about:srcdoc", "http://a.test/path", "", "https://bridge.invalid/abc?d=1", "blob"] {
            assert_eq!(cipher().url(kept), kept);
        }
        assert!(!cipher().url("data:text/html,<p>hello").contains("hello"));
    }

    #[test]
    fn another_recording_has_another_key() {
        assert_ne!(cipher().text("a long enough text"), Cipher::of(b"another").text("a long enough text"));
    }

    proptest! {
        #[test]
        fn lengths_equality_and_cuts_are_kept(a in ".*", b in ".*", cut in any::<prop::sample::Index>()) {
            let (cipher, new) = (cipher(), cipher().text(&a));
            prop_assert_eq!(new.len(), a.len());
            prop_assert_eq!(new == cipher.text(&b), a == b);
            let cut = a.floor_char_boundary(cut.index(a.len() + 1));
            prop_assert_eq!(cipher.text(&a[..cut]), &new[..cut]);
            prop_assert_eq!(cipher.text(&format!("{a} {b}")), format!("{new} {}", cipher.text(&b)));
        }

        #[test]
        fn numbers_stay_numbers(number: i64, decimals in 0_u32..1_000) {
            let text = cipher().text(&format!("{number}.{decimals}"));
            prop_assert!(serde_json::from_str::<serde_json::Number>(&text).is_ok(), "{}", text);
        }
    }

    #[test]
    fn a_segment_with_a_digit_is_a_name_until_it_is_as_long_as_a_token() {
        let url = |length: usize| format!("https://a.test/{}1/b", "x".repeat(length - 1));
        assert_eq!(cipher().url(&url(TOKEN_LENGTH - 1)), url(TOKEN_LENGTH - 1));
        assert_ne!(cipher().url(&url(TOKEN_LENGTH)), url(TOKEN_LENGTH));
    }
}
