//! Timers as data: what is due when. The shell owns the one sleep, until [`Deadlines::next`].

use std::collections::{BTreeMap, BTreeSet};

use cdp_wire::FrameId;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, DialogId, Req, Route};
use crate::time::At;

/// What a deadline is for. The order decides between two that are due at the same moment.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Due {
    /// The handshake must have been answered.
    Handshake,
    /// The connection is tried again.
    Reconnect,
    /// The browser is asked for a sign of life.
    Probe,
    /// It must have given one.
    ProbeAnswer,
    /// A session's set-up was silent for long enough to be looked at.
    Setup(Route),
    /// The watchdog dismisses the dialog.
    Dialog(DialogId),
    /// The answer to the dialog must have been confirmed.
    Confirm(DialogId),
    /// Whoever asked for the answer is told that nothing has become of it yet.
    Answer(DialogId),
    /// No further cause of the dialog's end will come.
    Reason(DialogId),
    /// A held request of the bridge is decided, by its number.
    Held(u64),
    /// The call's deadline.
    Call(CallId),
    /// The call waits for a document no longer.
    Context(CallId),
    /// The call's renderer, which a dialog may hold, must have answered.
    Suspect(CallId),
    /// The request for a late result waits no longer.
    Result(Req),
    /// The late result is dropped.
    Late(CallId),
    /// The orphan is taken for gone.
    Orphan(FrameId),
    /// `stop` waits no longer.
    Stop,
    /// The guard connection is tried again.
    GuardRetry,
    /// The guard connection must have answered.
    GuardAnswer,
    /// It is looked again whether a page floods.
    Flood(cdp_wire::TargetId),
    /// The objects of a session's console messages are let go.
    Objects(Route),
}

impl Due {
    /// Whether it is over within seconds when nothing happens any more; the others stand, or wait for somebody.
    fn passes(&self) -> bool {
        match self {
            Self::Setup(_) | Self::Confirm(_) | Self::Reason(_) | Self::Held(_) | Self::Context(_) => true,
            Self::Suspect(_) | Self::Orphan(_) | Self::Flood(_) | Self::Objects(_) => true,
            Self::Handshake | Self::Reconnect | Self::Probe | Self::ProbeAnswer | Self::Stop => false,
            Self::GuardRetry | Self::GuardAnswer => false,
            Self::Dialog(_) | Self::Answer(_) | Self::Call(_) | Self::Result(_) | Self::Late(_) => false,
        }
    }
}

/// The table of deadlines.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Vec<(Due, At)>", into = "Vec<(Due, At)>")]
pub struct Deadlines {
    by_due: BTreeMap<Due, At>,
    by_time: BTreeSet<(At, Due)>,
}

impl From<Vec<(Due, At)>> for Deadlines {
    fn from(all: Vec<(Due, At)>) -> Self {
        let by_time = all.iter().map(|(due, at)| (*at, due.clone())).collect();
        Self { by_due: all.into_iter().collect(), by_time }
    }
}

impl From<Deadlines> for Vec<(Due, At)> {
    fn from(deadlines: Deadlines) -> Self {
        deadlines.by_due.into_iter().collect()
    }
}

impl Deadlines {
    /// Sets the deadline, in the place of an earlier one for the same.
    pub fn set(&mut self, due: Due, at: At) {
        self.cancel(&due);
        self.by_due.insert(due.clone(), at);
        self.by_time.insert((at, due));
    }

    /// Takes the deadline back; nothing happens when there is none.
    pub fn cancel(&mut self, due: &Due) {
        if let Some(at) = self.by_due.remove(due) {
            self.by_time.remove(&(at, due.clone()));
        }
    }

    /// When this is due.
    #[must_use]
    pub fn get(&self, due: &Due) -> Option<At> {
        self.by_due.get(due).copied()
    }

    /// What is due first, and when.
    #[must_use]
    pub fn next(&self) -> Option<&(At, Due)> {
        self.by_time.first()
    }

    /// Dialogs that have ended and whose cause may still arrive, in the order in which they opened.
    pub fn unexplained(&self) -> impl Iterator<Item = DialogId> {
        let all = self.by_due.range(Due::Reason(DialogId(0))..=Due::Reason(DialogId(u64::MAX)));
        all.filter_map(|(due, _)| if let Due::Reason(id) = due { Some(*id) } else { None })
    }

    /// How many there are of those that end by themselves within seconds, with nothing coming after them.
    #[must_use]
    pub fn passing(&self) -> usize {
        self.by_due.keys().filter(|due| due.passes()).count()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_due.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_due.is_empty()
    }

    /// Forgets all that was about the main connection's socket. Late results outlive it, and so do the guard and the dialogs
    /// that it carries.
    pub(crate) fn socket_gone(&mut self) {
        let outlives = |due: &Due| {
            matches!(
                due,
                Due::Late(_)
                    | Due::Result(_)
                    | Due::Stop
                    | Due::Reason(_)
                    | Due::Dialog(_)
                    | Due::Confirm(_)
                    | Due::Answer(_)
                    | Due::GuardRetry
                    | Due::GuardAnswer
            )
        };
        self.by_due.retain(|due, _| outlives(due));
        self.by_time = self.by_due.iter().map(|(due, at)| (*at, due.clone())).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_comes_first_and_a_new_time_replaces_the_old() {
        let mut deadlines = Deadlines::default();
        deadlines.set(Due::Stop, At(5));
        deadlines.set(Due::Handshake, At(7));
        deadlines.set(Due::Stop, At(9));
        assert_eq!(deadlines.next(), Some(&(At(7), Due::Handshake)));
        deadlines.cancel(&Due::Handshake);
        deadlines.cancel(&Due::Handshake);
        assert_eq!((deadlines.next(), deadlines.len()), (Some(&(At(9), Due::Stop)), 1));
    }
}
