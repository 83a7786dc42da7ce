//! The port: what a journal can do, whatever it is made of.

use std::fmt;

use serde::{Deserialize, Serialize};
use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::packed::Block;

/// The number of a run, unique in a journal and growing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a run is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// The task's name.
    pub task: String,
    /// When it began, in microseconds since the Unix epoch: the zero of its events' stamps.
    pub started_unix_us: u64,
    /// Where its browser was, without secrets.
    pub endpoint: String,
}

/// A run that is in the journal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// Its number.
    pub id: RunId,
    /// What it is.
    #[serde(flatten)]
    pub run: Run,
    /// The number of its last event.
    pub last_seq: u64,
    /// How many of its events are kept.
    pub events: u64,
}

/// What was kept of a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Kept {
    /// The events that could be read, in order.
    pub events: Vec<Recorded>,
    /// How many records are damaged, or of a version that is not known here.
    pub unreadable: u64,
    /// How many numbers are missing between the first and the last.
    pub missing: u64,
}

impl Kept {
    pub(crate) fn new(events: Vec<Recorded>, unreadable: u64) -> Self {
        let span = match (events.first(), events.last()) {
            (Some(first), Some(last)) => last.seq - first.seq + 1,
            _ => 0,
        };
        let missing = span.saturating_sub(events.len() as u64 + unreadable);
        Self { events, unreadable, missing }
    }
}

/// A place for events. One caller at a time: [`Keeper`](crate::Keeper) is the one that shares it.
pub trait Journal: Send {
    /// Begins a run.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError>;

    /// Adds the events of a step, or of some steps one after the other: all of them are kept, or none.
    ///
    /// # Errors
    /// [`JournalError::Store`]; [`JournalError::NoRun`] for a run that never began, or is over.
    fn append_blocks(&mut self, run: RunId, blocks: &[Block]) -> Result<(), JournalError>;

    /// The same for events that nobody made blocks of.
    ///
    /// # Errors
    /// Those of [`append_blocks`](Self::append_blocks).
    fn append(&mut self, run: RunId, events: &[Recorded]) -> Result<(), JournalError> {
        self.append_blocks(run, &Block::of(events))
    }

    /// The run is over: nothing of it is held any more but what was added. That this is on disk, a
    /// [`barrier`](Self::barrier) makes sure.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    fn end(&mut self, run: RunId) -> Result<(), JournalError> {
        let _ = run;
        Ok(())
    }

    /// Lets go of what is too old. Called now and then, also when nothing is added.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    fn tidy(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    /// Makes sure that what was added is on disk.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    fn barrier(&mut self) -> Result<(), JournalError>;

    /// The runs that are kept, oldest first.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    fn runs(&self) -> Result<Vec<Summary>, JournalError>;

    /// What is kept of a run.
    ///
    /// # Errors
    /// [`JournalError::Store`]; [`JournalError::NoRun`].
    fn read(&self, run: RunId) -> Result<Kept, JournalError>;
}
