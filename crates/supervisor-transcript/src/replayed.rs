//! What a replay gives.

use std::sync::Arc;

use serde::Serialize;
use supervisor_core::{At, Meters, Recorded, Snapshot};

use crate::error::Damage;
use crate::header::Header;
use crate::reader::Unknown;

/// What a recording led to. Written as JSON, it is one object.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Replayed {
    /// What it began with.
    pub header: Header,
    /// The snapshot at the end.
    pub snapshot: Arc<Snapshot>,
    /// Every event, in order.
    pub events: Vec<Recorded>,
    /// What the machine sent, in order.
    pub sends: Vec<Sent>,
    /// How much there was, and what was not understood.
    pub counts: Counts,
    /// What a reader should know before trusting this.
    pub warnings: Vec<String>,
    /// Where the recording was damaged; everything above is as of there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<Damage>,
}

/// A message that the machine sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sent {
    /// The line of the input that led to it.
    pub line: usize,
    /// The stamp of that input.
    pub at: At,
    /// The message.
    pub text: String,
    /// Whether it was sent on the guard connection.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub by_guard: bool,
}

/// How much a replay read, and what was not understood.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Lines that were fed to the machine.
    pub inputs: u64,
    /// Lines of messages that were sent.
    pub recorded_sends: u64,
    /// Lines that the recorder lost: what comes after the first loss may differ from the live run.
    pub lost_lines: u64,
    /// Lines that are no lines of this format.
    pub unknown_lines: Unknown,
    /// What the machine counted, what it did not understand among it.
    pub meters: Meters,
    /// Inputs that the machine failed on: faults of this program.
    pub faults: Vec<Fault>,
    /// Checkpoints that cannot be read, or at which the replay did not know what the live run knew.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub wrong_checkpoints: Vec<Fault>,
}

/// A line that the machine failed on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// Its line.
    pub line: usize,
    /// What the failure says.
    pub message: String,
}
