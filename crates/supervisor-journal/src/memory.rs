//! A journal in memory: for tests, and for hosts that want no disk.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::packed::Block;
use crate::port::{Journal, Kept, Run, RunId, Summary};

/// Events that are kept in memory, all runs together, if not told otherwise: some tens of megabytes.
pub const MEMORY_EVENTS: usize = 100_000;

/// Keeps the last events in memory.
#[derive(Debug)]
pub struct MemoryJournal {
    runs: BTreeMap<RunId, (Run, VecDeque<Recorded>)>,
    live: BTreeSet<RunId>,
    max_events: usize,
    events: usize,
    last: u64,
}

impl Default for MemoryJournal {
    fn default() -> Self {
        Self::bounded(MEMORY_EVENTS)
    }
}

impl MemoryJournal {
    /// A journal that keeps so many events; the oldest run's go first.
    #[must_use]
    pub fn bounded(max_events: usize) -> Self {
        Self { runs: BTreeMap::new(), live: BTreeSet::new(), max_events, events: 0, last: 0 }
    }

    fn make_room(&mut self) {
        while self.events > self.max_events {
            let oldest = self.runs.iter_mut().find(|(_, (_, events))| !events.is_empty());
            let Some((id, (_, events))) = oldest else { return };
            let id = *id;
            events.pop_front();
            self.events -= 1;
            if events.is_empty() && !self.live.contains(&id) {
                self.runs.remove(&id);
            }
        }
    }
}

impl Journal for MemoryJournal {
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError> {
        self.last += 1;
        let id = RunId(self.last);
        self.runs.insert(id, (run.clone(), VecDeque::new()));
        self.live.insert(id);
        Ok(id)
    }

    fn append_blocks(&mut self, run: RunId, blocks: &[Block]) -> Result<(), JournalError> {
        let live = self.live.contains(&run).then(|| self.runs.get_mut(&run)).flatten();
        let (_, kept) = live.ok_or(JournalError::NoRun(run))?;
        let before = kept.len();
        kept.extend(blocks.iter().flat_map(Block::events));
        self.events += kept.len() - before;
        self.make_room();
        Ok(())
    }

    fn end(&mut self, run: RunId) -> Result<(), JournalError> {
        self.live.remove(&run);
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        let summary = |(id, (run, events)): (&RunId, &(Run, VecDeque<Recorded>))| Summary {
            id: *id,
            run: run.clone(),
            last_seq: events.back().map_or(0, |event| event.seq),
            events: events.len() as u64,
        };
        Ok(self.runs.iter().map(summary).collect())
    }

    fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        let (_, events) = self.runs.get(&run).ok_or(JournalError::NoRun(run))?;
        Ok(Kept::new(events.iter().cloned().collect(), 0))
    }
}
