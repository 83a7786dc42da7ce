//! The journal on disk: sled stores, one after the other.
//!
//! sled's files do not shrink, so what is too old or too much leaves with its whole store. A store that fails, when it is
//! opened or later, is repaired or left behind, and a new one begun: history may be lost, the service goes on.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use crate::error::JournalError;
use crate::generations::{Bounds, Generations};
use crate::packed::Block;
use crate::port::{Journal, Kept, Run, RunId, Summary};
use crate::store::Store;

/// Stores that are begun because the one before failed, in the life of a journal: beyond it the disk is to blame.
const MAX_RENEWALS: usize = 8;

/// A journal on disk.
#[derive(Debug)]
pub struct SledJournal {
    generations: Generations,
    bounds: Bounds,
    present: Store,
    number: u64,
    /// Runs that go on: a new store is told of them when they are next written to.
    live: BTreeMap<RunId, Run>,
    next: u64,
    /// Bytes of records since the size on disk was looked at.
    since_look: u64,
    renewals: usize,
    /// What had to be done to keep going.
    repairs: Vec<String>,
}

impl SledJournal {
    /// Opens the journal in this folder, which is made if need be, for its owner alone. A store that cannot be opened is
    /// repaired or set aside; [`repairs`](Self::repairs) says so.
    ///
    /// # Errors
    /// [`JournalError::Folder`]; [`JournalError::InUse`]; [`JournalError::Store`] when not even a new store can be made.
    pub fn open(folder: &Path, bounds: Bounds) -> Result<Self, JournalError> {
        let generations = Generations::open(folder)?;
        let number = generations.numbers().last().copied().unwrap_or(1);
        let mut repairs = Vec::new();
        let (number, present) = open_or_replace(&generations, number, &mut repairs)?;
        let live = BTreeMap::new();
        let mut journal =
            Self { generations, bounds, present, number, live, next: 1, since_look: 0, renewals: 0, repairs };
        journal.next = journal.next_run()?;
        journal.present.set_next(journal.next)?;
        journal.tidy()?;
        Ok(journal)
    }

    /// What had to be done to keep going, each a sentence for a log. Empty when all was well.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        &self.repairs
    }

    /// Bytes on disk.
    pub(crate) fn size(&self) -> u64 {
        self.generations.size()
    }

    /// A store that took the place of a damaged one does not know it.
    fn next_run(&self) -> Result<u64, JournalError> {
        match self.present.next()? {
            Some(next) => Ok(next),
            None => Ok(self.runs()?.last().map_or(0, |summary| summary.id.0) + 1),
        }
    }

    /// A new store takes over when the present one is full, or covers so much time that its oldest events are due.
    fn turn_over(&mut self) -> Result<(), JournalError> {
        self.since_look = 0;
        let (now, present) = (SystemTime::now(), self.number);
        let is_full = self.generations.size_of(present) >= self.bounds.generation();
        if is_full || self.generations.is_older(present, self.bounds.span(), now) {
            let flushed = self.present.flush();
            let full = self.renew()?;
            if let Err(error) = flushed {
                tracing::warn!(%error, "a full part of the journal could not be flushed");
                abandon(full);
            }
        }
        self.generations.prune(Some(self.number), &self.bounds, now);
        Ok(())
    }

    /// Gives the one before.
    fn renew(&mut self) -> Result<Store, JournalError> {
        let store = Store::open(&self.generations.make(self.number + 1)?)?;
        store.set_next(self.next)?;
        self.number += 1;
        Ok(std::mem::replace(&mut self.present, store))
    }

    fn add(&mut self, id: RunId, blocks: &[Block]) -> Result<(), JournalError> {
        let run = self.live.get(&id).ok_or(JournalError::NoRun(id))?;
        if !self.present.knows(id)? {
            self.present.begin(id, run)?;
        }
        self.present.append(id, blocks)
    }

    /// Does it, on a new store when the present one fails.
    fn persistently<T>(
        &mut self,
        mut action: impl FnMut(&mut Self) -> Result<T, JournalError>,
    ) -> Result<T, JournalError> {
        match action(self) {
            Err(JournalError::Store(why)) if self.renewals < MAX_RENEWALS => {
                self.renewals += 1;
                abandon(self.renew()?);
                let said = format!("the journal's store failed ({why}): it goes on in a new one");
                tracing::warn!("{said}");
                self.repairs.push(said);
                action(self)
            }
            done => done,
        }
    }

    /// The older stores, opened to be read; one that cannot be opened is passed over and told.
    fn older(&self) -> impl Iterator<Item = Store> + '_ {
        let numbers = self.generations.numbers().into_iter().filter(|number| *number != self.number);
        numbers
            .filter_map(|number| {
                let opened = Store::open_or_repair(&self.generations.folder(number));
                opened
                    .inspect_err(
                        |error| tracing::warn!(%error, number, "a part of the journal cannot be read"),
                    )
                    .ok()
            })
            .map(|(store, _)| store)
    }
}

/// sled flushes what is dropped, and may wait for ever where it cannot.
fn abandon(store: Store) {
    // Without a thread it is dropped here and now.
    let _ = std::thread::Builder::new().name("journal: old store".into()).spawn(move || drop(store));
}

impl Journal for SledJournal {
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError> {
        let id = RunId(self.next);
        self.persistently(|journal| {
            journal.present.begin(id, run)?;
            journal.present.set_next(id.0 + 1)
        })?;
        self.next += 1;
        self.live.insert(id, run.clone());
        Ok(id)
    }

    fn append_blocks(&mut self, run: RunId, blocks: &[Block]) -> Result<(), JournalError> {
        if self.since_look >= self.bounds.look_every() {
            self.turn_over()?;
        }
        self.persistently(|journal| journal.add(run, blocks))?;
        self.since_look += blocks.iter().map(|block| block.size() as u64).sum::<u64>();
        Ok(())
    }

    fn end(&mut self, run: RunId) -> Result<(), JournalError> {
        self.live.remove(&run);
        Ok(())
    }

    fn tidy(&mut self) -> Result<(), JournalError> {
        self.turn_over()
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
        all.sort_by_key(|summary| summary.id);
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

/// Opens a store, repaired if need be; failing that, a new one in its place.
fn open_or_replace(
    generations: &Generations,
    number: u64,
    repairs: &mut Vec<String>,
) -> Result<(u64, Store), JournalError> {
    let folder = generations.make(number)?;
    match Store::open_or_repair(&folder) {
        Ok((store, said)) => {
            repairs.extend(said);
            return Ok((number, store));
        }
        Err(error @ JournalError::InUse(_)) => return Err(error),
        Err(error) => {
            let aside = generations
                .set_aside(number)
                .map_err(|source| JournalError::Folder { path: folder, source })?;
            repairs.push(format!(
                "the journal was damaged ({error}) and could not be repaired: it is set aside in {}",
                aside.display()
            ));
        }
    }
    let number = number + 1;
    Ok((number, Store::open(&generations.make(number)?)?))
}

#[cfg(test)]
mod tests {
    use supervisor_core::{At, Event, Recorded};

    use super::*;

    fn event(seq: u64) -> Recorded {
        Recorded { seq, at: At(seq), event: Event::Stopped }
    }

    #[test]
    fn a_store_that_fails_is_left_behind_and_its_runs_go_on_in_a_new_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = SledJournal::open(folder.path(), Bounds::default()).unwrap();
        let run = Run { task: "a".into(), started_unix_us: 1, endpoint: String::new() };
        let (first, second) = (journal.begin(&run).unwrap(), journal.begin(&run).unwrap());
        journal.append(first, &[event(1)]).unwrap();
        let mut fails = true;
        let added = journal.persistently(|journal| match std::mem::take(&mut fails) {
            true => Err(JournalError::Store("no space".into())),
            false => journal.add(first, &Block::of(&[event(2)])),
        });
        assert!(added.is_ok() && journal.repairs()[0].contains("no space"), "{:?}", journal.repairs());
        journal.append(second, &[event(1)]).unwrap();
        assert_eq!(journal.number, 2);
        assert_eq!(journal.present.runs().unwrap().len(), 2);
        assert_eq!(journal.begin(&run).unwrap(), RunId(3));
    }

    #[test]
    fn a_disk_that_always_fails_is_not_tried_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = SledJournal::open(folder.path(), Bounds::default()).unwrap();
        let mut tried = 0;
        for _ in 0..MAX_RENEWALS + 3 {
            let failed: Result<(), _> = journal.persistently(|_| {
                tried += 1;
                Err(JournalError::Store("no space".into()))
            });
            failed.unwrap_err();
        }
        assert_eq!(tried, 2 * MAX_RENEWALS + 3);
        assert_eq!(journal.number, 1 + MAX_RENEWALS as u64);
    }
}
