//! How far a recording is: written by its threads, read by whoever likes.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// How far a recording is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RecordingProgress {
    /// The file; in a folder, the one that was made there.
    pub path: PathBuf,
    /// Messages that were written, in both directions.
    pub messages: u64,
    /// Bytes that are on disk, all parts together.
    pub bytes: u64,
    /// Parts that were dropped, the oldest first, to keep the recording small.
    pub dropped_parts: u64,
    /// Lines that are missing because the disk was too slow.
    pub lost_lines: u64,
    /// Why the recording ended before the task did.
    pub failure: Option<String>,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(super) path: OnceLock<PathBuf>,
    pub(super) waiting: Bytes,
    pub(super) messages: Count,
    pub(super) bytes: Count,
    pub(super) dropped_parts: Count,
    pub(super) lost: Count,
    /// Lost lines that no line of the recording has told of yet.
    pub(super) unsaid: Count,
    pub(super) wants_checkpoint: Flag,
    pub(super) failure: OnceLock<String>,
}

impl Shared {
    pub(crate) fn progress(&self) -> RecordingProgress {
        RecordingProgress {
            path: self.path.get().cloned().unwrap_or_default(),
            messages: self.messages.get(),
            bytes: self.bytes.get(),
            dropped_parts: self.dropped_parts.get(),
            lost_lines: self.lost.get(),
            failure: self.failure.get().cloned(),
        }
    }
}

/// A number that several threads count.
#[derive(Debug, Default)]
pub(super) struct Count(AtomicU64);

impl Count {
    pub(super) fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn add(&self, more: u64) {
        self.0.fetch_add(more, Ordering::Relaxed);
    }

    pub(super) fn sub(&self, less: u64) {
        self.0.fetch_sub(less, Ordering::Relaxed);
    }

    pub(super) fn set(&self, value: u64) {
        self.0.store(value, Ordering::Relaxed);
    }
}

/// Bytes that wait, within a bound.
#[derive(Debug, Default)]
pub(super) struct Bytes(AtomicUsize);

impl Bytes {
    /// Counts them, and says whether there is room: one that is larger than the bound may be alone.
    pub(super) fn take(&self, weight: usize, bound: usize) -> bool {
        let waiting = self.0.fetch_add(weight, Ordering::Relaxed);
        waiting + weight <= bound.max(weight)
    }

    pub(super) fn give_back(&self, weight: usize) {
        self.0.fetch_sub(weight, Ordering::Relaxed);
    }
}

/// Raised by one thread, taken by another.
#[derive(Debug, Default)]
pub(super) struct Flag(AtomicBool);

impl Flag {
    pub(super) fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(super) fn take(&self) -> bool {
        self.0.load(Ordering::Relaxed) && self.0.swap(false, Ordering::Relaxed)
    }
}
