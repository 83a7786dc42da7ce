//! Folding the events of calls.

use crate::call::{Call, CallStage, Late, RunsIn, Waiter};
use crate::deadlines::Due;
use crate::event::Event;
use crate::ids::CallId;
use crate::state::State;
use crate::time::At;

impl State {
    pub(crate) fn apply_call(&mut self, at: At, event: &Event) {
        match event {
            Event::CallStarted { req, call, route, frame, method, eval, deadline } => {
                self.calls.next = CallId(call.0 + 1);
                self.calls.by_req.insert(*req, *call);
                self.deadlines.set(Due::Call(*call), *deadline);
                let open = Call {
                    req: Some(*req),
                    route: route.clone(),
                    frame: frame.clone(),
                    method: method.clone(),
                    eval: *eval,
                    command: None,
                    runs_in: RunsIn::Unknown,
                    pulse: None,
                    stage: CallStage::Waiting,
                    deadline: *deadline,
                };
                self.calls.open.insert(*call, open);
            }
            Event::CallWaits { call, until } => self.deadlines.set(Due::Context(*call), *until),
            Event::CallSent { call, runs_in } => {
                if let Some(open) = self.calls.open.get_mut(call) {
                    open.stage = CallStage::Running;
                    open.runs_in = runs_in.clone();
                }
            }
            Event::CallBound { call, route, context } => {
                self.deadlines.cancel(&Due::Context(*call));
                if let Some(open) = self.calls.open.get_mut(call) {
                    open.route = route.clone();
                    open.runs_in = RunsIn::Context(*context);
                    if open.stage == CallStage::Waiting {
                        open.stage = CallStage::Running;
                    }
                }
            }
            Event::CallSuspected { call, pulse, until } => {
                if let Some(open) = self.calls.open.get_mut(call) {
                    open.pulse = Some(*pulse);
                    self.deadlines.set(Due::Suspect(*call), *until);
                }
            }
            Event::CallInterrupted { call, dialog } => {
                self.deadlines.cancel(&Due::Call(*call));
                self.deadlines.cancel(&Due::Suspect(*call));
                if let Some(open) = self.calls.open.get_mut(call) {
                    let left = open.deadline.since(at);
                    open.stage = CallStage::Interrupted(*dialog, left);
                    self.request_over(*call);
                }
            }
            Event::CallReleased { call, deadline } => {
                if let Some(open) = self.calls.open.get_mut(call) {
                    open.stage = CallStage::Running;
                    open.deadline = *deadline;
                    self.deadlines.set(Due::Call(*call), *deadline);
                }
            }
            Event::CallEnded { call, .. } => self.call_over(*call),
            Event::LateResultKept { call, until, .. } => {
                let Some(route) = self.calls.open.get(call).map(|open| open.route.clone()) else { return };
                self.call_over(*call);
                self.calls.late.insert(*call, Late { route });
                self.calls.late_order.push_back(*call);
                self.deadlines.set(Due::Late(*call), *until);
            }
            Event::LateResultGone { call } => {
                self.calls.late.remove(call);
                self.calls.late_order.retain(|other| other != call);
                self.deadlines.cancel(&Due::Late(*call));
            }
            Event::ResultAwaited { req, call, until } => {
                self.calls.waiters.insert(*req, Waiter { call: *call });
                self.deadlines.set(Due::Result(*req), *until);
            }
            Event::ResultAnswered { req } => {
                self.calls.waiters.remove(req);
                self.deadlines.cancel(&Due::Result(*req));
            }
            _ => {}
        }
    }

    fn request_over(&mut self, call: CallId) {
        if let Some(req) = self.calls.open.get_mut(&call).and_then(|open| open.req.take()) {
            self.calls.by_req.remove(&req);
        }
    }

    fn call_over(&mut self, call: CallId) {
        self.request_over(call);
        // Its answer may never come: what nobody waits for is not kept.
        if let Some(open) = self.calls.open.remove(&call) {
            [open.command, open.pulse].into_iter().flatten().for_each(|id| self.flights.answered(id));
        }
        self.deadlines.cancel(&Due::Call(call));
        self.deadlines.cancel(&Due::Suspect(call));
        self.deadlines.cancel(&Due::Context(call));
    }
}
