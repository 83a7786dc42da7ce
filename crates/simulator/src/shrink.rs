//! A failure made small: ops are left out as long as the same rule is broken.

use crate::op::Op;
use crate::plan::Plan;
use crate::simulate::{Failure, play};

/// The smallest failure that was found.
#[derive(Debug, Clone)]
pub struct Shrunk {
    /// The failure.
    pub failure: Failure,
    /// How many runs it took.
    pub tries: usize,
}

impl Failure {
    /// Leaves out whatever it can within so many tries: half of the ops, then quarters, down to single ones. The orders
    /// in which messages come become the simplest where that does.
    #[must_use]
    pub fn shrunk(&self, most_tries: usize) -> Shrunk {
        let mut search = Search { found: Shrunk { failure: self.clone(), tries: 0 }, most_tries };
        search.simplify_order();
        let mut size = self.ops.len().div_ceil(2);
        while size > 0 && search.has_tries() {
            let is_smaller = search.leave_out(size);
            size = match (is_smaller, size) {
                (true, 1) => 1,
                (false, 1) => 0,
                _ => size.div_ceil(2).min(size - 1),
            };
        }
        search.found
    }
}

struct Search {
    found: Shrunk,
    most_tries: usize,
}

impl Search {
    fn has_tries(&self) -> bool {
        self.found.tries < self.most_tries
    }

    fn simplify_order(&mut self) {
        let mut plan = self.found.failure.plan.clone();
        plan.order = 0;
        let ops = self.found.failure.ops.clone();
        self.attempt(&plan, &ops);
    }

    /// Leaves out runs of this length, last first. Whether any could be.
    fn leave_out(&mut self, size: usize) -> bool {
        let mut any = false;
        let mut end = self.found.failure.ops.len();
        while end > 0 && self.has_tries() {
            let start = end.saturating_sub(size);
            let ops = &self.found.failure.ops;
            let rest: Vec<Op> = ops.iter().take(start).chain(ops.iter().skip(end)).cloned().collect();
            let plan = self.found.failure.plan.clone();
            any |= self.attempt(&plan, &rest);
            end = start.min(self.found.failure.ops.len());
        }
        any
    }

    /// Keeps the run if it breaks the same rule.
    fn attempt(&mut self, plan: &Plan, ops: &[Op]) -> bool {
        self.found.tries += 1;
        match play(plan, ops, false) {
            Err(failure) if failure.rule() == self.found.failure.rule() => {
                self.found.failure = *failure;
                true
            }
            _ => false,
        }
    }
}
