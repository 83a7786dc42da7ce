//! Replaying transcripts of other clients: lines `send` and `recv`, without a header.

use std::borrow::Cow;

use cdp_wire::{TargetId, Text};
use serde::Deserialize;
use supervisor_core::{At, EndpointKind};

use crate::drive::{drive, drive_until, play};
use crate::error::TranscriptError;
use crate::header::Header;
use crate::line::Entry;
use crate::lines::Lines;
use crate::reader::Reader;
use crate::replayed::Replayed;

/// Lines that are looked at to tell a transcript of another client, and what it was connected to.
const LOOKED_AT: usize = 1_000;

/// Replays a recording of ours, or another client's transcript, whichever it is.
///
/// # Errors
/// When it is neither.
pub fn replay(recording: &(impl AsRef<[u8]> + ?Sized)) -> Result<Replayed, TranscriptError> {
    match drive(recording) {
        Err(refused) => observe_instead(recording, refused, None),
        driven => driven,
    }
}

/// As [`replay`], up to and including a moment.
///
/// # Errors
/// As [`replay`].
pub fn replay_until(recording: &(impl AsRef<[u8]> + ?Sized), until: At) -> Result<Replayed, TranscriptError> {
    match drive_until(recording, until) {
        Err(refused) => observe_instead(recording, refused, Some(until)),
        driven => driven,
    }
}

/// Replays what another client and its browser said to each other. Nothing is sent; its answers count as the agent's.
///
/// # Errors
/// `Empty` or `NoHeader` when there is no message in it. Damage further on is part of the result.
pub fn observe(transcript: &(impl AsRef<[u8]> + ?Sized)) -> Result<Replayed, TranscriptError> {
    play(Reader::foreign(transcript)?, None, |_, _| Ok(()))
}

/// As [`observe`], up to and including a moment of the transcript.
///
/// # Errors
/// As [`observe`].
pub fn observe_until(
    transcript: &(impl AsRef<[u8]> + ?Sized),
    until: At,
) -> Result<Replayed, TranscriptError> {
    play(Reader::foreign(transcript)?, Some(until), |_, _| Ok(()))
}

/// A transcript may begin with lines of its own; what is no recording of ours and has messages is one.
fn observe_instead(
    recording: &(impl AsRef<[u8]> + ?Sized),
    refused: TranscriptError,
    until: Option<At>,
) -> Result<Replayed, TranscriptError> {
    if !matches!(refused, TranscriptError::Foreign | TranscriptError::NoHeader { .. }) {
        return Err(refused);
    }
    match Reader::foreign(recording) {
        Ok(reader) => play(reader, until, |_, _| Ok(())),
        Err(_) => Err(refused),
    }
}

impl<'a> Reader<Lines<'a>> {
    /// Reads another client's transcript, as if it began with a header that says so: a [`Driver`](crate::Driver) of that
    /// header observes.
    ///
    /// # Errors
    /// As [`observe`].
    pub fn foreign(transcript: &'a (impl AsRef<[u8]> + ?Sized)) -> Result<Self, TranscriptError> {
        let looked_at = Self::without_header(transcript, Header::of_observer(EndpointKind::Browser));
        let lines = looked_at.take(LOOKED_AT).map_while(Result::ok).map(|numbered| numbered.line.entry);
        let messages: Vec<Entry<'_>> =
            lines.filter(|entry| matches!(entry, Entry::Recv { .. } | Entry::Send { .. })).collect();
        if messages.is_empty() {
            // Says what the first line is.
            return Err(Self::new(transcript).err().unwrap_or(TranscriptError::Empty));
        }
        Ok(Self::without_header(transcript, Header::of_observer(endpoint(&messages))))
    }
}

/// What of a message tells where it was said.
#[derive(Deserialize)]
struct Glimpse<'a> {
    #[serde(borrow)]
    method: Option<Text<'a>>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<Described<'a>>,
    #[serde(borrow)]
    result: Option<Described<'a>>,
}

/// Where a main frame is described: in `Page.frameNavigated`, and in the result of `Page.getFrameTree`.
#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    frame: Option<MainFrame<'a>>,
    #[serde(borrow, rename = "frameTree")]
    tree: Option<Tree<'a>>,
}

#[derive(Deserialize)]
struct Tree<'a> {
    #[serde(borrow)]
    frame: MainFrame<'a>,
}

#[derive(Deserialize)]
struct MainFrame<'a> {
    #[serde(borrow)]
    id: Text<'a>,
    #[serde(rename = "parentId")]
    parent: Option<serde::de::IgnoredAny>,
}

/// A client that says `Page.…` without a session talks to a page itself, whose id its main frame shares.
fn endpoint(messages: &[Entry<'_>]) -> EndpointKind {
    let glimpses: Vec<Glimpse<'_>> =
        messages.iter().filter_map(glimpse).filter(|it| it.session.is_none()).collect();
    let on_page = |it: &Glimpse<'_>| it.method.as_ref().is_some_and(|method| method.starts_with("Page."));
    let main = glimpses.iter().filter_map(main_frame).next();
    match main.filter(|_| glimpses.iter().any(on_page)) {
        Some(id) => EndpointKind::Page(TargetId::from(id)),
        None => EndpointKind::Browser,
    }
}

fn glimpse<'a>(entry: &'a Entry<'_>) -> Option<Glimpse<'a>> {
    match entry {
        Entry::Recv { text, .. } | Entry::Send { text } => serde_json::from_str(Cow::as_ref(text)).ok(),
        _ => None,
    }
}

fn main_frame<'a>(glimpse: &'a Glimpse<'_>) -> Option<&'a str> {
    let described = glimpse.params.as_ref().or(glimpse.result.as_ref())?;
    let frame = described.tree.as_ref().map(|tree| &tree.frame).or(described.frame.as_ref())?;
    frame.parent.is_none().then(|| frame.id.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = r#"{"t":0,"dir":"send","msg":{"id":1,"method":"Page.getFrameTree"}}
{"t":0.1,"dir":"recv","msg":{"id":1,"result":{"frameTree":{"frame":{"id":"P","loaderId":"L","url":"http://a.test/","securityOrigin":"http://a.test","mimeType":""}}}}}
{"t":0.2,"dir":"recv","msg":{"method":"Page.javascriptDialogOpening","params":{"url":"http://a.test/","frameId":"P","message":"q","type":"confirm","hasBrowserHandler":true,"defaultPrompt":""}}}
"#;

    #[test]
    fn a_client_of_a_page_endpoint_is_told_by_what_it_sends() {
        let replayed = replay(LISTING).unwrap();
        assert_eq!(replayed.header.beginning.observes, Some(EndpointKind::Page(TargetId::from("P"))));
        assert_eq!(replayed.snapshot.pages[0].target_id, TargetId::from("P"));
        assert_eq!(replayed.snapshot.pending_dialogs.len(), 1);
    }

    #[test]
    fn lines_of_its_own_before_the_first_message_do_not_hide_a_transcript() {
        let replayed = replay(&format!("{{\"made\":\"by a proxy\"}}\n{LISTING}")).unwrap();
        assert_eq!((replayed.counts.inputs, replayed.counts.unknown_lines.count), (3, 1));
    }

    #[test]
    fn what_is_no_transcript_is_refused_as_before() {
        assert!(matches!(replay("{\"log\":{}}\n"), Err(TranscriptError::NoHeader { .. })));
        assert_eq!(replay(""), Err(TranscriptError::Empty));
        assert_eq!(crate::check(LISTING), Err(TranscriptError::Foreign));
    }

    /// What comes before its first message does not make it one of a client for ever.
    #[test]
    fn a_transcript_is_looked_for_in_so_many_lines() {
        let after = |lines: usize| {
            let text = format!("{}{LISTING}", "{\"t\":0,\"dir\":\"tick\"}\n".repeat(lines));
            Reader::foreign(&text).is_ok()
        };
        assert!(after(LOOKED_AT - 1));
        assert!(!after(LOOKED_AT));
    }
}
