//! What was found so far, told as it is found.

use std::time::{Duration, Instant};

use crate::report::{Outcome, Verdict};
use crate::row::Row;
use crate::run::Progress;

/// Whoever wants to know how far the probe is.
pub(crate) type Tell<'t> = &'t mut (dyn FnMut(Progress<'_>) + Send);

/// Keeps and tells outcomes. A check that is broken off leaves what it found until then.
pub(crate) struct Notes<'t> {
    tell: Tell<'t>,
    outcomes: Vec<Outcome>,
    begun: Instant,
}

impl<'t> Notes<'t> {
    pub(crate) fn new(tell: Tell<'t>) -> Self {
        Self { tell, outcomes: Vec::new(), begun: Instant::now() }
    }

    /// Something that is no outcome.
    pub(crate) fn tell(&mut self, progress: Progress<'_>) {
        (self.tell)(progress);
    }

    /// The next check begins.
    pub(crate) fn begin(&mut self) {
        self.begun = Instant::now();
    }

    /// An answer. The first one to a question counts.
    pub(crate) fn note(&mut self, row: Row, verdict: Verdict) {
        if self.outcomes.iter().any(|outcome| outcome.row == row) {
            return;
        }
        let outcome = Outcome { row, verdict, ms: millis(self.begun.elapsed()) };
        (self.tell)(Progress::Answered(&outcome));
        self.outcomes.push(outcome);
    }

    /// All answers, in the order of the report; what was never asked is unknown.
    pub(crate) fn outcomes(mut self) -> Vec<Outcome> {
        let unasked = Row::ALL.iter().filter(|row| self.outcomes.iter().all(|it| it.row != **row));
        let unasked: Vec<_> = unasked
            .map(|row| Outcome { row: *row, verdict: Verdict::unknown("not_measured"), ms: 0 })
            .collect();
        self.outcomes.extend(unasked);
        self.outcomes.sort_by_key(|outcome| outcome.row);
        self.outcomes
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_answer_counts_and_is_told_once() {
        let mut told = Vec::new();
        let mut tell = |progress: Progress<'_>| {
            if let Progress::Answered(outcome) = progress {
                told.push(outcome.verdict.to_string());
            }
        };
        let mut notes = Notes::new(&mut tell);
        notes.note(Row::Oopif, Verdict::no("same_process"));
        notes.note(Row::Alert, Verdict::yes());
        notes.note(Row::Alert, Verdict::unknown("timeout"));
        let outcomes = notes.outcomes();
        assert_eq!(told, ["no: same_process", "yes"]);
        assert_eq!(outcomes.len(), Row::ALL.len());
        assert!(outcomes.is_sorted_by_key(|outcome| outcome.row));
        let of = |row| outcomes.iter().find(|it| it.row == row).map(|it| it.verdict.to_string());
        assert_eq!(of(Row::Alert).as_deref(), Some("yes"));
        assert_eq!(of(Row::FrameTree).as_deref(), Some("unknown: not_measured"));
    }
}
