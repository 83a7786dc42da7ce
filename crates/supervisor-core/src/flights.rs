//! Why a command was sent, and the table of what is in flight.

use cdp_wire::{CommandId, SessionId, TargetId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, DialogId, Route};

/// Why a command was sent. A reply is understood by this and its method.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A step of the connection's handshake.
    Handshake,
    /// A sign of life.
    Probe,
    /// A step of a session's set-up.
    Setup,
    /// The element of an iframe is looked for.
    FrameOwner(cdp_wire::FrameId),
    /// It is described.
    FrameElement(cdp_wire::FrameId),
    /// The bridge's script is given to a session.
    BridgeScript,
    /// The frames of a session are listed, to seed the tree or to decide about orphans.
    ListFrames,
    /// A paused target that is none of ours is resumed. Once it was, it is let go where it was announced: a service worker
    /// whose session ends before never runs.
    Resume {
        /// Where it was announced.
        parent: Route,
    },
    /// A session is let go.
    Release(Option<SessionId>),
    /// A page's title and URL are asked for: browsers do not report a title that was set after the commit.
    Describe(TargetId),
    /// A popup of a page endpoint is attached.
    AttachPopup,
    /// An answer to a dialog.
    Answer(DialogId),
    /// The guard begins to listen on a page.
    Watch(TargetId),
    /// The guard is asked for a sign that it has heard everything up to now.
    CatchUp,
    /// A host's call.
    Call(CallId),
    /// A call of the client that is observed.
    Observed,
}

/// A command that was not answered yet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight {
    /// Where it went.
    pub route: Route,
    /// `Domain.command`.
    pub method: String,
    /// Why.
    pub purpose: Purpose,
}

/// The only table of commands in flight: a reply is found by its id alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Flights {
    by_id: FxHashMap<CommandId, InFlight>,
    last: u64,
}

impl Flights {
    /// The id of the next command. Ids start again before they leave the browser's range.
    #[must_use]
    pub fn next_id(&self) -> CommandId {
        let mut id = self.last;
        loop {
            id = if id >= CommandId::MAX.0 { 1 } else { id + 1 };
            if !self.by_id.contains_key(&CommandId(id)) {
                return CommandId(id);
            }
        }
    }

    pub(crate) fn sent(&mut self, id: CommandId, flight: InFlight) {
        self.last = id.0;
        // The target that is resumed and let go may be gone before it answers, and nobody waits for it.
        if flight.purpose != Purpose::Release(None) {
            self.by_id.insert(id, flight);
        }
    }

    pub(crate) fn answered(&mut self, id: CommandId) {
        self.by_id.remove(&id);
    }

    /// The browser never answers what was in flight on a session that ended, or on a target announced there.
    pub(crate) fn forget_route(&mut self, route: &Route) {
        let below =
            |flight: &InFlight| matches!(&flight.purpose, Purpose::Resume { parent } if parent == route);
        self.by_id.retain(|_, flight| flight.route != *route && !below(flight));
    }

    pub(crate) fn clear(&mut self) {
        self.by_id.clear();
    }

    /// The last id that was given out.
    #[must_use]
    pub fn last_id(&self) -> CommandId {
        CommandId(self.last)
    }

    /// Whether a command of this purpose is in flight.
    #[must_use]
    pub fn any(&self, purpose: &Purpose) -> bool {
        self.by_id.values().any(|flight| flight.purpose == *purpose)
    }

    /// Whether anything is in flight on this route.
    #[must_use]
    pub fn any_on(&self, route: &Route) -> bool {
        self.by_id.values().any(|flight| flight.route == *route)
    }

    /// Whether an answer that only a renderer can give is waited for on this route.
    #[must_use]
    pub fn waits_for_renderer(&self, route: &Route) -> bool {
        self.by_id.values().any(|it| it.route == *route && crate::call::blocking::needs_renderer(&it.method))
    }

    /// The command with this id, if it is in flight.
    #[must_use]
    pub fn get(&self, id: CommandId) -> Option<&InFlight> {
        self.by_id.get(&id)
    }

    /// How many are in flight.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_wrap_inside_the_browsers_range_and_skip_what_is_in_flight() {
        let mut flights = Flights::default();
        let flight = InFlight { route: Route::Root, method: "M".into(), purpose: Purpose::Probe };
        flights.sent(CommandId(1), flight.clone());
        flights.sent(CommandId::MAX, flight);
        assert_eq!(flights.next_id(), CommandId(2));
        flights.answered(CommandId(1));
        assert_eq!((flights.next_id(), flights.len()), (CommandId(1), 1));
    }
}
