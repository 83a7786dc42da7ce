//! The thread that owns the journal.
//!
//! It gathers for a moment before it writes: a store's cost is by the write, and so is that of waking a thread.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use crate::error::JournalError;
use crate::port::{Journal, RunId};
use crate::queue::{Shared, Taken, Work, steps};

/// Panics inside the store after which the journal is over: once may be chance, and a store that is broken costs each time.
pub const PANICS: u32 = 5;

/// The thread's own.
pub(crate) struct Desk<J> {
    journal: J,
    runs: HashMap<u64, RunId>,
    shared: Arc<Shared>,
    /// A store that fails keeps failing: the log hears of the first time.
    has_failed: bool,
}

impl<J: Journal> Desk<J> {
    pub(crate) fn new(journal: J, shared: Arc<Shared>) -> Self {
        Self { journal, runs: HashMap::new(), shared, has_failed: false }
    }

    /// Works until nobody can send any more, then makes sure that all is on disk. A store that panics loses what it was
    /// given; one that goes on doing so is not asked again.
    pub(crate) fn keep(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut panics = 0;
        while panics < PANICS
            && let Some(work) = shared.take()
        {
            panics += u32::from(!self.survives(work));
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let flushed = self.journal.barrier();
            self.note(flushed);
        }));
        shared.end();
    }

    /// `false` when the store panicked.
    fn survives(&mut self, work: Vec<Work<Taken>>) -> bool {
        let steps = steps(&work);
        // Whoever waits hears of a panic when these are dropped: once what was lost is counted.
        let waiting = waiting(&work);
        let survived = catch_unwind(AssertUnwindSafe(|| match work.is_empty() {
            true => {
                let tidied = self.journal.tidy();
                self.note(tidied);
            }
            false => self.work(work),
        }));
        if survived.is_err() {
            self.shared.lose(steps);
            self.note::<()>(Err(fault_inside()));
        }
        drop(waiting);
        survived.is_ok()
    }

    /// Steps of one run become one write. Those of several runs have no order among them.
    fn work(&mut self, work: Vec<Work<Taken>>) {
        let mut gathered = HashMap::<u64, Taken>::new();
        let mut ended = Vec::new();
        for next in work {
            match next {
                Work::Begin { run, what } => {
                    let begun = self.journal.begin(&what);
                    if let Some(id) = self.note(begun) {
                        self.runs.insert(run, id);
                    }
                }
                Work::Append { run, mut events } => {
                    let of_run = gathered.entry(run).or_default();
                    of_run.blocks.append(&mut events.blocks);
                    of_run.steps += events.steps;
                }
                Work::End { run } => ended.push(run),
                Work::Barrier { done } => {
                    self.append_all(&mut gathered);
                    let _ = done.send(self.journal.barrier());
                }
            }
        }
        self.append_all(&mut gathered);
        self.end_all(&ended);
    }

    fn append_all(&mut self, gathered: &mut HashMap<u64, Taken>) {
        for (run, Taken { blocks, steps }) in gathered.drain() {
            let added = self.runs.get(&run).map(|id| self.journal.append_blocks(*id, &blocks));
            if added.and_then(|added| self.note(added)).is_none() {
                self.shared.lose(steps);
            }
        }
    }

    /// Of all that end at once, with one flush.
    fn end_all(&mut self, ended: &[u64]) {
        for run in ended {
            if let Some(id) = self.runs.remove(run) {
                let ended = self.journal.end(id);
                self.note(ended);
            }
        }
        if !ended.is_empty() {
            let flushed = self.journal.barrier();
            self.note(flushed);
        }
    }

    fn note<T>(&mut self, result: Result<T, JournalError>) -> Option<T> {
        result
            .inspect_err(|error| {
                if !std::mem::replace(&mut self.has_failed, true) {
                    tracing::error!(%error, "the journal misses events; tasks go on without them");
                }
            })
            .ok()
    }
}

fn waiting(work: &[Work<Taken>]) -> Vec<SyncSender<Result<(), JournalError>>> {
    let waits = |it: &Work<Taken>| match it {
        Work::Barrier { done } => Some(done.clone()),
        _ => None,
    };
    work.iter().filter_map(waits).collect()
}

pub(crate) fn fault_inside() -> JournalError {
    JournalError::Store("a fault inside interrupted it; please report it".to_owned())
}
