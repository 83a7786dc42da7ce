//! Writes a run down as it happens, and folds its events a second time.

use std::sync::Arc;

use supervisor_core::{At, Beginning, Effect, Machine, Snapshot, State, Step};
use supervisor_transcript::{Header, Writer};

use crate::input::Owned;
use crate::rules::check;
use crate::rules::dialogs::Ledger;

/// Snapshots are costly to build from nothing: they are compared once in so many steps.
const SNAPSHOT_EVERY: u64 = 16;

/// A moment is remembered, for the comparison with what a replay of the beginning gives, once in so many steps.
const MARK_EVERY: u64 = 397;

#[derive(Debug)]
pub(crate) struct Witness {
    writer: Writer,
    pub(crate) recording: Vec<u8>,
    /// What the events alone give.
    folded: State,
    pub(crate) ledger: Ledger,
    pub(crate) marks: Vec<Mark>,
    steps: u64,
}

/// A moment of the run.
#[derive(Debug)]
pub(crate) struct Mark {
    /// How long the recording was.
    pub(crate) bytes: usize,
    /// How many events there were.
    pub(crate) events: usize,
    pub(crate) snapshot: Arc<Snapshot>,
}

impl Witness {
    pub(crate) fn new(beginning: &Beginning) -> Self {
        let mut recording = Vec::new();
        let header = Header::new(beginning.clone(), "simulated");
        let writer = Writer::begin(&header, &mut recording);
        let folded = Machine::new(beginning).state().clone();
        Self { writer, recording, folded, ledger: Ledger::default(), marks: Vec::new(), steps: 0 }
    }

    pub(crate) fn before(&mut self, at: At, input: &Owned) {
        self.writer.input(at, &input.borrow(), &mut self.recording);
    }

    /// `events`: how many there were before.
    pub(crate) fn after(&mut self, at: At, step: &Step, machine: &mut Machine, events: usize) {
        for effect in &step.effects {
            if let Effect::Send { text, .. } = effect {
                self.writer.sent(at, text, &mut self.recording);
            }
        }
        step.events.iter().for_each(|recorded| self.folded.apply(recorded));
        check("the state is the fold of the events", self.folded == *machine.state(), || {
            format!("after {:?}", step.events)
        });
        self.ledger.enter(&step.events);
        self.ledger.agrees(&machine.state().dialogs);
        self.steps += 1;
        if self.steps.is_multiple_of(SNAPSHOT_EVERY) {
            let (shown, afresh) = (machine.snapshot(), machine.snapshot_afresh());
            check("the snapshot is what the state shows", shown == afresh, || {
                format!("after {:?}, it is {shown:#?}, should be {afresh:#?}", step.events)
            });
        }
        if self.steps.is_multiple_of(MARK_EVERY) {
            let (bytes, events) = (self.recording.len(), events + step.events.len());
            self.marks.push(Mark { bytes, events, snapshot: machine.snapshot() });
        }
    }
}
