//! What can be wrong with a recording.

use std::fmt;

use serde::Serialize;

use crate::check::Difference;
use crate::header::FORMAT;
use crate::replayed::Fault;

/// Why a recording cannot be replayed, or did not pass its check.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TranscriptError {
    /// There is nothing in it.
    #[error(
        "the recording is empty: expected a first line {{\"header\": …}}. Was the recorder stopped before it began?"
    )]
    Empty,
    /// The first line is something else.
    #[error(
        "line 1 is no header: expected {{\"header\": {{\"format\": {FORMAT}, …}}}}, got `{got}`. Is this a recording of \
         cdp-supervisor?"
    )]
    NoHeader {
        /// The beginning of the line.
        got: String,
    },
    /// Another program's transcript: `recv` and `send` lines without a header.
    #[error(
        "line 1 is a message, not a header: a transcript of another program, which does not say what its machine began \
         with. It can be observed, but neither driven nor checked"
    )]
    Foreign,
    /// A log of another program that has no message in it.
    #[error(
        "there is no message in it: expected what Playwright prints with DEBUG=pw:protocol, or Puppeteer with \
         DEBUG=puppeteer:protocol:*, got `{got}`"
    )]
    NoLog {
        /// The beginning of it.
        got: String,
    },
    /// A format that this version does not know.
    #[error(
        "the recording has format {got}, and this version reads format {FORMAT}: use the version that wrote it, or a newer one"
    )]
    Format {
        /// The format.
        got: u64,
    },
    /// The header lacks something.
    #[error("the header in line 1 cannot be read: {reason}")]
    Header {
        /// What is wrong with it.
        reason: String,
    },
    /// A line is damaged; what comes after it was not read.
    #[error(transparent)]
    Damaged(#[from] Damage),
    /// The recorder could not keep up; a check cannot go on without what is missing.
    #[error(
        "line {line}: {lines} lines were lost while recording, so what comes after cannot be checked. Record again, on a faster disk"
    )]
    Lost {
        /// The line that says so.
        line: usize,
        /// How many are missing.
        lines: u64,
    },
    /// The machine does not know what it knew when the recording was made.
    #[error("line {}: {}", .0.line, .0.message)]
    Checkpoint(Fault),
    /// A recording that is to be shrunk does not show what it is to keep.
    #[error(
        "the recording does not show `{what}`, so nothing can be left out for it: replay it and see what it does show"
    )]
    ShowsNot {
        /// What was to be kept.
        what: String,
    },
    /// The machine sent something else than what was recorded.
    #[error(transparent)]
    Difference(#[from] Box<Difference>),
}

/// A place where a recording is no longer JSON Lines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
pub struct Damage {
    /// The line, from 1.
    pub line: usize,
    /// The byte in the whole recording, from 0, where reading failed.
    pub offset: u64,
    /// What is wrong there.
    pub reason: String,
    /// Whether the line just ends too early, as when the recorder was killed.
    pub cut: bool,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, offset, reason, cut } = self;
        let cut = if *cut { " (the line is cut off)" } else { "" };
        write!(
            f,
            "the recording is damaged at line {line}, byte {offset}: expected one JSON object in a line of UTF-8, \
             got: {reason}{cut}. What comes before was read"
        )
    }
}

/// Enough of a text to recognise it in an error.
pub(crate) fn beginning_of(text: &str) -> String {
    /// A line of a terminal.
    const SHOWN: usize = 80;
    let cut = &text[..text.floor_char_boundary(SHOWN)];
    if cut.len() < text.len() { format!("{cut}…") } else { text.to_owned() }
}
