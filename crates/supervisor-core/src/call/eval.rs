//! Expressions: in one frame's own document, or not at all.

use std::time::Duration;

use cdp_wire::FrameId;
use cdp_wire::runtime::Evaluate;

use crate::call::routing::{self, Routed};
use crate::call::{Call, CallStage};
use crate::call::{check, ending, script, send, suspect};
use crate::context::{Cx, Expression};
use crate::effect::Effect;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::flights::Purpose;
use crate::ids::{CallId, Req, Route};
use crate::input::Place;
use crate::limits::{CONTEXT_WAIT, MAX_CALL_PARAMS};
use crate::state::State;

pub(crate) fn eval(
    cx: &mut Cx<'_>,
    req: Req,
    frame: Option<FrameId>,
    expression: Expression,
    timeout: Option<Duration>,
) {
    let routed = match checked_eval(cx.state(), frame, &expression, timeout) {
        Ok(routed) => routed,
        Err(failure) => return cx.fail(req, failure),
    };
    let document = routed.frame.as_ref().and_then(|frame| settled_document(cx.state(), &routed.route, frame));
    let route = routed.route.clone();
    let call = send::started(cx, req, routed, "Runtime.evaluate", true, timeout);
    match document {
        Some(context) => evaluate(cx, call, &route, context, expression),
        None => {
            let until = cx.at.after(CONTEXT_WAIT);
            cx.desk.parked.insert(call, expression);
            cx.emit(Event::CallWaits { call, until });
        }
    }
}

pub(crate) fn checked_eval(
    state: &State,
    frame: Option<FrameId>,
    expression: &Expression,
    timeout: Option<Duration>,
) -> Result<Routed, Failure> {
    routing::connected(state)?;
    check::check_timeout(timeout)?;
    if expression.text.len() > MAX_CALL_PARAMS {
        let text =
            format!("the expression has {} bytes, at most {MAX_CALL_PARAMS} are sent", expression.text.len());
        return Err(Failure::new(Code::InvalidArgument, text));
    }
    let routed = match frame {
        Some(frame) => {
            let (_, route) = routing::living(state, &frame)?;
            Routed { route, frame: Some(frame) }
        }
        None => {
            let routed = routing::place(state, &Place::Active, "Runtime.evaluate")?;
            // Before the page was listed, its main frame has the page's id.
            let page = state.pages.active().map(FrameId::from);
            Routed { frame: routed.frame.or(page), ..routed }
        }
    };
    routing::renderer(state, &routed.route, "Runtime.evaluate")?;
    check::has_room(state)?;
    Ok(routed)
}

/// The document that is in a frame and will stay there for now.
pub(crate) fn settled_document(state: &State, route: &Route, frame: &FrameId) -> Option<i64> {
    let stays = state.frames.get(frame).is_none_or(|known| !known.navigating);
    let (context, _) = state.sessions.get(route)?.document(frame)?;
    stays.then_some(context)
}

pub(crate) fn evaluate(cx: &mut Cx<'_>, call: CallId, route: &Route, context: i64, expression: Expression) {
    let unique =
        cx.state().sessions.get(route).and_then(|it| it.contexts.get(&context)).map(|it| it.unique.clone());
    let req = cx.state().calls.open.get(&call).and_then(|call| call.req);
    cx.emit(Event::CallBound { call, route: route.clone(), context });
    if let Some(req) = req {
        cx.effect(Effect::Park { req, route: route.clone() });
    }
    let command = Evaluate {
        expression: expression.text,
        unique_context_id: unique,
        await_promise: expression.await_promise,
        return_by_value: true,
        user_gesture: true,
    };
    cx.send(route, &command, Purpose::Call(call));
    suspect::sent(cx, call);
}

/// The document that calls were waiting for came.
pub(crate) fn document_came(cx: &mut Cx<'_>, route: &Route, frame: &FrameId) {
    script::document_came(cx, route, frame);
    if cx.desk.parked.is_empty() {
        return;
    }
    let is_home = cx.state().frames.get(frame).is_none_or(|known| known.owner.as_ref() == Some(route));
    let document = settled_document(cx.state(), route, frame);
    let Some(context) = document.filter(|_| is_home) else { return };
    let waiting = |call: &Call| call.stage == CallStage::Waiting && call.frame.as_ref() == Some(frame);
    let calls: Vec<_> =
        cx.state().calls.open.iter().filter(|(_, call)| waiting(call)).map(|(id, _)| *id).collect();
    for call in calls {
        if let Some(expression) = cx.desk.parked.remove(&call) {
            evaluate(cx, call, route, context, expression);
        }
    }
}

pub(crate) fn no_document(cx: &mut Cx<'_>, call: CallId) {
    ending::end_call(cx, call, Code::Navigated);
}
