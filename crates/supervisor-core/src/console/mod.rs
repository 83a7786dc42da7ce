//! What pages complain about: the last errors and the last warnings.
//!
//! A page can complain a hundred thousand times a second. Entries are gathered outside the state: the first after a
//! quiet spell becomes an event at once, what follows becomes one event per [`CONSOLE_GATHER`], which holds only what the
//! rings would keep, and a count of the rest.

pub(crate) mod objects;
pub(crate) mod rules;

use std::collections::VecDeque;

use cdp_wire::{FrameId, TargetId};
use serde::{Deserialize, Serialize};

use crate::limits::{CONSOLE_GATHER, MAX_CONSOLE_BYTES, MAX_CONSOLE_ENTRIES};
use crate::shown::Shown;
use crate::time::At;

/// One complaint.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "ConsoleEntry"))]
pub struct Entry {
    /// When it arrived.
    pub at: At,
    /// What kind.
    pub level: Level,
    /// What it says.
    pub text: Shown,
    /// The script or resource.
    pub url: String,
    /// The line, from 0.
    pub line: Option<i64>,
    /// The column, from 0.
    pub column: Option<i64>,
    /// The frame, where it is known.
    pub frame_id: Option<FrameId>,
    /// The page.
    pub target_id: TargetId,
}

/// The kinds of complaint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// `console.error`, `console.assert`, or an error of the browser about the page.
    Error,
    /// An exception that nobody caught.
    Exception,
    /// `console.warn`, or a warning of the browser about the page.
    Warning,
}

/// A bounded ring of complaints, by count and by bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Entry>", into = "Vec<Entry>")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(with = "Vec<Entry>"))]
pub struct Ring {
    entries: VecDeque<Entry>,
    bytes: usize,
}

impl From<Vec<Entry>> for Ring {
    fn from(entries: Vec<Entry>) -> Self {
        Self { bytes: entries.iter().map(size).sum(), entries: entries.into() }
    }
}

impl From<Ring> for Vec<Entry> {
    fn from(ring: Ring) -> Self {
        ring.entries.into()
    }
}

impl Ring {
    /// The entries, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.entries.iter()
    }

    /// Adds one, and gives back how many had to make room.
    fn push(&mut self, entry: Entry) -> u64 {
        self.bytes += size(&entry);
        self.entries.push_back(entry);
        let mut dropped = 0;
        while self.entries.len() > MAX_CONSOLE_ENTRIES
            || (self.bytes > MAX_CONSOLE_BYTES && self.entries.len() > 1)
        {
            let Some(oldest) = self.entries.pop_front() else { break };
            self.bytes -= size(&oldest);
            dropped += 1;
        }
        dropped
    }
}

fn size(entry: &Entry) -> usize {
    entry.text.text.len() + entry.url.len()
}

/// The two rings: a flood of one kind does not push out the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Console {
    /// Errors and exceptions.
    pub errors: Ring,
    /// Warnings.
    pub warnings: Ring,
    /// How many are no longer there.
    pub dropped: u64,
}

impl Console {
    pub(crate) fn add(&mut self, gathered: &Gathered) {
        self.dropped += gathered.skipped;
        for entry in gathered.errors.iter() {
            self.dropped += self.errors.push(entry.clone());
        }
        for entry in gathered.warnings.iter() {
            self.dropped += self.warnings.push(entry.clone());
        }
    }
}

/// What was said since the last event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Gathered {
    /// The last errors.
    pub errors: Ring,
    /// The last warnings.
    pub warnings: Ring,
    /// How many came before them and are not here.
    pub skipped: u64,
}

/// Gathers complaints until they become one event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Gatherer {
    waiting: Option<Gathered>,
    quiet_until: At,
}

impl Gatherer {
    pub(crate) fn add(&mut self, entry: Entry) {
        let gathered = self.waiting.get_or_insert_default();
        let ring = if entry.level == Level::Warning { &mut gathered.warnings } else { &mut gathered.errors };
        gathered.skipped += ring.push(entry);
    }

    /// When what was gathered becomes an event.
    #[must_use]
    pub fn due(&self) -> Option<At> {
        self.waiting.as_ref().map(|_| self.quiet_until)
    }

    /// Takes what was gathered, if it is due.
    pub(crate) fn take(&mut self, at: At) -> Option<Gathered> {
        if at < self.quiet_until {
            return None;
        }
        let gathered = self.waiting.take()?;
        self.quiet_until = at.after(CONSOLE_GATHER);
        Some(gathered)
    }
}
