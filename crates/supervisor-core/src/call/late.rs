//! Late results: of calls whose request ended when a dialog opened.

use std::time::Duration;

use crate::call::held;
use crate::call::{Call, CallEnd, CallStage};
use crate::context::Cx;
use crate::effect::{Effect, Outcome};
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::ids::{CallId, DialogId, Req};
use crate::limits::{LATE_RESULT_KEPT, MAX_CALL_TIMEOUT, MAX_LATE_RESULTS, MAX_RESULT_WAITERS};
use crate::session::gone;

/// A host asks for a late result.
pub(crate) fn asked(cx: &mut Cx<'_>, req: Req, id: CallId, timeout: Option<Duration>) {
    if let Some(late) = cx.state().calls.late.get(&id) {
        let route = late.route.clone();
        cx.emit(Event::LateResultGone { call: id });
        cx.effect(Effect::Serve { route: route.clone(), call: id, req });
        gone::retire(cx, &route);
        return;
    }
    // While its own request is open, that one gets the result.
    let open = cx.state().calls.open.get(&id).filter(|call| call.req.is_none());
    match open.map(|call| (call.stage, call.method.clone())) {
        None => cx.fail(req, unknown(cx, id)),
        Some((CallStage::Interrupted(dialog, _), method)) => {
            let failure = held::opened_during(cx.state(), id, &method, dialog);
            cx.fail(req, failure);
        }
        Some(_) if cx.state().calls.waiting_for(id).count() >= MAX_RESULT_WAITERS => {
            let text = format!("{MAX_RESULT_WAITERS} requests wait for {id} already");
            cx.fail(req, Failure::new(Code::Refused, text));
        }
        Some(_) => {
            let wait = timeout.unwrap_or(cx.state().options.call_timeout).min(MAX_CALL_TIMEOUT);
            let until = cx.at.after(wait);
            cx.emit(Event::ResultAwaited { req, call: id, until });
        }
    }
}

fn unknown(cx: &Cx<'_>, id: CallId) -> Failure {
    let calls = &cx.state().calls;
    let text = if calls.open.contains_key(&id) {
        format!("{id} still runs for the request that began it, which gets its result")
    } else if id < calls.next {
        format!(
            "the result of {id} is not kept: it was handed out, was dropped after 10 minutes, or went to its caller"
        )
    } else {
        format!("there is no call {id}; a call_id comes with a `dialog_opened` error")
    };
    Failure::new(Code::UnknownCall, text)
}

/// A call ended whose request had ended before.
pub(crate) fn arrived(cx: &mut Cx<'_>, id: CallId, call: &Call, end: CallEnd, outcome: Outcome) {
    let waiters: Vec<Req> = cx.state().calls.waiting_for(id).collect();
    let Some((last, others)) = waiters.split_last() else { return keep(cx, id, call, end, outcome) };
    cx.emit(Event::CallEnded { call: id, end });
    for req in others {
        answer(cx, *req, outcome.clone());
    }
    answer(cx, *last, outcome);
}

fn answer(cx: &mut Cx<'_>, req: Req, outcome: Outcome) {
    cx.emit(Event::ResultAnswered { req });
    cx.reply(req, outcome);
}

fn keep(cx: &mut Cx<'_>, id: CallId, call: &Call, end: CallEnd, outcome: Outcome) {
    while cx.state().calls.late.len() >= MAX_LATE_RESULTS {
        let Some(oldest) = cx.state().calls.late_order.front().copied() else { break };
        too_old(cx, oldest);
    }
    let until = cx.at.after(LATE_RESULT_KEPT);
    cx.emit(Event::LateResultKept { call: id, end, until });
    cx.effect(Effect::Keep { route: call.route.clone(), call: id, outcome });
}

/// A late result is not kept for ever.
pub(crate) fn too_old(cx: &mut Cx<'_>, id: CallId) {
    let Some(route) = cx.state().calls.late.get(&id).map(|late| late.route.clone()) else { return };
    cx.emit(Event::LateResultGone { call: id });
    cx.effect(Effect::Drop { route: route.clone(), call: id });
    gone::retire(cx, &route);
}

pub(crate) fn waited_long_enough(cx: &mut Cx<'_>, req: Req) {
    let text = "the result has not come yet; ask again, or see in the snapshot what the page waits for";
    answer(cx, req, Outcome::Failed(Failure::new(Code::Timeout, text)));
}

/// A call that somebody waits for is held by a dialog anew.
pub(crate) fn held(cx: &mut Cx<'_>, id: CallId, dialog: DialogId) {
    let waiters: Vec<Req> = cx.state().calls.waiting_for(id).collect();
    for req in waiters {
        let method = cx.state().calls.open.get(&id).map(|call| call.method.clone()).unwrap_or_default();
        let failure = held::opened_during(cx.state(), id, &method, dialog);
        answer(cx, req, Outcome::Failed(failure));
    }
}

/// The task ends: nobody will get a late result any more.
pub(crate) fn end_all(cx: &mut Cx<'_>, code: Code, text: &str) {
    let waiters: Vec<Req> = cx.state().calls.waiters.keys().copied().collect();
    for req in waiters {
        answer(cx, req, Outcome::Failed(Failure::new(code, text)));
    }
}
