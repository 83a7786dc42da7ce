//! Renderer processes: one per site and family of pages that can script each other.

use std::collections::{BTreeMap, BTreeSet};

use crate::ids::{Counter, ProcessNo};

/// Which documents share a renderer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Key {
    /// Those of one site in one family of pages.
    Site {
        /// The family.
        family: u32,
        /// The site.
        site: u8,
    },
    /// A renderer for one document alone (a sandboxed one, or the blank one of a new tab).
    Alone(u32),
}

/// All processes.
#[derive(Debug, Clone, Default)]
pub(crate) struct Processes {
    by_key: BTreeMap<Key, ProcessNo>,
    dead: BTreeSet<ProcessNo>,
    /// The number of the last execution context of each. A new process starts at 1 again.
    contexts: BTreeMap<ProcessNo, i64>,
    numbers: Counter,
}

impl Processes {
    /// The process for these documents: a living one, or a new one.
    pub(crate) fn get(&mut self, key: Key) -> ProcessNo {
        if let Some(process) = self.alive(key) {
            return process;
        }
        let process = ProcessNo(self.numbers.next());
        self.by_key.insert(key, process);
        process
    }

    /// The living process for these documents, if there is one.
    pub(crate) fn alive(&self, key: Key) -> Option<ProcessNo> {
        self.by_key.get(&key).copied().filter(|process| !self.is_dead(*process))
    }

    pub(crate) fn kill(&mut self, process: ProcessNo) {
        self.dead.insert(process);
    }

    pub(crate) fn is_dead(&self, process: ProcessNo) -> bool {
        self.dead.contains(&process)
    }

    /// The number of a new execution context.
    pub(crate) fn next_context(&mut self, process: ProcessNo) -> i64 {
        let last = self.contexts.entry(process).or_default();
        *last += 1;
        *last
    }
}
