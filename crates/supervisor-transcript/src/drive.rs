//! Replaying our own recordings: the machine is given the same inputs at the same times.
//!
//! What reads the lines and gathers what comes of them serves for observing too.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use supervisor_core::limits::REASON_WAIT;
use supervisor_core::{At, Effect, Input, Machine, Snapshot, Step};

use crate::error::{Damage, TranscriptError};
use crate::header::Header;
use crate::line::{Entry, Line};
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
}

impl Driver {
    /// A machine as the header describes it.
    #[must_use]
    pub fn new(header: &Header) -> Self {
        Self { machine: Machine::new(&header.beginning), observes: header.beginning.observes.is_some() }
    }

    /// Gives the machine what a line says; `None` for a line that is no input (`send`, `lost`; for an observer, all but
    /// `send` and `recv`).
    ///
    /// # Errors
    /// When the machine fails inside, a fault of this program: as in a live task, that input is lost and counted.
    pub fn feed(&mut self, line: &Line<'_>) -> Option<Result<Step, String>> {
        let input = if self.observes { line.observed() } else { line.input() };
        input.map(|input| self.step(line.at, input))
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
        self.line = numbered.number;
        self.at = numbered.line.at;
        match self.driver.feed(&numbered.line) {
            Some(step) => {
                self.counts.inputs += 1;
                self.gather(numbered.line.at, step);
            }
            None => self.count(&numbered.line.entry),
        }
        &self.sends[before..]
    }

    fn count(&mut self, entry: &Entry<'_>) {
        match entry {
            Entry::Lost { lines } => self.counts.lost_lines = self.counts.lost_lines.saturating_add(*lines),
            Entry::Send { .. } => self.counts.recorded_sends += 1,
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
        let mut warnings = header.warnings();
        if self.counts.lost_lines > 0 {
            warnings.push(format!(
                "{} lines were lost while recording: what comes after them may differ from the live run",
                self.counts.lost_lines
            ));
        }
        Replayed {
            warnings,
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
        Effect::Send { text, .. } => Some(Sent { line, at, text }),
        _ => None,
    }
}

fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message").to_owned()
}
