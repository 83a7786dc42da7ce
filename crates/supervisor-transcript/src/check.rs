//! Comparing what a replay sends with what was sent when the recording was made.

use std::collections::VecDeque;
use std::fmt;

use supervisor_core::At;

use crate::drive::play;
use crate::error::{TranscriptError, beginning_of};
use crate::line::{Entry, GuardEntry};
use crate::reader::{Numbered, Reader};
use crate::replayed::{Replayed, Sent};

/// Inputs before a difference that are shown: the cause is nearly always the last, sometimes the one before.
const SHOWN_INPUTS: usize = 3;

/// Replays a recording and holds what the machine sends against the `send` lines, one by one and in order.
///
/// A message must be sent for the same input as when it was recorded, with the same bytes.
///
/// # Errors
/// The first `Difference`; `Checkpoint` where the machine does not know what it knew when it was recorded; `Damaged` or
/// `Lost`, because the rest cannot be checked; or what [`drive`](crate::drive) refuses.
pub fn check(recording: &(impl AsRef<[u8]> + ?Sized)) -> Result<Replayed, TranscriptError> {
    let mut checker = Checker::default();
    let replayed = play(Reader::new(recording)?, None, |line, sent| checker.line(line, sent))?;
    if let Some(damage) = &replayed.damage {
        return Err(damage.clone().into());
    }
    match replayed.counts.wrong_checkpoints.first() {
        Some(fault) => Err(TranscriptError::Checkpoint(fault.clone())),
        None => checker.nothing_owed().map(|()| replayed),
    }
}

/// The first place where a replay does not send what was recorded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Difference {
    /// The line: of the recorded message, or of the input for which the replay sent one that was not recorded.
    pub line: usize,
    /// Its stamp.
    pub at: At,
    /// What was recorded; none when the replay sent something more.
    pub recorded: Option<String>,
    /// What the replay sent; none when it sent nothing there.
    pub sent: Option<String>,
    /// The last inputs before, oldest first: their line numbers and lines, shortened.
    pub inputs: Vec<(usize, String)>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |text: &Option<String>| text.clone().unwrap_or_else(|| "nothing".to_owned());
        writeln!(f, "line {} ({:?}): the replay does not send what was recorded", self.line, self.at)?;
        writeln!(f, "  recorded: {}", shown(&self.recorded))?;
        writeln!(f, "  sent:     {}", shown(&self.sent))?;
        write!(f, "  after:")?;
        self.inputs.iter().try_for_each(|(number, text)| write!(f, "\n    {number}: {text}"))
    }
}

#[derive(Default)]
struct Checker<'a> {
    /// What the replay sent and the recording has not shown yet.
    owed: VecDeque<Sent>,
    /// The last inputs.
    inputs: VecDeque<(usize, &'a str)>,
}

impl<'a> Checker<'a> {
    fn line(&mut self, numbered: &Numbered<'a>, sent: &[Sent]) -> Result<(), TranscriptError> {
        match &numbered.line.entry {
            Entry::Send { text } => return self.recorded(numbered, text, false),
            Entry::Guard(GuardEntry::Send { text }) => return self.recorded(numbered, text, true),
            Entry::Lost { lines } => {
                return Err(TranscriptError::Lost { line: numbered.number, lines: *lines });
            }
            Entry::Checkpoint { .. } | Entry::Part(_) => return self.nothing_owed(),
            _ => self.nothing_owed()?,
        }
        if self.inputs.len() == SHOWN_INPUTS {
            self.inputs.pop_front();
        }
        self.inputs.push_back((numbered.number, numbered.text));
        self.owed.extend(sent.iter().cloned());
        Ok(())
    }

    fn recorded(
        &mut self,
        numbered: &Numbered<'a>,
        text: &str,
        by_guard: bool,
    ) -> Result<(), TranscriptError> {
        let sent = self.owed.pop_front();
        if sent.as_ref().is_some_and(|sent| sent.text == text && sent.by_guard == by_guard) {
            return Ok(());
        }
        let (recorded, sent) = (on(by_guard, text), sent.map(|sent| on(sent.by_guard, &sent.text)));
        Err(self.difference(numbered.number, numbered.line.at, Some(recorded), sent))
    }

    /// All that was sent for the last input must have been recorded before the next.
    fn nothing_owed(&mut self) -> Result<(), TranscriptError> {
        match self.owed.pop_front() {
            None => Ok(()),
            Some(sent) => {
                let text = on(sent.by_guard, &sent.text);
                Err(self.difference(sent.line, sent.at, None, Some(text)))
            }
        }
    }

    fn difference(
        &self,
        line: usize,
        at: At,
        recorded: Option<String>,
        sent: Option<String>,
    ) -> TranscriptError {
        let inputs = self.inputs.iter().map(|(number, text)| (*number, beginning_of(text))).collect();
        Box::new(Difference { line, at, recorded, sent, inputs }).into()
    }
}

/// A message, with the connection if that is not the main one.
fn on(guard: bool, text: &str) -> String {
    if guard { format!("(guard connection) {text}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Line;

    #[test]
    fn the_last_inputs_are_remembered() {
        let mut checker = Checker::default();
        let after = |checker: &mut Checker<'static>, number: usize| {
            let line = Line { at: At(0), entry: Entry::Tick };
            checker.line(&Numbered { number, line, text: "tick" }, &[]).unwrap();
            checker.inputs.iter().map(|(number, _)| *number).collect::<Vec<_>>()
        };
        let seen: Vec<_> = (1..=SHOWN_INPUTS + 1).map(|number| after(&mut checker, number)).collect();
        assert_eq!(seen[SHOWN_INPUTS - 1], (1..=SHOWN_INPUTS).collect::<Vec<_>>());
        assert_eq!(seen[SHOWN_INPUTS], (2..=SHOWN_INPUTS + 1).collect::<Vec<_>>());
    }
}
