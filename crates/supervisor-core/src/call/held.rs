//! Calls that a dialog holds: their requests end, they go on.

use crate::call::blocking::{self, Fate};
use crate::call::ending;
use crate::call::late;
use crate::call::routing;
use crate::call::{Call, CallStage};
use crate::context::Cx;
use crate::effect::{Effect, Outcome};
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::ids::{CallId, DialogId};
use crate::snapshot::view;
use crate::state::State;

/// A dialog opened: the requests of the calls that it holds end now, the calls go on.
pub(crate) fn dialog_opened(cx: &mut Cx<'_>, dialog: DialogId) {
    if cx.state().calls.open.is_empty() {
        return;
    }
    let Some(open) = cx.state().dialogs.open.get(&dialog) else { return };
    let blocked = blocking::group(cx.state(), open);
    let page = &open.opening.route;
    let unknown = blocked.is_empty();
    let holds = |call: &Call| {
        let waits = blocking::fate(&call.method) != Fate::Answered || blocking::is_navigation(&call.method);
        // What travels through the page to a frame in another process, or is held until the page may be left.
        let passes = call.method.starts_with("Input.") || blocking::is_navigation(&call.method) || unknown;
        waits && (blocked.contains(&call.route) || (call.route == *page && passes))
    };
    let calls = cx.state().calls.open.iter();
    let held: Vec<_> = calls
        .filter(|(_, call)| call.stage == CallStage::Running && holds(call))
        .map(|(id, _)| *id)
        .collect();
    let waits = |call: &Call| call.stage == CallStage::Waiting && blocked.contains(&call.route);
    let unsent: Vec<_> =
        cx.state().calls.open.iter().filter(|(_, call)| waits(call)).map(|(id, _)| *id).collect();
    for call in held {
        interrupt(cx, call, dialog);
    }
    for call in unsent {
        block(cx, call, dialog);
    }
}

/// A call that still waited for its document: nothing was sent, so nothing can come late.
pub(crate) fn block(cx: &mut Cx<'_>, id: CallId, dialog: DialogId) {
    let Some(call) = cx.state().calls.open.get(&id).cloned() else { return };
    let failure = routing::blocked(cx.state(), dialog, &call.method, Fate::Hangs);
    ending::finish(cx, id, &call, Outcome::Failed(failure));
}

pub(crate) fn interrupt(cx: &mut Cx<'_>, id: CallId, dialog: DialogId) {
    let Some(call) = cx.state().calls.open.get(&id).cloned() else { return };
    cx.emit(Event::CallInterrupted { call: id, dialog });
    if let Some(req) = call.req {
        let failure = opened_during(cx.state(), id, &call.method, dialog);
        cx.effect(Effect::Reply { req, parked: Some(call.route), outcome: Outcome::Failed(failure) });
    }
    late::held(cx, id, dialog);
}

/// What a caller is told when a dialog holds its call.
pub(crate) fn opened_during(state: &State, call: CallId, method: &str, dialog: DialogId) -> Failure {
    let text = format!(
        "{dialog} opened while {method} ran, and holds it; answer the dialog, then ask for the result of {call}"
    );
    let shown = state.dialogs.open.get(&dialog).map(|open| view::open(state, dialog, open));
    Failure::new(Code::DialogOpened, text).with(|detail| {
        detail.dialog = shown;
        detail.call_id = Some(call);
    })
}

/// A dialog ended: the calls that it held go on, with the time they had left.
pub(crate) fn dialog_ended(cx: &mut Cx<'_>, dialog: DialogId) {
    let held = |call: &Call| match call.stage {
        CallStage::Interrupted(by, left) if by == dialog => Some(left),
        _ => None,
    };
    let calls: Vec<_> =
        cx.state().calls.open.iter().filter_map(|(id, call)| Some((*id, held(call)?))).collect();
    for (call, left) in calls {
        let deadline = cx.at.after(left);
        cx.emit(Event::CallReleased { call, deadline });
    }
}
