//! Writes a run down as it happens, and holds each step against the rules.

use std::sync::Arc;

use supervisor_core::{At, Beginning, Effect, GuardEffect, Machine, Snapshot, Step};
use supervisor_transcript::{Header, Writer};

use crate::audit::Auditor;
use crate::input::Owned;

/// A moment is remembered, for the comparison with what a replay of the beginning gives, once in so many steps.
const MARK_EVERY: u64 = 397;

#[derive(Debug)]
pub(crate) struct Witness {
    writer: Writer,
    pub(crate) recording: Vec<u8>,
    pub(crate) marks: Vec<Mark>,
    auditor: Auditor,
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
        let auditor = Auditor::of(&Machine::new(beginning));
        Self { writer, recording, marks: Vec::new(), auditor, steps: 0 }
    }

    pub(crate) fn before(&mut self, at: At, input: &Owned) {
        self.writer.input(at, &input.borrow(), &mut self.recording);
    }

    /// `events`: how many there were before.
    pub(crate) fn after(&mut self, at: At, step: &Step, machine: &mut Machine, events: usize) {
        for effect in &step.effects {
            match effect {
                Effect::Send { text, .. } => self.writer.sent(at, text, &mut self.recording),
                Effect::Guard(GuardEffect::Send { text }) => {
                    self.writer.sent_by_guard(at, text, &mut self.recording);
                }
                _ => {}
            }
        }
        self.auditor.after(step, machine);
        self.steps += 1;
        if self.steps.is_multiple_of(MARK_EVERY) {
            let (bytes, events) = (self.recording.len(), events + step.events.len());
            self.marks.push(Mark { bytes, events, snapshot: machine.snapshot() });
        }
    }
}
