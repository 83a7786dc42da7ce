//! Why a command was sent, and the table of what is in flight.

use cdp_wire::{CommandId, SessionId, TargetId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, DialogId, Route};

/// Why a command was sent. A reply is understood by this and its method.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Either connection is, so that the main one takes a page over from the guard.
    HandOver(TargetId),
    /// A host's call.
    Call(CallId),
    /// It is looked whether the renderer answers that a host's call went to.
    Pulse(CallId),
    /// The objects of a session's console messages are let go.
    LetGo(Route),
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

/// Room that is kept while nothing is in flight. A set-up sends many commands at once, and a task that does nothing
/// afterwards would hold room for them for ever.
const FEW: usize = 8;

/// The only table of commands in flight: a reply is found by its id alone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub struct Flights {
    by_id: FxHashMap<CommandId, InFlight>,
    by_route: FxHashMap<Route, FxHashSet<CommandId>>,
    /// Resumes of targets, by where they were announced.
    by_parent: FxHashMap<Route, FxHashSet<CommandId>>,
    by_purpose: FxHashMap<Purpose, usize>,
    last: u64,
}

/// What is written of it: the rest follows.
#[derive(Serialize, Deserialize)]
struct Written {
    by_id: FxHashMap<CommandId, InFlight>,
    last: u64,
}

impl From<Flights> for Written {
    fn from(flights: Flights) -> Self {
        Self { by_id: flights.by_id, last: flights.last }
    }
}

impl From<Written> for Flights {
    fn from(written: Written) -> Self {
        let mut flights = Self::default();
        for (id, flight) in written.by_id {
            flights.sent(id, flight);
        }
        Self { last: written.last, ..flights }
    }
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
        if flight.purpose == Purpose::Release(None) {
            return;
        }
        self.answered(id);
        self.by_route.entry(flight.route.clone()).or_default().insert(id);
        if let Purpose::Resume { parent } = &flight.purpose {
            self.by_parent.entry(parent.clone()).or_default().insert(id);
        }
        *self.by_purpose.entry(flight.purpose.clone()).or_default() += 1;
        self.by_id.insert(id, flight);
    }

    pub(crate) fn answered(&mut self, id: CommandId) {
        let Some(flight) = self.by_id.remove(&id) else { return };
        leave(&mut self.by_route, &flight.route, id);
        if let Purpose::Resume { parent } = &flight.purpose {
            leave(&mut self.by_parent, parent, id);
        }
        if let Some(count) = self.by_purpose.get_mut(&flight.purpose) {
            *count -= 1;
            if *count == 0 {
                self.by_purpose.remove(&flight.purpose);
            }
        }
        if self.by_id.is_empty() && self.by_id.capacity() > FEW {
            self.clear();
        }
    }

    /// The browser never answers what was in flight on a session that ended, or on a target announced there.
    pub(crate) fn forget_route(&mut self, route: &Route) {
        let on_it = self.by_route.remove(route).into_iter().chain(self.by_parent.remove(route));
        for id in on_it.flatten().collect::<Vec<_>>() {
            self.answered(id);
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self { last: self.last, ..Self::default() };
    }

    /// The last id that was given out.
    #[must_use]
    pub fn last_id(&self) -> CommandId {
        CommandId(self.last)
    }

    /// Whether a command of this purpose is in flight.
    #[must_use]
    pub fn any(&self, purpose: &Purpose) -> bool {
        self.by_purpose.contains_key(purpose)
    }

    /// Whether anything is in flight on this route.
    #[must_use]
    pub fn any_on(&self, route: &Route) -> bool {
        self.by_route.contains_key(route)
    }

    /// Whether an answer that only a renderer can give is waited for on this route.
    #[must_use]
    pub fn waits_for_renderer(&self, route: &Route) -> bool {
        let on_it = self.by_route.get(route).into_iter().flatten().filter_map(|id| self.by_id.get(id));
        on_it.into_iter().any(|flight| crate::call::blocking::needs_renderer(&flight.method))
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

fn leave(places: &mut FxHashMap<Route, FxHashSet<CommandId>>, place: &Route, id: CommandId) {
    if let Some(there) = places.get_mut(place) {
        there.remove(&id);
        if there.is_empty() {
            places.remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_for_many_is_given_back_once_all_are_answered() {
        let mut flights = Flights::default();
        let ids = (1..=100).map(CommandId);
        for id in ids.clone() {
            let flight =
                InFlight { route: Route::Root, method: "Page.enable".into(), purpose: Purpose::Setup };
            flights.sent(id, flight);
        }
        ids.for_each(|id| flights.answered(id));
        assert!(flights.is_empty() && flights.by_id.capacity() <= FEW);
        assert_eq!(flights.next_id(), CommandId(101));
    }

    #[test]
    fn what_ends_with_a_session_is_found_and_nothing_is_left_of_it() {
        let session = |name: &str| Route::Session(name.into());
        let mut flights = Flights::default();
        let mut send = |id, route: &Route, purpose| {
            let flight = InFlight { route: route.clone(), method: "Page.enable".into(), purpose };
            flights.sent(CommandId(id), flight);
        };
        let (page, worker, other) = (session("page"), session("worker"), session("other"));
        send(1, &page, Purpose::Setup);
        send(2, &worker, Purpose::Resume { parent: page.clone() });
        send(3, &other, Purpose::Setup);
        assert!(flights.any_on(&worker) && flights.waits_for_renderer(&page) && flights.any(&Purpose::Setup));
        flights.forget_route(&page);
        assert!(!flights.any_on(&page) && !flights.any_on(&worker) && flights.any_on(&other));
        flights.answered(CommandId(3));
        assert_eq!(flights, Flights { last: 3, ..Flights::default() });
    }

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
