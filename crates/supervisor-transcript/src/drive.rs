//! Replaying our own recordings: the machine is given the same inputs at the same times.
//!
//! What reads the lines and gathers what comes of them serves for observing too.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use supervisor_core::limits::REASON_WAIT;
use supervisor_core::{At, Checkpoint, Effect, GuardEffect, Input, Machine, Snapshot, Step};

use crate::error::{Damage, TranscriptError};
use crate::header::Header;
use crate::line::{Entry, GuardEntry, Line};
use crate::lines::Lines;
use crate::reader::{Numbered, Reader};
use crate::replayed::{Counts, Fault, Replayed, Sent};

/// Replays a recording to its end, or to where it is damaged.
///
/// # Errors
/// When it has no header of ours. Damage further on is part of the result.
pub fn drive(recording: &(impl AsRef<[u8]> + ?Sized)) -> Result<Replayed, TranscriptError> {
    play(Reader::new(recording)?, None, |_, _| Ok(()))
}

/// Replays what happened up to and including `until`, deadlines that pass by then among it.
///
/// # Errors
/// As [`drive`].
pub fn drive_until(recording: &(impl AsRef<[u8]> + ?Sized), until: At) -> Result<Replayed, TranscriptError> {
    play(Reader::new(recording)?, Some(until), |_, _| Ok(()))
}

/// A machine that is given the lines of a recording, one at a time.
#[derive(Debug)]
pub struct Driver {
    machine: Machine,
    observes: bool,
    /// The part of the recording that the last line was in.
    part: u32,
    /// Whether lines are missing that the machine did not see.
    has_gap: bool,
}

impl Driver {
    /// A machine as the header describes it.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        let (machine, observes) = (Machine::new(&header.beginning), header.beginning.observes.is_some());
        Self { machine, observes, part: header.part, has_gap: header.part > 1 }
    }

    /// Gives the machine what a line says; `None` for a line that is no input (`send`, `lost`, the header of a part; for an
    /// observer, all but `send` and `recv`), and for a checkpoint that is as expected.
    ///
    /// # Errors
    /// When the machine fails inside, a fault of this program: as in a live task, that input is lost and counted. When a
    /// checkpoint cannot be read, or is not what the machine knows though no line is missing; the machine goes on from it.
    pub fn feed(&mut self, line: &Line<'_>) -> Option<Result<Step, String>> {
        match &line.entry {
            Entry::Lost { .. } => self.has_gap = true,
            Entry::Part(header) => {
                self.has_gap |= header.part != self.part.saturating_add(1);
                self.part = header.part;
            }
            Entry::Checkpoint { json, .. } => return self.checkpoint(json).err().map(Err),
            _ => {}
        }
        let input = if self.observes { line.observed() } else { line.input() };
        input.map(|input| self.step(line.at, input))
    }

    /// Whether the machine does not know what it should, because lines are missing.
    #[must_use]
    pub fn has_gap(&self) -> bool {
        self.has_gap
    }

    fn checkpoint(&mut self, json: &str) -> Result<(), String> {
        let read: Result<Checkpoint, _> = serde_json::from_str(json);
        let checkpoint = read.map_err(|error| format!("the checkpoint cannot be read: {error}"))?;
        if self.machine.is_at(&checkpoint) {
            self.has_gap = false;
            return Ok(());
        }
        self.machine = Machine::resume(checkpoint);
        match std::mem::take(&mut self.has_gap) {
            true => Ok(()),
            false => {
                Err("the replay does not know what the live run knew here; it goes on from that".to_owned())
            }
        }
    }

    /// Lets time pass without an input.
    ///
    /// # Errors
    /// As [`Driver::feed`].
    pub fn wait_until(&mut self, at: At) -> Result<Step, String> {
        self.step(at, Input::Tick)
    }

    /// The machine as of the last line.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// The snapshot as of the last line.
    pub fn snapshot(&mut self) -> Arc<Snapshot> {
        self.machine.snapshot()
    }

    fn step(&mut self, at: At, input: Input<'_>) -> Result<Step, String> {
        let step = catch_unwind(AssertUnwindSafe(|| self.machine.step(at, input)));
        step.map_err(|panic| {
            self.machine.count_fault();
            message_of(&*panic)
        })
    }
}

/// Replays, and shows each line with what the machine sent for it to `watch`, which may end the replay.
///
/// A `send` line comes with nothing sent.
pub(crate) fn play<'a>(
    mut reader: Reader<Lines<'a>>,
    until: Option<At>,
    mut watch: impl FnMut(&Numbered<'a>, &[Sent]) -> Result<(), TranscriptError>,
) -> Result<Replayed, TranscriptError> {
    let mut run = Run::new(reader.header());
    let mut damage = None;
    for read in reader.by_ref() {
        match read {
            Ok(numbered) if until.is_some_and(|until| numbered.line.at > until) => break,
            Ok(numbered) => watch(&numbered, run.line(&numbered))?,
            Err(found) => damage = Some(found),
        }
    }
    if let Some(until) = until.or_else(|| run.settled()).filter(|_| damage.is_none()) {
        run.wait_until(until);
    }
    run.counts.unknown_lines = reader.unknown().clone();
    Ok(run.end(reader.header().clone(), damage))
}

/// A replay under way, and what it gathered.
struct Run {
    driver: Driver,
    warnings: Vec<String>,
    events: Vec<supervisor_core::Recorded>,
    sends: Vec<Sent>,
    counts: Counts,
    /// The line that was fed last.
    line: usize,
    /// Its stamp.
    at: At,
}

impl Run {
    fn new(header: &Header) -> Self {
        Self {
            driver: Driver::new(header),
            warnings: header.warnings(),
            events: Vec::new(),
            sends: Vec::new(),
            counts: Counts::default(),
            line: 1,
            at: At(0),
        }
    }

    /// Feeds a line and gives what was sent for it.
    fn line(&mut self, numbered: &Numbered<'_>) -> &[Sent] {
        let before = self.sends.len();
        let had_gap = self.driver.has_gap();
        self.line = numbered.number;
        self.at = numbered.line.at;
        let fed = self.driver.feed(&numbered.line);
        match (&numbered.line.entry, fed) {
            (Entry::Checkpoint { .. }, fed) => self.checkpoint(had_gap, fed.and_then(Result::err)),
            (_, Some(step)) => {
                self.counts.inputs += 1;
                self.gather(numbered.line.at, step);
            }
            (entry, None) => self.count(entry),
        }
        &self.sends[before..]
    }

    /// What comes after a checkpoint is again as it was live.
    fn checkpoint(&mut self, had_gap: bool, failure: Option<String>) {
        let (line, at) = (self.line, self.at);
        if let Some(why) = failure {
            self.counts.wrong_checkpoints.push(Fault { line, message: why });
        } else if had_gap {
            self.warnings.push(format!("line {line}: it is known again what the live run knew at {at:?}"));
        }
    }

    fn count(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Lost { lines } => self.counts.lost_lines = self.counts.lost_lines.saturating_add(*lines),
            Entry::Send { .. } | Entry::Guard(GuardEntry::Send { .. }) => self.counts.recorded_sends += 1,
            Entry::Part(header) if self.driver.has_gap() => {
                self.warnings
                    .push(format!("line {}: parts before part {} are missing", self.line, header.part));
            }
            _ => {}
        }
    }

    /// Nothing comes after another client's transcript: what waits for a further cause is settled. A recording of ours
    /// ends where the task did.
    fn settled(&self) -> Option<At> {
        self.driver.observes.then(|| self.at.after(REASON_WAIT))
    }

    fn wait_until(&mut self, at: At) {
        let step = self.driver.wait_until(at);
        self.gather(at, step);
    }

    fn gather(&mut self, at: At, step: Result<Step, String>) {
        match step {
            Ok(step) => {
                self.events.extend(step.events);
                self.sends.extend(step.effects.into_iter().filter_map(|effect| sent(self.line, at, effect)));
            }
            Err(message) => self.counts.faults.push(Fault { line: self.line, message }),
        }
    }

    fn end(mut self, header: Header, damage: Option<Damage>) -> Replayed {
        self.counts.meters = *self.driver.machine().meters();
        if self.counts.lost_lines > 0 {
            self.warnings.push(format!(
                "{} lines were lost while recording: what comes after them, up to a checkpoint, may differ from the \
                 live run",
                self.counts.lost_lines
            ));
        }
        Replayed {
            warnings: self.warnings,
            header,
            snapshot: self.driver.snapshot(),
            events: self.events,
            sends: self.sends,
            counts: self.counts,
            damage,
        }
    }
}

fn sent(line: usize, at: At, effect: Effect) -> Option<Sent> {
    match effect {
        Effect::Send { text, .. } => Some(Sent { line, at, text, by_guard: false }),
        Effect::Guard(GuardEffect::Send { text }) => Some(Sent { line, at, text, by_guard: true }),
        _ => None,
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
