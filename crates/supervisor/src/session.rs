//! The actor of one attached session: the reply ports of its calls, and late results that wait for their host.
//!
//! It exists once the session has had a call. It is no child of the task's actor, so that callers survive its restart.

use std::collections::HashMap;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::{CallId, Failure, Req};

use crate::answer::{Answer, Port};

/// What the task asks of it.
pub(crate) enum SessionMessage {
    /// Hold this port until its request is answered.
    Park(Req, Port),
    /// Answer the request whose port is here.
    Reply(Req, Result<Answer, Failure>),
    /// Keep a late result.
    Keep(CallId, Result<Answer, Failure>),
    /// Answer a request with a late result, and forget it. The port comes along unless it is here.
    Serve(CallId, Req, Option<Port>),
    /// Forget a late result.
    Drop(CallId),
}

pub(crate) struct SessionActor;

/// How much is here is bounded by the core: it lets so many calls be in flight and keeps so many late results.
#[derive(Default)]
pub(crate) struct SessionState {
    ports: HashMap<Req, Port>,
    late: HashMap<CallId, Result<Answer, Failure>>,
}

impl Actor for SessionActor {
    type Msg = SessionMessage;
    type State = SessionState;
    type Arguments = ();

    async fn pre_start(&self, _: ActorRef<Self::Msg>, (): ()) -> Result<SessionState, ActorProcessingErr> {
        Ok(SessionState::default())
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: SessionMessage,
        state: &mut SessionState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            SessionMessage::Park(req, port) => state.park(req, port),
            SessionMessage::Reply(req, answer) => state.reply(req, answer),
            SessionMessage::Keep(call, answer) => state.keep(call, answer),
            SessionMessage::Serve(call, req, port) => state.serve(call, req, port),
            SessionMessage::Drop(call) => state.forget(call),
        }
        Ok(())
    }
}

impl SessionState {
    fn park(&mut self, req: Req, port: Port) {
        self.ports.insert(req, port);
    }

    fn reply(&mut self, req: Req, answer: Result<Answer, Failure>) {
        if let Some(port) = self.ports.remove(&req) {
            send(port, answer);
        }
    }

    fn keep(&mut self, call: CallId, answer: Result<Answer, Failure>) {
        self.late.insert(call, answer.map(|answer| answer.map_json(crate::json::Json::detached)));
    }

    fn serve(&mut self, call: CallId, req: Req, port: Option<Port>) {
        let answer = self.late.remove(&call);
        if let (Some(port), Some(answer)) = (port.or_else(|| self.ports.remove(&req)), answer) {
            send(port, answer);
        }
    }

    fn forget(&mut self, call: CallId) {
        self.late.remove(&call);
    }
}

/// A caller that has left is no error.
pub(crate) fn send(port: Port, answer: Result<Answer, Failure>) {
    let _ = port.send(answer);
}
