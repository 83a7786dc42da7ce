//! A quick reading of parameters that are written as Chromium writes them: without spaces, and with nothing escaped.
//!
//! A page that adds and removes iframes all the time says nothing but a few texts by name; to find them takes a fraction of
//! what any parser takes. Whatever is not written so, or not what the protocol says, gives `None`: then the parser reads it,
//! and says what is wrong with it. Tests with faulty texts, and a fuzz target, hold that both read the same.

mod page;

use memchr::memchr;

pub(crate) use page::known;

/// How deep values may be nested that nobody needs.
const DEEPEST: usize = 8;

/// A message part that can be read at a glance.
pub(crate) trait Plain<'a>: Sized {
    /// What is written at the reader's place, if it is written plainly.
    fn read(reader: &mut Reader<'a>) -> Option<Self>;
}

/// The whole text as one such part.
pub(crate) fn read<'a, T: Plain<'a>>(json: &'a str) -> Option<T> {
    if !is_plain(json.as_bytes()) {
        return None;
    }
    let mut reader = Reader { json, at: 0 };
    T::read(&mut reader).filter(|_| reader.at == json.len())
}

/// Whether nothing is escaped and nothing is there that would have to be. Looks at all of it, many bytes at once.
fn is_plain(json: &[u8]) -> bool {
    json.iter().fold(true, |is_plain_yet, byte| is_plain_yet & (*byte >= b' ') & (*byte != b'\\'))
}

/// A place in a text.
pub(crate) struct Reader<'a> {
    json: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn next(&self) -> Option<u8> {
        self.json.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn takes(&mut self, byte: u8) -> bool {
        self.take(byte).is_some()
    }

    /// A text.
    pub(crate) fn text(&mut self) -> Option<&'a str> {
        self.take(b'"')?;
        let rest = self.json.get(self.at..)?;
        let text = rest.get(..memchr(b'"', rest.as_bytes())?)?;
        self.at += text.len() + 1;
        Some(text)
    }

    /// An object; `field` reads the value of each field in turn.
    pub(crate) fn object(&mut self, mut field: impl FnMut(&mut Self, &'a str) -> Option<()>) -> Option<()> {
        self.take(b'{')?;
        if self.takes(b'}') {
            return Some(());
        }
        loop {
            let name = self.text()?;
            self.take(b':')?;
            field(self, name)?;
            if !self.takes(b',') {
                return self.take(b'}');
            }
        }
    }

    /// The texts of these names; what else is there is passed over.
    pub(crate) fn texts<const COUNT: usize>(
        &mut self,
        names: [&str; COUNT],
    ) -> Option<[Option<&'a str>; COUNT]> {
        let mut texts = [None; COUNT];
        self.object(|reader, name| match names.iter().position(|known| *known == name) {
            Some(which) => once(&mut texts[which], reader.text()?),
            None => reader.pass(),
        })?;
        Some(texts)
    }

    /// Passes over a value.
    fn pass(&mut self) -> Option<()> {
        self.pass_within(DEEPEST)
    }

    fn pass_within(&mut self, deep: usize) -> Option<()> {
        let deeper = deep.checked_sub(1)?;
        match self.next()? {
            b'"' => self.text().map(drop),
            b'{' => self.object(|reader, _| reader.pass_within(deeper)),
            b'[' => self.pass_list(deeper),
            b't' => self.word("true"),
            b'f' => self.word("false"),
            b'n' => self.word("null"),
            b'1'..=b'9' => self.pass_digits(),
            // Other numbers have many ways to be written.
            _ => None,
        }
    }

    fn pass_list(&mut self, deep: usize) -> Option<()> {
        self.take(b'[')?;
        if self.takes(b']') {
            return Some(());
        }
        loop {
            self.pass_within(deep)?;
            if !self.takes(b',') {
                return self.take(b']');
            }
        }
    }

    fn pass_digits(&mut self) -> Option<()> {
        let rest = self.json.as_bytes().get(self.at..)?;
        self.at += rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        Some(())
    }

    fn word(&mut self, word: &str) -> Option<()> {
        self.json.get(self.at..)?.starts_with(word).then(|| self.at += word.len())
    }
}

/// What is there twice is an error, which the parser tells.
pub(crate) fn once<T>(slot: &mut Option<T>, value: T) -> Option<()> {
    slot.replace(value).is_none().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{
        FrameAttached, FrameDetached, FrameNavigated, FrameStartedLoading, FrameStartedNavigating,
        FrameStoppedLoading,
    };
    use crate::parse;
    use serde::Deserialize;
    use std::fmt::Debug;

    const NAVIGATED: &str = r##"{"frame":{"id":"F","parentId":"P","loaderId":"L","name":"n","url":"http://a.test/é","urlFragment":"#x","domainAndRegistry":"a.test","securityOrigin":"http://a.test","securityOriginDetails":{"isLocalhost":false},"mimeType":"text/html","adFrameStatus":{"adFrameType":"none"},"gatedAPIFeatures":[],"unreachableUrl":"http://b.test/"},"type":"BackForwardCacheRestore"}"##;
    const ATTACHED: &str =
        r#"{"frameId":"F","parentFrameId":"P","stack":{"callFrames":[{"line":12},null,[true,"x"]]}}"#;
    const DETACHED: &str = r#"{"frameId":"F","reason":"swap"}"#;
    const NAVIGATING: &str =
        r#"{"frameId":"F","url":"http://a.test/","loaderId":"L","navigationType":"reload"}"#;

    fn same<'a, T: Plain<'a> + Deserialize<'a> + PartialEq + Debug>(json: &'a str) -> bool {
        let Some(plainly) = read::<T>(json) else { return false };
        assert_eq!(parse::<T>("test", json).ok(), Some(plainly), "{json}");
        true
    }

    fn is_read(json: &str) -> bool {
        let read = [
            same::<FrameNavigated<'_>>(json),
            same::<FrameAttached<'_>>(json),
            same::<FrameDetached<'_>>(json),
            same::<FrameStartedNavigating<'_>>(json),
            same::<FrameStartedLoading<'_>>(json),
            same::<FrameStoppedLoading<'_>>(json),
        ];
        read.contains(&true)
    }

    #[test]
    fn what_chromium_writes_is_read_as_the_parser_reads_it() {
        assert!([NAVIGATED, ATTACHED, DETACHED, NAVIGATING].into_iter().all(is_read));
        let kinds = ["remove", "swap", "other"].map(|kind| format!(r#"{{"frameId":"F","reason":"{kind}"}}"#));
        assert!(kinds.iter().all(|json| is_read(json)));
        assert!(is_read(r#"{"frameId":""}"#), "an empty text is one, and what is not there has its default");
    }

    #[test]
    fn what_only_the_parser_can_read_or_refuse_is_left_to_it() {
        let left = [
            "",
            "{}",
            r#"{"frameId":"F"} "#,
            r#"{"frameId": "F"}"#,
            r#"{"frameId":"F","frameId":"F"}"#,
            r#"{"frameId":null}"#,
            r#"{"frameId":"\u0046"}"#,
            "{\"frameId\":\"\t\"}",
            r#"{"frameId":"F",}"#,
            r#"{"frameId":"F","more":1.5}"#,
            r#"{"frameId":"F","more":01}"#,
            r#"{"frameId":"F","more":nul}"#,
            r#"{"frameId":"F","more":[1,]}"#,
            r#"{"frameId":"F""#,
            r#"{"frameId":"F"}{}"#,
        ];
        left.into_iter().for_each(|json| assert!(!is_read(json), "{json}"));
    }

    #[test]
    fn what_is_nested_too_deep_is_left_to_the_parser() {
        let nested =
            |deep: usize| format!(r#"{{"frameId":"F","more":{}{}}}"#, "[".repeat(deep), "]".repeat(deep));
        assert!(is_read(&nested(DEEPEST)));
        assert!(!is_read(&nested(DEEPEST + 1)));
    }

    /// Each byte of each text replaced by each of these, left out, or doubled: what is read is what the parser reads.
    #[test]
    fn a_text_with_a_fault_is_read_as_the_parser_reads_it_or_not_at_all() {
        for text in [NAVIGATED, ATTACHED, DETACHED, NAVIGATING] {
            for at in (0..text.len()).filter(|at| text.is_char_boundary(*at) && text.is_char_boundary(at + 1))
            {
                let (before, after) = (&text[..at], &text[at + 1..]);
                for fault in ["", "\"", "\\", "{", "}", "[", "]", ":", ",", "0", "1", "-", "\u{1}", " ", "x"]
                {
                    is_read(&format!("{before}{fault}{after}"));
                    is_read(&format!("{before}{fault}{}{after}", &text[at..=at]));
                }
            }
        }
    }
}
