//! The actor of one attached session: the reply ports of its calls, and late results that wait for their host.
//!
//! It exists once the session has had a call. It is no child of the task's actor, so that callers survive its restart.

use std::collections::HashMap;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::limits::MAX_CALLS;
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
    #[cfg(test)]
    Panic,
}

pub(crate) struct SessionActor;

/// How much is here is bounded by the core, which lets so many calls be open and keeps so many late results.
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
            #[cfg(test)]
            SessionMessage::Panic => panic!("as a test wishes"),
        }
        Ok(())
    }
}

impl SessionState {
    fn park(&mut self, req: Req, port: Port) {
        hold(&mut self.ports, req, port);
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

/// Nobody reports a port whose caller has left: such ports are let go when there are more than calls can be open.
pub(crate) fn hold(ports: &mut HashMap<Req, Port>, req: Req, port: Port) {
    if ports.len() >= MAX_CALLS {
        ports.retain(|_, port| !port.is_closed());
    }
    ports.insert(req, port);
}

/// A caller that has left is no error.
pub(crate) fn send(port: Port, answer: Result<Answer, Failure>) {
    let _ = port.send(answer);
}

#[cfg(test)]
mod tests {
    use ractor::concurrency::oneshot;
    use supervisor_core::Outcome;

    use super::*;
    use crate::answer::answer;

    #[tokio::test]
    async fn an_answer_goes_to_its_own_port() {
        let mut state = SessionState::default();
        let ((first, first_answer), (second, mut second_answer)) = (oneshot(), oneshot());
        state.park(Req(1), first.into());
        state.park(Req(2), second.into());
        state.reply(Req(1), answer(Outcome::Done, None));
        assert_eq!(first_answer.await.unwrap(), Ok(Answer::Done));
        assert!(second_answer.try_recv().is_err());
    }

    #[tokio::test]
    async fn a_late_result_is_served_once() {
        let mut state = SessionState::default();
        state.keep(CallId(1), answer(Outcome::Done, None));
        let ((first, first_answer), (second, second_answer)) = (oneshot(), oneshot());
        state.serve(CallId(1), Req(1), Some(first.into()));
        state.serve(CallId(1), Req(2), Some(second.into()));
        assert_eq!(first_answer.await.unwrap(), Ok(Answer::Done));
        assert!(second_answer.await.is_err());
    }

    #[test]
    fn ports_of_callers_that_left_are_let_go() {
        let mut state = SessionState::default();
        let mut waiting = Vec::new();
        for req in 0..10 * MAX_CALLS as u64 {
            let (port, answer) = oneshot();
            state.park(Req(req), port.into());
            if req % 1000 == 0 {
                waiting.push(answer);
            }
        }
        assert!(state.ports.len() <= MAX_CALLS, "{}", state.ports.len());
        assert!((0..waiting.len() as u64).all(|n| state.ports.contains_key(&Req(1000 * n))));
    }
}
