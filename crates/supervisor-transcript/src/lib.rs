//! Recordings of a task: how they are written, read, replayed and checked.
//!
//! A recording holds every input of a [`Machine`](supervisor_core::Machine) and everything it sent. Because the machine
//! is a function of its inputs, [`drive`] gives the events and the snapshot of the live run again, on any machine, with
//! the same core version. [`check`] also compares what is sent with what was recorded; a host calls it in its own tests:
//!
//! ```no_run
//! let recording = std::fs::read("tests/checkout.cdp.jsonl")?;
//! let replayed = supervisor_transcript::check(&recording)?;
//! assert_eq!(replayed.snapshot.recent_dialogs.len(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The format is JSON Lines: a [`Header`], then one [`Line`] for each thing that happened. [`Writer`] writes it and
//! [`Reader`] reads it. This crate is pure: it takes and gives bytes, and touches no file.

mod check;
mod drive;
mod error;
mod header;
mod import;
mod json;
mod line;
mod lines;
mod observe;
mod parse;
mod reader;
mod redact;
mod reduce;
mod replayed;
mod secrets;
mod shrink;
mod stamp;
mod writer;

pub use check::{Difference, check};
pub use drive::{Driver, drive, drive_until};
pub use error::{Damage, TranscriptError};
pub use header::{CORE_VERSION, FORMAT, Header};
pub use import::{Imported, import};
pub use line::{Entry, GuardEntry, Line};
pub use lines::Lines;
pub use observe::{observe, observe_until, replay, replay_until};
pub use reader::{Numbered, Reader, Unknown, UnknownLine};
pub use redact::{Redactor, redact};
pub use reduce::{Progress, reduce};
pub use replayed::{Counts, Fault, Replayed, Sent};
pub use shrink::{PREDICATES, Predicate, Shrunk, shrink, shrink_while};
pub use writer::Writer;

#[cfg(test)]
mod properties;
#[cfg(test)]
mod session;
