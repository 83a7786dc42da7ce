//! Calls that a dialog holds: their requests end, they go on.

use std::collections::BTreeSet;

use crate::call::blocking::{self, Fate};
use crate::call::ending;
use crate::call::late;
use crate::call::routing;
use crate::call::suspect;
use crate::call::{Call, CallStage};
use crate::context::Cx;
use crate::dialog::Open;
use crate::effect::{Effect, Outcome};
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::ids::{CallId, DialogId, Route};
use crate::snapshot::view;
use crate::state::State;

/// A dialog opened: the requests of the calls that it holds end now, the calls go on.
pub(crate) fn dialog_opened(cx: &mut Cx<'_>, dialog: DialogId) {
    if cx.state().calls.open.is_empty() {
        return;
    }
    let Some(open) = cx.state().dialogs.open.get(&dialog) else { return };
    let grip = Grip::of(cx.state(), open);
    let calls = cx.state().calls.open.iter();
    let held: Vec<_> = calls
        .filter(|(_, call)| call.stage == CallStage::Running && grip.holds(call))
        .map(|(id, _)| *id)
        .collect();
    let waits = |call: &Call| call.stage == CallStage::Waiting && grip.blocked.contains(&call.route);
    let unsent: Vec<_> =
        cx.state().calls.open.iter().filter(|(_, call)| waits(call)).map(|(id, _)| *id).collect();
    for call in held {
        interrupt(cx, call, dialog);
    }
    for call in unsent {
        block(cx, call, dialog);
    }
    suspect::dialog_opened(cx, dialog);
}

/// What a dialog holds.
struct Grip<'s> {
    /// The sessions whose renderer it blocks; none when that cannot be known.
    blocked: BTreeSet<Route>,
    /// The session of its page.
    page: &'s Route,
}

impl<'s> Grip<'s> {
    fn of(state: &State, open: &'s Open) -> Self {
        Self { blocked: blocking::group(state, open), page: &open.opening.route }
    }

    fn holds(&self, call: &Call) -> bool {
        let waits = blocking::fate(&call.method) != Fate::Answered || blocking::is_navigation(&call.method);
        // What travels through the page to a frame in another process, or is held until the page may be left.
        let passes = call.method.starts_with("Input.")
            || blocking::is_navigation(&call.method)
            || self.blocked.is_empty();
        waits && (self.blocked.contains(&call.route) || (call.route == *self.page && passes))
    }
}

/// The dialog that holds a call now.
pub(crate) fn holder(state: &State, call: CallId) -> Option<DialogId> {
    let call = state.calls.open.get(&call)?;
    let open = state.dialogs.open.iter().filter(|(_, open)| open.is_showing());
    open.filter(|(_, open)| Grip::of(state, open).holds(call)).map(|(id, _)| *id).next()
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
    let is_known = holder(state, call) == Some(dialog);
    let what = if is_known {
        format!("{dialog} opened while {method} ran, and holds it")
    } else {
        format!(
            "{dialog} is open on a page that may share its process with this one, and {method} gets no answer"
        )
    };
    let text = format!("{what}; answer the dialog, then ask for the result of {call}");
    let shown = state.dialogs.open.get(&dialog).map(|open| view::open(state, dialog, open));
    Failure::new(Code::DialogOpened, text).with(|detail| {
        detail.dialog = shown;
        detail.call_id = Some(call);
    })
}

/// A dialog ended: the calls that it held go on, with the time they had left, unless another one holds them too.
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
        match holder(cx.state(), call) {
            Some(other) => interrupt(cx, call, other),
            None => suspect::sent(cx, call),
        }
    }
}
