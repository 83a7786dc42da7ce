//! What a rule works with: it reads the state, emits events, and asks for effects. There is no other way to change anything.

use cdp_wire::{Command, CommandId, encode, encode_raw};
use serde::{Deserialize, Serialize};

use crate::effect::{Effect, GuardEffect, Lane, Outcome};
use crate::event::{Event, Recorded};
use crate::failure::Failure;
use crate::flights::Purpose;
use crate::guard::GuardEvent;
use crate::ids::{Req, Route};
use crate::machine::{Desk, Step};
use crate::meters::Meters;
use crate::state::State;
use crate::time::At;

/// What a call that waits for its document will evaluate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expression {
    pub(crate) text: String,
    pub(crate) await_promise: bool,
}

pub(crate) struct Cx<'m> {
    state: &'m mut State,
    pub(crate) desk: &'m mut Desk,
    step: &'m mut Step,
    /// The moment of the input or deadline that is handled.
    pub(crate) at: At,
}

impl<'m> Cx<'m> {
    pub(crate) fn new(state: &'m mut State, desk: &'m mut Desk, at: At, step: &'m mut Step) -> Self {
        Self { state, desk, step, at }
    }

    pub(crate) fn state(&self) -> &State {
        self.state
    }

    /// Whether another client is observed: then nothing is sent, and nobody here answers.
    pub(crate) fn is_observing(&self) -> bool {
        self.state.observer.is_some()
    }

    pub(crate) fn meters(&mut self) -> &mut Meters {
        &mut self.desk.meters
    }

    pub(crate) fn emit(&mut self, event: Event) {
        let recorded = Recorded { seq: self.state.history + 1, at: self.at, event };
        self.state.apply(&recorded);
        if self.step.events.is_empty() {
            // Most steps have one, and a vector would make room for four: they are large.
            self.step.events.reserve_exact(1);
        }
        self.step.events.push(recorded);
    }

    pub(crate) fn effect(&mut self, effect: Effect) {
        self.step.effects.push(effect);
    }

    /// Sends a command of ours; the reply comes back under its purpose.
    pub(crate) fn send<C: Command>(&mut self, route: &Route, command: &C, purpose: Purpose) -> CommandId {
        let id = self.state.flights.next_id();
        self.dispatch(id, route, C::METHOD, purpose, encode(id, route.session_id(), command))
    }

    /// Sends a host's command.
    pub(crate) fn send_raw(
        &mut self,
        route: &Route,
        method: &str,
        params: &str,
        purpose: Purpose,
    ) -> CommandId {
        let id = self.state.flights.next_id();
        self.dispatch(id, route, method, purpose, encode_raw(id, route.session_id(), method, params))
    }

    fn dispatch(
        &mut self,
        id: CommandId,
        route: &Route,
        method: &str,
        purpose: Purpose,
        text: String,
    ) -> CommandId {
        if self.is_observing() {
            return id;
        }
        let lane = if matches!(purpose, Purpose::Call(_)) { Lane::Host } else { Lane::Urgent };
        self.emit(Event::CommandSent { id, route: route.clone(), method: method.to_owned(), purpose });
        self.effect(Effect::Send { lane, text });
        id
    }

    /// Sends a command on the guard connection.
    pub(crate) fn send_guard<C: Command>(
        &mut self,
        route: &Route,
        command: &C,
        purpose: Purpose,
    ) -> CommandId {
        let id = self.state.guard.flights.next_id();
        let (text, method) = (encode(id, route.session_id(), command), C::METHOD.to_owned());
        self.emit(Event::Guard(GuardEvent::CommandSent { id, route: route.clone(), method, purpose }));
        self.effect(Effect::Guard(GuardEffect::Send { text }));
        id
    }

    /// Answers a request whose port the shell still holds.
    pub(crate) fn reply(&mut self, req: Req, outcome: Outcome) {
        self.effect(Effect::Reply { req, parked: None, outcome });
    }

    pub(crate) fn fail(&mut self, req: Req, failure: Failure) {
        self.reply(req, Outcome::Failed(failure));
    }

    /// Turns what the console said into an event, when it is time.
    pub(crate) fn gather(&mut self) {
        if let Some(gathered) = self.desk.gatherer.take(self.at) {
            self.emit(Event::ConsoleGathered { gathered: Box::new(gathered) });
        }
    }
}
