//! Calls into a renderer that a dialog of another session may hold: nobody tells which pages and iframes of one site share a
//! process, for nobody here knows what a site is.
//!
//! Such a call is sent, and right behind it what only its renderer answers. If that is not answered for a while, the dialog
//! is what holds the call.

use cdp_wire::runtime;

use crate::call::{Call, CallStage, blocking, held};
use crate::context::Cx;
use crate::event::Event;
use crate::flights::Purpose;
use crate::ids::{CallId, DialogId};
use crate::limits::SUSPECT_WAIT;
use crate::state::State;

/// A call was sent, maybe into a renderer that a dialog holds.
pub(crate) fn sent(cx: &mut Cx<'_>, id: CallId) {
    let state = cx.state();
    if state.calls.open.get(&id).and_then(|call| suspected(state, call)).is_some() {
        watch(cx, id);
    }
}

/// A dialog opened that may hold calls which were sent before.
pub(crate) fn dialog_opened(cx: &mut Cx<'_>, dialog: DialogId) {
    let state = cx.state();
    let Some(open) = state.dialogs.open.get(&dialog) else { return };
    let is_hit = |call: &Call| waits_for_renderer(call) && blocking::may_block(state, open, &call.route);
    let calls = state.calls.open.iter().filter(|(_, call)| is_hit(call));
    for call in calls.map(|(id, _)| *id).collect::<Vec<_>>() {
        watch(cx, call);
    }
}

/// The renderer has not answered. While its page navigates that is normal.
pub(crate) fn renderer_silent(cx: &mut Cx<'_>, id: CallId) {
    let state = cx.state();
    let Some(call) = state.calls.open.get(&id) else { return };
    let page = state.sessions.get(&call.route).map(|session| &session.page);
    if page.is_some_and(|page| state.is_navigating(page)) {
        watch(cx, id);
    } else if let Some(dialog) = suspected(state, call) {
        held::interrupt(cx, id, dialog);
    }
}

/// The renderer answered, so no dialog holds it.
pub(crate) fn renderer_answered(cx: &mut Cx<'_>, id: CallId) {
    let state = cx.state();
    let Some(call) = state.calls.open.get(&id) else { return };
    if let CallStage::Interrupted(_, left) = call.stage
        && held::holder(state, id).is_none()
    {
        let deadline = cx.at.after(left);
        cx.emit(Event::CallReleased { call: id, deadline });
    }
}

/// The dialog that may hold this call.
fn suspected(state: &State, call: &Call) -> Option<DialogId> {
    blocking::dialog_that_may_block(state, &call.route).filter(|_| waits_for_renderer(call))
}

fn waits_for_renderer(call: &Call) -> bool {
    call.stage == CallStage::Running && blocking::needs_renderer(&call.method)
}

/// Asks the renderer for a sign of life, unless it was asked already, and gives it some time.
fn watch(cx: &mut Cx<'_>, id: CallId) {
    let Some(call) = cx.state().calls.open.get(&id) else { return };
    let (route, asked) = (call.route.clone(), call.pulse);
    let asked = asked.filter(|pulse| cx.state().flights.get(*pulse).is_some());
    let until = cx.at.after(SUSPECT_WAIT);
    // It resumes nothing, for nothing here is paused any more: it is the least that a renderer can be asked.
    let ask = |cx: &mut Cx<'_>| cx.send(&route, &runtime::RunIfWaitingForDebugger {}, Purpose::Pulse(id));
    let pulse = asked.unwrap_or_else(|| ask(cx));
    cx.emit(Event::CallSuspected { call: id, pulse, until });
}
