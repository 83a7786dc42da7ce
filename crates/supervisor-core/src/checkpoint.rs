//! Everything that a machine knows at one moment, to go on from there.
//!
//! A long recording is written in parts, and old ones are dropped: each part begins with one of these, so that it can be
//! replayed without the parts before.

use serde::{Deserialize, Serialize};

use crate::machine::{Desk, Machine};
use crate::snapshot::view::View;
use crate::state::State;

/// What a machine knows. It is written and read as JSON; what is in it is the business of the version that wrote it.
///
/// It holds page texts, typed answers, and expressions of calls that wait.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    state: State,
    desk: Desk,
}

impl Machine {
    /// What the machine knows now.
    #[must_use]
    pub fn checkpoint(&self) -> Checkpoint {
        Checkpoint { state: self.state.clone(), desk: self.desk.clone() }
    }

    /// A machine that goes on from there: the same inputs give the same events and effects as in the one before.
    #[must_use]
    pub fn resume(checkpoint: Checkpoint) -> Self {
        Self { state: checkpoint.state, desk: checkpoint.desk, view: View::default() }
    }

    /// Whether this is what the machine knows.
    #[must_use]
    pub fn is_at(&self, checkpoint: &Checkpoint) -> bool {
        self.state == checkpoint.state && self.desk == checkpoint.desk
    }
}
