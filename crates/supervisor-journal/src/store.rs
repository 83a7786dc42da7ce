//! One sled store: the events of some runs, for a time.
//!
//! ```text
//! tree `events`  key  run u64 | first seq u64, big-endian, so that order is time    value  a record (record.rs)
//! tree `runs`    key  run u64, big-endian                                           value  the run as JSON
//! tree `next`    key  empty                                                         value  the next run's number, big-endian
//! ```
//!
//! sled reports a damaged store as an error at opening, or as a panic at any time. Both are caught.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use sled::{Batch, Config, Db, Tree};
use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::packed::Block;
use crate::port::{Run, RunId, Summary};
use crate::record::{count, decode};

/// How long what was added may be unwritten: a power failure loses at most this much, a crash of the process nothing that
/// the system already has.
const FLUSH_EVERY_MS: u64 = 250;

/// sled's cache. Events are written once and hardly ever read.
const CACHE_BYTES: u64 = 1024 * 1024;

/// How sled says that another process holds the store; it has no error of its own for that.
const LOCKED: &str = "could not acquire lock";

/// How long a locked store is waited for: sled's own threads let go of it a moment after it was dropped, and a process that
/// is being started has it open until its program runs.
const LOCK_WAIT: Duration = Duration::from_millis(500);

/// Between two tries.
const LOCK_AGAIN: Duration = Duration::from_millis(10);

#[derive(Debug)]
pub(crate) struct Store {
    db: Db,
    events: Tree,
    runs: Tree,
    next: Tree,
}

impl Store {
    pub(crate) fn open(folder: &Path) -> Result<Self, JournalError> {
        guarded(|| {
            let config =
                Config::new().path(folder).flush_every_ms(Some(FLUSH_EVERY_MS)).cache_capacity(CACHE_BYTES);
            let db = config.open()?;
            let (events, runs, next) =
                (db.open_tree("events")?, db.open_tree("runs")?, db.open_tree("next")?);
            Ok(Self { db, events, runs, next })
        })
    }

    /// A store that somebody is writing to this moment is not damaged.
    fn open_when_free(folder: &Path) -> Result<Self, JournalError> {
        let deadline = Instant::now() + LOCK_WAIT;
        loop {
            match Self::open(folder) {
                Err(JournalError::Store(text)) if text.contains(LOCKED) => {}
                opened => return opened,
            }
            if Instant::now() > deadline {
                return Err(JournalError::InUse(folder.to_owned()));
            }
            sleep(LOCK_AGAIN);
        }
    }

    /// Opens a store; failing that, without its snapshot files. Says what had to be done.
    pub(crate) fn open_or_repair(folder: &Path) -> Result<(Self, Option<String>), JournalError> {
        let first = match Self::open_when_free(folder) {
            Ok(store) => return Ok((store, None)),
            Err(in_use @ JournalError::InUse(_)) => return Err(in_use),
            Err(error) => error,
        };
        if remove_snapshots(folder)
            && let Ok(store) = Self::open(folder)
        {
            let said = format!("the journal was damaged ({first}) and repaired: nothing is lost");
            return Ok((store, Some(said)));
        }
        Err(first)
    }

    /// The number of the next run; `None` in a store that is new.
    pub(crate) fn next(&self) -> Result<Option<u64>, JournalError> {
        let next = guarded(|| Ok(self.next.get([])?))?;
        Ok(next.and_then(|next| Some(u64::from_be_bytes(next.as_ref().try_into().ok()?))))
    }

    pub(crate) fn set_next(&self, next: u64) -> Result<(), JournalError> {
        guarded(|| Ok(self.next.insert([], &next.to_be_bytes()).map(drop)?))
    }

    pub(crate) fn begin(&self, id: RunId, run: &Run) -> Result<(), JournalError> {
        let json = serde_json::to_vec(run).map_err(|error| JournalError::Store(error.to_string()))?;
        guarded(|| Ok(self.runs.insert(id.0.to_be_bytes(), json.as_slice()).map(drop)?))
    }

    pub(crate) fn knows(&self, id: RunId) -> Result<bool, JournalError> {
        guarded(|| Ok(self.runs.contains_key(id.0.to_be_bytes())?))
    }

    /// All or none of them.
    pub(crate) fn append(&self, run: RunId, blocks: &[Block]) -> Result<(), JournalError> {
        let mut batch = Batch::default();
        for block in blocks {
            batch.insert(&key(run, block.first()), block.bytes());
        }
        guarded(|| Ok(self.events.apply_batch(batch)?))
    }

    pub(crate) fn flush(&self) -> Result<(), JournalError> {
        guarded(|| Ok(self.db.flush().map(drop)?))
    }

    pub(crate) fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        guarded(|| {
            let mut all = Vec::new();
            for entry in &self.runs {
                let (id, json) = entry?;
                let (Ok(id), Ok(run)) = (<[u8; 8]>::try_from(&*id), serde_json::from_slice(&json)) else {
                    continue;
                };
                let id = RunId(u64::from_be_bytes(id));
                let (events, last_seq) = self.summed_up(id)?;
                all.push(Summary { id, run, last_seq, events });
            }
            Ok(all)
        })
    }

    /// How many events are kept here of a run, and the number of the last.
    fn summed_up(&self, id: RunId) -> Result<(u64, u64), JournalError> {
        let (mut events, mut last_seq) = (0, 0);
        for entry in self.events.scan_prefix(id.0.to_be_bytes()) {
            let (key, record) = entry?;
            let first = key.get(8..16).and_then(|first| first.try_into().ok()).map_or(0, u64::from_be_bytes);
            events += count(&record);
            last_seq = (first + count(&record)).saturating_sub(1);
        }
        Ok((events, last_seq))
    }

    /// Adds what is kept here of a run, and says whether it is known here.
    pub(crate) fn read(
        &self,
        run: RunId,
        into: &mut Vec<Recorded>,
        unreadable: &mut u64,
    ) -> Result<bool, JournalError> {
        let known = self.knows(run)?;
        guarded(|| {
            for entry in self.events.scan_prefix(run.0.to_be_bytes()) {
                let read = decode(&entry?.1);
                into.extend(read.events);
                *unreadable += read.unreadable;
            }
            Ok(known)
        })
    }
}

fn key(run: RunId, seq: u64) -> [u8; 16] {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&run.0.to_be_bytes());
    key[8..].copy_from_slice(&seq.to_be_bytes());
    key
}

/// sled panics on some damage: that is an error like any other.
fn guarded<T>(action: impl FnOnce() -> Result<T, JournalError>) -> Result<T, JournalError> {
    catch_unwind(AssertUnwindSafe(action)).unwrap_or_else(|panic| {
        let said =
            panic.downcast_ref::<String>().map(String::as_str).or(panic.downcast_ref::<&str>().copied());
        Err(JournalError::Store(format!("a panic inside the store: {}", said.unwrap_or("without words"))))
    })
}

/// sled builds them again from its log.
fn remove_snapshots(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let snapshots =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("snap.")));
    snapshots.filter(|entry| fs::remove_file(entry.path()).is_ok()).count() > 0
}
