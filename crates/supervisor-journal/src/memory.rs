//! A journal in memory: for tests, and for hosts that want no disk.

use std::collections::BTreeMap;

use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::port::{Journal, Kept, Run, RunId, Summary};

/// Keeps events in memory, without a bound.
#[derive(Debug, Default)]
pub struct MemoryJournal {
    runs: BTreeMap<RunId, (Run, Vec<Recorded>)>,
}

impl Journal for MemoryJournal {
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError> {
        let id = self.runs.last_key_value().map_or(RunId(1), |(last, _)| RunId(last.0 + 1));
        self.runs.insert(id, (run.clone(), Vec::new()));
        Ok(id)
    }

    fn append(&mut self, run: RunId, events: &[Recorded]) -> Result<(), JournalError> {
        let (_, kept) = self.runs.get_mut(&run).ok_or(JournalError::NoRun(run))?;
        kept.extend_from_slice(events);
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), JournalError> {
        Ok(())
    }

    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        let summary = |(id, (run, events)): (&RunId, &(Run, Vec<Recorded>))| Summary {
            id: *id,
            run: run.clone(),
            last_seq: events.last().map_or(0, |event| event.seq),
            events: events.len() as u64,
        };
        Ok(self.runs.iter().map(summary).collect())
    }

    fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        let (_, events) = self.runs.get(&run).ok_or(JournalError::NoRun(run))?;
        Ok(Kept::new(events.clone(), 0))
    }
}
