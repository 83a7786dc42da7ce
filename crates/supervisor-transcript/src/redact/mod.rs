//! Redaction: a recording that can be shared. Page texts, typed answers and the secrets of URLs are replaced; what the
//! machine decides on is kept, so that the redacted recording replays to the redacted events.
//!
//! Replaced texts keep their lengths, their spaces and punctuation, and which of them are equal. What they become depends
//! on a key that is a hash of the whole recording: the same recording is always redacted in the same way, and without the
//! original nobody has the key.

mod checkpoint;
mod cipher;
mod event;
mod json;

use std::borrow::Cow;

use serde_json::Value;
use supervisor_core::{Action, Command, Recorded, Remedy};

use crate::error::TranscriptError;
use crate::line::{Entry, GuardEntry, Line};
use crate::reader::Reader;
use crate::writer::Writer;
pub(crate) use cipher::Cipher;

/// Redacts a recording of ours or another client's transcript: see [`Redactor::recording`].
///
/// # Errors
/// When it is neither.
pub fn redact(recording: &(impl AsRef<[u8]> + ?Sized)) -> Result<Vec<u8>, TranscriptError> {
    Redactor::of(recording).recording(recording)
}

/// What replaces the texts of one recording.
#[derive(Debug, Clone)]
pub struct Redactor {
    cipher: Cipher,
}

impl Redactor {
    /// The one for this recording, and for what it replays to.
    #[must_use]
    pub fn of(recording: &(impl AsRef<[u8]> + ?Sized)) -> Self {
        Self { cipher: Cipher::of(recording.as_ref()) }
    }

    /// One whose texts depend on a secret that nobody else knows.
    #[must_use]
    pub fn keyed(secret: &[u8]) -> Self {
        Self { cipher: Cipher::of(secret) }
    }

    /// The redacted recording, up to its end or to where it is damaged. Lines that are not understood are left out.
    ///
    /// The header is kept as it is: `why` is the recorder's own text, and the endpoint has no secrets.
    ///
    /// # Errors
    /// When it is neither a recording of ours nor another client's transcript.
    pub fn recording(&self, recording: &(impl AsRef<[u8]> + ?Sized)) -> Result<Vec<u8>, TranscriptError> {
        let mut redacted = Vec::with_capacity(recording.as_ref().len());
        let (reader, mut writer) = match Reader::new(recording) {
            Ok(reader) => {
                let writer = Writer::begin(reader.header(), &mut redacted);
                (reader, writer)
            }
            Err(refused) => (Reader::foreign(recording).map_err(|_| refused)?, Writer::without_header()),
        };
        for numbered in reader.map_while(Result::ok) {
            writer.line(&self.line(numbered.line), &mut redacted);
        }
        Ok(redacted)
    }

    /// The redacted line, for who writes a recording that is never there in plain.
    #[must_use]
    pub fn line<'a>(&self, line: Line<'a>) -> Line<'a> {
        Line { at: line.at, entry: entry(&self.cipher, line.entry) }
    }

    /// The redacted checkpoint, as it is written in JSON.
    #[must_use]
    pub fn checkpoint(&self, json: &str) -> String {
        checkpoint::checkpoint(&self.cipher, json)
    }

    /// The redacted event, as it is written in JSON: what the redacted recording replays to.
    #[must_use]
    pub fn event(&self, recorded: &Recorded) -> Value {
        event::event(&self.cipher, recorded)
    }
}

fn entry<'a>(cipher: &Cipher, entry: Entry<'a>) -> Entry<'a> {
    match entry {
        Entry::Recv { epoch, text } => Entry::Recv { epoch, text: message(cipher, &text) },
        Entry::Send { text } => Entry::Send { text: message(cipher, &text) },
        Entry::Guard(GuardEntry::Recv { epoch, text }) => {
            Entry::Guard(GuardEntry::Recv { epoch, text: message(cipher, &text) })
        }
        Entry::Guard(GuardEntry::Send { text }) => {
            Entry::Guard(GuardEntry::Send { text: message(cipher, &text) })
        }
        Entry::Host { req, command } => Entry::Host { req, command: asked(cipher, command) },
        Entry::Checkpoint { epoch, json } => {
            Entry::Checkpoint { epoch, json: checkpoint::checkpoint(cipher, &json).into() }
        }
        other => other,
    }
}

/// What is no JSON has no structure that could be kept.
fn message(cipher: &Cipher, text: &str) -> Cow<'static, str> {
    Cow::Owned(json::message(cipher, text).unwrap_or_else(|| cipher.text(text)))
}

fn asked(cipher: &Cipher, command: Command) -> Command {
    match command {
        Command::Respond { choice, action: Action::Accept { prompt_text } } => {
            let prompt_text = prompt_text.map(|text| cipher.text(&text));
            Command::Respond { choice, action: Action::Accept { prompt_text } }
        }
        Command::Call { place, method, params, timeout_ms } => {
            let params = json::message(cipher, &params).unwrap_or_else(|| cipher.text(&params));
            Command::Call { place, method, params, timeout_ms }
        }
        Command::Eval { frame_id, expression, await_promise, timeout_ms } => {
            let expression = cipher.text(&expression);
            Command::Eval { frame_id, expression, await_promise, timeout_ms }
        }
        Command::Recover { target_id, remedy: Remedy::Navigate { url } } => {
            Command::Recover { target_id, remedy: Remedy::Navigate { url: cipher.url(&url) } }
        }
        other => other,
    }
}
