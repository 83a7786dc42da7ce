//! What the browser says on the guard's connection.

use cdp_wire::page::{
    DetachReason, FrameDetached, FrameStartedNavigating, JavascriptDialogClosed, JavascriptDialogOpening,
};
use cdp_wire::target::DetachedFromTarget;
use cdp_wire::{
    Command as _, Event as CdpEvent, FrameId, Known, Message, Reply, SessionId, TargetId, decode, parse,
    peek, target,
};

use crate::context::Cx;
use crate::dialog::answer as dialog_answer;
use crate::dialog::preset::Of;
use crate::dialog::rules as dialog_rules;
use crate::dialog::{ClosedBy, Kept, Open, Reason, Unanswerable};
use crate::event::Event;
use crate::flights::Purpose;
use crate::guard::rules::{self, emit};
use crate::guard::{GuardEvent, SeenEnd, carry, hand_over};
use crate::ids::{DialogId, Epoch, Route};
use crate::input::GuardInput;
use crate::limits::MAX_SHOWN_TEXT;
use crate::shown::cut;

pub(crate) fn input(cx: &mut Cx<'_>, input: GuardInput<'_>) {
    match input {
        GuardInput::Received { epoch, text } => received(cx, epoch, text),
        GuardInput::Net(net) => rules::net(cx, net),
    }
}

fn received(cx: &mut Cx<'_>, epoch: Epoch, text: &str) {
    if epoch != cx.state().guard.epoch || cx.state().guard.endpoint.is_none() {
        cx.meters().late_messages += 1;
        return;
    }
    cx.meters().guard_messages += 1;
    if peek::method(text).is_some_and(|method| !is_of_interest(method)) {
        return;
    }
    match decode(text) {
        Ok(Message::Event(event)) => happened(cx, &event),
        Ok(Message::Reply(reply)) => answered(cx, &reply),
        Err(_) => cx.meters().protocol_violations += 1,
    }
}

/// Of all that is said on a page's session, the guard needs this; the main connection has it all.
fn is_of_interest(method: &str) -> bool {
    matches!(
        method,
        "Page.javascriptDialogOpening"
            | "Page.javascriptDialogClosed"
            | "Page.frameStartedNavigating"
            | "Page.frameDetached"
            | "Inspector.targetCrashed"
            | "Target.detachedFromTarget"
    )
}

fn happened(cx: &mut Cx<'_>, event: &CdpEvent<'_>) {
    if !is_of_interest(event.method.as_str()) {
        return;
    }
    let route = Route::from(event.session.as_ref().map(|session| SessionId::from(session.as_str())));
    let page = cx.state().guard.page_of(&route).cloned();
    match (event.known(), page) {
        (Ok(Some(Known::DetachedFromTarget(event))), _) => detached(cx, &event),
        (Ok(Some(known)), Some(page)) => on_page(cx, &page, known),
        (Ok(_), _) => {}
        (Err(_), _) => cx.meters().protocol_violations += 1,
    }
}

fn on_page(cx: &mut Cx<'_>, page: &TargetId, known: Known<'_>) {
    match known {
        Known::DialogOpening(event) => opening(cx, page, &event),
        Known::DialogClosed(event) => closed(cx, page, &event),
        Known::FrameStartedNavigating(event) => started_navigating(cx, page, &event),
        Known::FrameDetached(event) => frame_detached(cx, page, &event),
        Known::InspectorTargetCrashed(_) => crashed(cx, page),
        _ => {}
    }
}

fn answered(cx: &mut Cx<'_>, reply: &Reply<'_>) {
    let Some(flight) = cx.state().guard.flights.get(reply.id).cloned() else {
        cx.meters().late_messages += 1;
        return;
    };
    emit(cx, GuardEvent::CommandAnswered { id: reply.id });
    match (&flight.purpose, &reply.outcome) {
        (Purpose::Watch(target), Ok(result)) => watched(cx, target, &flight.method, result),
        (Purpose::Watch(target), Err(_)) => rules::watch_refused(cx, target),
        (Purpose::Setup, Ok(_)) => {
            if let Some(target) = cx.state().guard.page_of(&flight.route).cloned() {
                emit(cx, GuardEvent::Listens { target });
            }
        }
        (Purpose::CatchUp, _) => carry::caught_up(cx),
        (Purpose::HandOver(target), _) => hand_over::signed(cx, target),
        (Purpose::Answer(id), outcome) => dialog_answer::confirmed(cx, *id, outcome.as_ref().err()),
        _ => {}
    }
}

/// On a page endpoint the page's own session is the root.
fn watched(cx: &mut Cx<'_>, target: &TargetId, method: &str, result: &str) {
    let route = match method {
        target::AttachToTarget::METHOD => {
            parse::<target::Attached<'_>>(target::AttachToTarget::METHOD, result)
                .map(|attached| Route::Session(SessionId::from(attached.session_id.as_str())))
        }
        _ => Ok(Route::Root),
    };
    match route {
        Ok(route) => rules::watches(cx, target, route),
        Err(_) => cx.meters().protocol_violations += 1,
    }
}

fn opening(cx: &mut Cx<'_>, page: &TargetId, event: &JavascriptDialogOpening<'_>) {
    let Some(route) = cx.state().guard.watches.get(page).map(|watch| watch.route.clone()) else { return };
    let dialog = dialog_rules::describe(&route, page, event);
    cx.desk.presets.keep(Of::Guard(page.clone()), event.default_prompt.as_deref().unwrap_or_default());
    // The next one opens before our answer to the last was confirmed: it was not our answer that closed it.
    for (id, _) in carried_on(cx, page).into_iter().filter(|(_, open)| !open.is_showing()) {
        dialog_rules::make_room(cx, id, &dialog);
    }
    emit(cx, GuardEvent::Saw { target: page.clone(), dialog: Box::new(dialog) });
    carry::adopt(cx, page);
}

fn closed(cx: &mut Cx<'_>, page: &TargetId, event: &JavascriptDialogClosed<'_>) {
    let end = SeenEnd {
        frame: event.frame_id.as_ref().map(|id| FrameId::from(id.as_str())),
        accepted: event.result,
        user_input: cut(&event.user_input, MAX_SHOWN_TEXT).to_owned(),
    };
    emit(cx, GuardEvent::SawEnd { target: page.clone(), end: end.clone() });
    if cx.state().guard.showing(page).is_none() {
        cx.desk.presets.forget(&Of::Guard(page.clone()));
    }
    for (id, open) in carried_on(cx, page) {
        if open.is_showing() && end.is_of(&open.opening) {
            carry::ended(cx, id, &open, &end, None);
        }
    }
    rules::dialog_ended(cx);
}

/// The dialogs of a page that are the guard's, for sure.
fn carried_on(cx: &Cx<'_>, page: &TargetId) -> Vec<(DialogId, Open)> {
    let open = cx.state().dialogs.open.iter();
    let here = |open: &Open| open.opening.page == *page && matches!(open.kept, Kept::ByGuard(_));
    open.filter(|(_, open)| here(open)).map(|(id, open)| (*id, open.clone())).collect()
}

/// The dialogs of a page that main lost, sure or not.
fn left_on(cx: &Cx<'_>, page: &TargetId) -> Vec<(DialogId, Open)> {
    let open = cx.state().dialogs.open.iter();
    let here = |open: &Open| open.opening.page == *page && open.kept != Kept::ByMain;
    open.filter(|(_, open)| here(open)).map(|(id, open)| (*id, open.clone())).collect()
}

/// A navigation of the page itself dismisses its dialog.
fn started_navigating(cx: &mut Cx<'_>, page: &TargetId, event: &FrameStartedNavigating<'_>) {
    let main = cx.state().pages.get(page).and_then(|page| page.main_frame.clone());
    let is_main = main.as_ref().map_or(page.as_str(), FrameId::as_str) == event.frame_id.as_str();
    let watch = cx.state().guard.watches.get(page);
    if is_main && !event.is_same_document() && watch.is_some_and(|watch| !watch.leaving) {
        emit(cx, GuardEvent::SawLeaving { target: page.clone() });
        if !cx.state().is_connected() {
            dialog_rules::explain(cx, page, Reason::Navigation);
        }
    }
}

/// An iframe was removed. If it was in another process and its dialog is open, whatever is done to the page now kills the
/// browser. While the main connection is there, that is its business.
fn frame_detached(cx: &mut Cx<'_>, page: &TargetId, event: &FrameDetached<'_>) {
    if cx.state().is_connected() || event.reason == DetachReason::Swap {
        return;
    }
    let gone = FrameId::from(event.frame_id.as_str());
    let is_hit = |open: &Open| {
        let frame = open.opening.frame.as_ref();
        frame.is_some_and(|frame| *frame == gone || cx.state().frames.is_below(frame, &gone))
    };
    let hit: Vec<_> = left_on(cx, page).into_iter().filter(|(_, open)| is_hit(open)).collect();
    for (id, open) in hit {
        if open.opening.has_browser_handler {
            cx.emit(Event::DialogUnanswerable { id, why: Unanswerable::FrameRemoved });
            cx.emit(Event::PageBlocked {
                target: page.clone(),
                why: Unanswerable::FrameRemoved,
                dialog: Some(id),
            });
        }
        dialog_rules::end(cx, id, ClosedBy::Remote, Some(Reason::TargetGone), None, None);
    }
    // Its dialog may still have to be heard of, or to be taken up.
    cx.emit(Event::FrameGone { frame: gone });
}

fn crashed(cx: &mut Cx<'_>, page: &TargetId) {
    if !cx.state().is_connected() {
        dialog_rules::explain(cx, page, Reason::Crash);
        end_carried(cx, page, Reason::Crash);
    }
}

/// The page is gone, or somebody took the guard's session away: then nobody can answer what it carried there.
fn detached(cx: &mut Cx<'_>, event: &DetachedFromTarget<'_>) {
    let route = Route::Session(SessionId::from(event.session_id.as_str()));
    let Some(page) = cx.state().guard.page_of(&route).cloned() else { return };
    emit(cx, GuardEvent::Unwatches { target: page.clone() });
    cx.desk.presets.forget(&Of::Guard(page.clone()));
    if !cx.state().is_connected() {
        dialog_rules::explain(cx, &page, Reason::TargetGone);
    }
    end_carried(cx, &page, Reason::TargetGone);
}

fn end_carried(cx: &mut Cx<'_>, page: &TargetId, reason: Reason) {
    for (id, _) in left_on(cx, page) {
        dialog_rules::end(cx, id, ClosedBy::Remote, Some(reason), None, None);
    }
}
