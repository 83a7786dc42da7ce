//! The journal on disk, in sled stores.
//!
//! ```text
//! tree `events`  key  run u64 | seq u64, big-endian, so that order is time    value  a record (record.rs)
//! tree `runs`    key  run u64, big-endian                                     value  the run as JSON
//! ```
//!
//! sled reports a damaged store as an error at opening, or as a panic at any time. Both are caught. A store whose small
//! snapshot file is damaged is whole again without that file; any other is set aside and a new one begun.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::SystemTime;

use sled::{Batch, Config, Db, Tree};
use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::generations::{Bounds, Generations, size};
use crate::port::{Journal, Kept, Run, RunId, Summary};
use crate::record::{decode, encode};

/// How long what was added may be unwritten: a power failure loses at most this much, a crash of the process nothing that
/// the system already has.
const FLUSH_EVERY_MS: u64 = 250;

/// sled's cache. Events are written once and hardly ever read.
const CACHE_BYTES: u64 = 4 * 1024 * 1024;

/// Between two looks at the size on disk, which costs a walk through the folder.
const LOOK_EVERY: u64 = 4 * 1024 * 1024;

/// A journal on disk.
#[derive(Debug)]
pub struct SledJournal {
    generations: Generations,
    bounds: Bounds,
    present: Store,
    number: u64,
    since_look: u64,
    /// What had to be done to open it.
    repairs: Vec<String>,
}

#[derive(Debug)]
struct Store {
    db: Db,
    events: Tree,
    runs: Tree,
}

impl SledJournal {
    /// Opens the journal in this folder, which is made if need be, for its owner alone. A store that cannot be opened is
    /// repaired or set aside; [`repairs`](Self::repairs) says so.
    ///
    /// # Errors
    /// [`JournalError::Folder`]; [`JournalError::Store`] when not even a new store can be made.
    pub fn open(folder: &Path, bounds: Bounds) -> Result<Self, JournalError> {
        let generations = Generations::open(folder)?;
        let number = generations.numbers().last().copied().unwrap_or(1);
        let mut repairs = Vec::new();
        let (number, present) = open_or_replace(&generations, number, &mut repairs)?;
        let journal = Self { generations, bounds, present, number, since_look: 0, repairs };
        journal.generations.prune(number, &bounds, SystemTime::now());
        Ok(journal)
    }

    /// What had to be done to open it: each a sentence for a log. Empty when all was well.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// When the present store is full a new one takes over, and the oldest makes room. Runs that go on are known there too.
    fn turn_over(&mut self, run: RunId) -> Result<(), JournalError> {
        self.since_look = 0;
        if size(&self.generations.folder(self.number)) < self.bounds.generation() {
            return Ok(());
        }
        let known = self.present.run(run)?;
        self.present.flush()?;
        self.number += 1;
        self.present = Store::open(&self.generations.folder(self.number))?;
        if let Some(known) = known {
            self.present.begin(run, &known)?;
        }
        self.generations.prune(self.number, &self.bounds, SystemTime::now());
        Ok(())
    }

    /// The older stores, opened to be read; one that cannot be opened is passed over.
    fn older(&self) -> impl Iterator<Item = Store> + '_ {
        let numbers = self.generations.numbers().into_iter().filter(|number| *number != self.number);
        numbers.filter_map(|number| Store::open(&self.generations.folder(number)).ok())
    }
}

impl Journal for SledJournal {
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError> {
        let newest = self.runs()?.last().map_or(0, |summary| summary.id.0);
        let id = RunId(newest + 1);
        self.present.begin(id, run)?;
        Ok(id)
    }

    fn append(&mut self, run: RunId, events: &[Recorded]) -> Result<(), JournalError> {
        if self.since_look >= LOOK_EVERY {
            self.turn_over(run)?;
        }
        self.since_look += self.present.append(run, events)?;
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), JournalError> {
        self.present.flush()
    }

    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        let mut all: Vec<Summary> = Vec::new();
        for store in self.older() {
            merge(&mut all, store.runs()?);
        }
        merge(&mut all, self.present.runs()?);
        Ok(all)
    }

    fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        let mut events = Vec::new();
        let mut unreadable = 0;
        let mut found = false;
        for store in self.older() {
            found |= store.read(run, &mut events, &mut unreadable)?;
        }
        found |= self.present.read(run, &mut events, &mut unreadable)?;
        found.then(|| Kept::new(events, unreadable)).ok_or(JournalError::NoRun(run))
    }
}

/// A run that went on in a newer store is one run.
fn merge(all: &mut Vec<Summary>, newer: Vec<Summary>) {
    for summary in newer {
        match all.iter_mut().find(|known| known.id == summary.id) {
            Some(known) => {
                known.events += summary.events;
                known.last_seq = known.last_seq.max(summary.last_seq);
            }
            None => all.push(summary),
        }
    }
}

impl Store {
    fn open(folder: &Path) -> Result<Self, JournalError> {
        guarded(|| {
            let config =
                Config::new().path(folder).flush_every_ms(Some(FLUSH_EVERY_MS)).cache_capacity(CACHE_BYTES);
            let db = config.open()?;
            let (events, runs) = (db.open_tree("events")?, db.open_tree("runs")?);
            Ok(Self { db, events, runs })
        })
    }

    fn begin(&self, id: RunId, run: &Run) -> Result<(), JournalError> {
        let json = serde_json::to_vec(run).map_err(|error| JournalError::Store(error.to_string()))?;
        guarded(|| Ok(self.runs.insert(id.0.to_be_bytes(), json.as_slice()).map(drop)?))
    }

    fn run(&self, id: RunId) -> Result<Option<Run>, JournalError> {
        let json = guarded(|| Ok(self.runs.get(id.0.to_be_bytes())?))?;
        Ok(json.and_then(|json| serde_json::from_slice(&json).ok()))
    }

    /// All or none of them, and how many bytes they took.
    fn append(&self, run: RunId, events: &[Recorded]) -> Result<u64, JournalError> {
        if self.run(run)?.is_none() {
            return Err(JournalError::NoRun(run));
        }
        let mut batch = Batch::default();
        let mut bytes = 0;
        for event in events {
            let record = encode(event);
            bytes += record.len() as u64;
            batch.insert(&key(run, event.seq), record);
        }
        guarded(|| Ok(self.events.apply_batch(batch)?))?;
        Ok(bytes)
    }

    fn flush(&self) -> Result<(), JournalError> {
        guarded(|| Ok(self.db.flush().map(drop)?))
    }

    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        guarded(|| {
            let mut all = Vec::new();
            for entry in &self.runs {
                let (id, json) = entry?;
                let (Ok(id), Ok(run)) = (<[u8; 8]>::try_from(&*id), serde_json::from_slice(&json)) else {
                    continue;
                };
                let id = RunId(u64::from_be_bytes(id));
                let mut keys = self.events.scan_prefix(id.0.to_be_bytes()).keys();
                let last = keys.next_back().transpose()?;
                let events = keys.count() as u64 + u64::from(last.is_some());
                let last_seq =
                    last.and_then(|key| Some(u64::from_be_bytes(key.get(8..16)?.try_into().ok()?)));
                all.push(Summary { id, run, last_seq: last_seq.unwrap_or(0), events });
            }
            Ok(all)
        })
    }

    /// Adds what is kept here of a run, and says whether it is known here.
    fn read(&self, run: RunId, into: &mut Vec<Recorded>, unreadable: &mut u64) -> Result<bool, JournalError> {
        let known = self.run(run)?.is_some();
        guarded(|| {
            for entry in self.events.scan_prefix(run.0.to_be_bytes()) {
                match decode(&entry?.1) {
                    Some(event) => into.push(event),
                    None => *unreadable += 1,
                }
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

/// Opens a store; failing that, without its snapshot files; failing that, a new one in its place.
fn open_or_replace(
    generations: &Generations,
    number: u64,
    repairs: &mut Vec<String>,
) -> Result<(u64, Store), JournalError> {
    let folder = generations.folder(number);
    let first = match Store::open(&folder) {
        Ok(store) => return Ok((number, store)),
        // Not damaged: somebody is writing to it this moment.
        Err(JournalError::Store(text)) if text.contains(LOCKED) => return Err(JournalError::InUse(folder)),
        Err(error) => error,
    };
    if remove_snapshots(&folder)
        && let Ok(store) = Store::open(&folder)
    {
        repairs.push(format!("the journal was damaged ({first}) and repaired: nothing is lost"));
        return Ok((number, store));
    }
    let aside =
        generations.set_aside(number).map_err(|source| JournalError::Folder { path: folder, source })?;
    repairs.push(format!(
        "the journal was damaged ({first}) and could not be repaired: it is set aside in {}",
        aside.display()
    ));
    let number = number + 1;
    Ok((number, Store::open(&generations.folder(number))?))
}

/// How sled says that another process holds the store; it has no error of its own for that.
const LOCKED: &str = "could not acquire lock";

/// sled builds them again from its log.
fn remove_snapshots(folder: &Path) -> bool {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let snapshots =
        entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with("snap.")));
    snapshots.filter(|entry| fs::remove_file(entry.path()).is_ok()).count() > 0
}
