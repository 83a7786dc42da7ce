//! A failure made small: ops are left out as long as the same rule is broken.

use supervisor_transcript::reduce;

use crate::op::Op;
use crate::plan::Plan;
use crate::simulate::{Failure, play};

/// The smallest failure that was found.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The failure.
    pub failure: Failure,
    /// How many runs it took.
    pub tries: u64,
}

impl Failure {
    /// Leaves out whatever it can within so many tries. The order in which messages come becomes the simplest, where that
    /// does.
    #[must_use]
    pub fn shrunk(&self, most_tries: u64) -> Shrunk {
        let simplest = Plan { order: 0, ..self.plan.clone() };
        let plan =
            if self.breaks_again(&simplest, &self.ops).is_some() { simplest } else { self.plan.clone() };
        let mut smallest = self.clone();
        let holds = |ops: &[Op]| match self.breaks_again(&plan, ops) {
            Some(failure) => {
                smallest = failure;
                true
            }
            None => false,
        };
        let (_, progress) = reduce(&self.ops, holds, |progress| progress.tries < most_tries);
        Shrunk { failure: smallest, tries: progress.tries }
    }

    /// The failure of this run, if it breaks the same rule.
    fn breaks_again(&self, plan: &Plan, ops: &[Op]) -> Option<Failure> {
        play(plan, ops, false).err().filter(|failure| failure.rule() == self.rule()).map(|failure| *failure)
    }
}
