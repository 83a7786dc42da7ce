//! What becomes of open dialogs when one of the two connections is lost.

use cdp_wire::{TargetId, browser};

use crate::connection;
use crate::context::Cx;
use crate::dialog::answer as dialog_answer;
use crate::dialog::preset::Of;
use crate::dialog::rules::{self as dialog_rules, End, New};
use crate::dialog::{ClosedBy, Kept, Open, Progress, Reason, Unanswerable};
use crate::flights::Purpose;
use crate::guard::rules::{self, emit};
use crate::guard::{Ended, GuardEvent, SeenEnd, Showing, Stands, Teller};
use crate::ids::{DialogId, Route};
use crate::state::State;

/// Whether any dialog is the guard's to answer, or may be.
pub(crate) fn carries_any(state: &State) -> bool {
    state.dialogs.open.values().any(|open| open.kept != Kept::ByMain)
}

/// The main connection is lost. What it had open on pages that the guard listens on is carried, or waits for the guard to
/// have caught up.
pub(crate) fn main_lost(cx: &mut Cx<'_>) {
    let listens = cx.state().guard.stands == Stands::On || carries_any(cx.state());
    if cx.state().guard.endpoint.is_some() && listens {
        for (id, route) in carried_now(cx.state()) {
            emit(cx, GuardEvent::Carries { id, route, sure: false });
        }
        cx.send_guard(&Route::Root, &browser::GetVersion {}, Purpose::CatchUp);
    }
    rules::main_lost(cx);
}

/// The dialogs of main on pages of the guard, each with the guard's session if that has heard of it already.
fn carried_now(state: &State) -> Vec<(DialogId, Option<Route>)> {
    let is_shared = |open: &Open| {
        is_native(open) && open.is_showing() && state.guard.watches.contains_key(&open.opening.page)
    };
    let open = state.dialogs.open.iter().filter(|(_, open)| open.kept == Kept::ByMain && is_shared(open));
    let heard = |open: &Open| {
        let showing = state.guard.showing(&open.opening.page);
        let same = showing.filter(|(_, it)| !it.settled && it.dialog.is_same(&open.opening));
        same.map(|(route, _)| route.clone())
    };
    open.map(|(id, open)| (*id, heard(open))).collect()
}

fn is_native(open: &Open) -> bool {
    open.opening.paused.is_none()
}

/// The guard has heard all that main had: now its table is what is true.
pub(crate) fn caught_up(cx: &mut Cx<'_>) {
    let open = cx.state().dialogs.open.iter().filter(|(_, open)| matches!(open.kept, Kept::Unsure(_)));
    let open: Vec<(DialogId, Open)> = open.map(|(id, open)| (*id, open.clone())).collect();
    for (id, open) in open {
        settle_one(cx, id, &open);
    }
    let unknown: Vec<TargetId> = cx.state().guard.watches.keys().cloned().collect();
    for page in unknown {
        adopt(cx, &page);
    }
    connection::stop_if_answered(cx);
    rules::dialog_ended(cx);
}

fn settle_one(cx: &mut Cx<'_>, id: DialogId, open: &Open) {
    let page = &open.opening.page;
    let watch = cx.state().guard.watches.get(page);
    let showing = cx.state().guard.showing(page).filter(|(_, it)| it.dialog.is_same(&open.opening));
    let mut ends = watch.iter().flat_map(|watch| &watch.ends);
    let end = ends.find(|ended| ended.dialog.is_same(&open.opening)).cloned();
    let route = showing.map(|it| it.0.clone());
    match (route, end) {
        (Some(route), _) => {
            emit(cx, GuardEvent::Carries { id, route: Some(route), sure: true });
            goes_on(cx, id, open);
        }
        (None, Some(seen)) => ended_meanwhile(cx, id, open, &seen),
        _ => dialog_rules::end(cx, id, ClosedBy::Remote, Some(Reason::Disconnected), None, None),
    }
}

/// It ended as an answer would have done it that was on its way on the main connection: nobody will confirm it any more.
fn ended_meanwhile(cx: &mut Cx<'_>, id: DialogId, open: &Open, seen: &Ended) {
    let by_guard = cx.state().guard.flights.any(&Purpose::Answer(id));
    match &open.progress {
        Progress::Answering(answer) if !by_guard && answer.accept == seen.end.accepted => {
            dialog_answer::end_as_answered(cx, id, open);
        }
        _ => ended(cx, id, open, &seen.end, seen.overlapped.then_some(Reason::Overlap)),
    }
}

/// It is still open: an answer that was on its way on the main connection never arrived.
fn goes_on(cx: &mut Cx<'_>, id: DialogId, open: &Open) {
    let by_guard = cx.state().guard.flights.any(&Purpose::Answer(id));
    match open.progress {
        Progress::Answering(_) if !by_guard => dialog_answer::lost_with_main(cx, id, open),
        Progress::Pending => dialog_answer::by_policy(cx, id),
        _ => {}
    }
}

/// The browser closed a dialog that the guard carries.
pub(crate) fn ended(cx: &mut Cx<'_>, id: DialogId, open: &Open, end: &SeenEnd, known: Option<Reason>) {
    let leaving = cx.state().guard.watches.get(&open.opening.page).is_some_and(|watch| watch.leaving);
    let cause = match open.opening.has_browser_handler {
        // Such a browser dismisses it because a client left.
        false if !end.accepted => Some(Reason::Disconnected),
        _ if leaving && !end.accepted => Some(Reason::Navigation),
        _ => known,
    };
    let end = End { accepted: end.accepted, user_input: &end.user_input, owed: Vec::new(), cause };
    dialog_rules::ended_by_browser(cx, id, open, end);
}

/// A dialog that only the guard saw becomes one of the task's.
pub(crate) fn adopt(cx: &mut Cx<'_>, page: &TargetId) {
    let watch = cx.state().guard.watches.get(page);
    if watch.is_some_and(|watch| watch.teller == Teller::Guard && !watch.lags) {
        adopt_what_shows(cx, page, |showing| !showing.settled);
    }
}

/// The main connection takes over, and has told all that opened since it listens.
pub(crate) fn adopt_left(cx: &mut Cx<'_>, page: &TargetId) {
    adopt_what_shows(cx, page, |showing| !showing.settled && showing.compared);
}

fn adopt_what_shows(cx: &mut Cx<'_>, page: &TargetId, is_new: fn(&Showing) -> bool) {
    let state = cx.state();
    let Some((route, showing)) = state.guard.showing(page).filter(|(_, it)| is_new(it)) else { return };
    let (route, mut dialog, lost_track) = (route.clone(), showing.dialog.clone(), showing.overlaps);
    let is_gone = dialog.frame.as_ref().is_some_and(|frame| state.frames.is_gone(frame));
    let was_removed = dialog.frame.as_ref().is_some_and(|frame| state.frames.was_removed(frame));
    let mut known =
        state.dialogs.open.iter().filter(|(_, open)| is_native(open) && open.opening.page == *page);
    let is_blocked = state.pages.get(page).and_then(|page| page.blocked.as_ref());
    let is_deadly = is_blocked.is_some_and(|blocked| blocked.why == Unanswerable::FrameRemoved);
    let is_known = known.any(|(_, it)| it.opening.is_same(&dialog));
    if is_deadly || is_known || (is_gone && !was_removed) {
        return;
    }
    if let Some(own) = state.pages.get(page) {
        dialog.route = own.route.clone();
    }
    if was_removed {
        return dialog_rules::opened_too_late(cx, dialog);
    }
    let before = state.dialogs.open.iter().find(|(_, open)| is_native(open) && open.opening.page == *page);
    let before = before.map(|(id, _)| *id);
    let overlaps = before.and_then(|id| dialog_rules::make_room(cx, id, &dialog));
    let overlaps = overlaps.or(lost_track.then_some(Unanswerable::Overlap));
    let long = cx.desk.presets.get(&Of::Guard(page.clone())).map(str::to_owned);
    let preset = long.unwrap_or_else(|| dialog.default_prompt.clone());
    dialog_rules::opened(cx, New { dialog, preset: &preset, overlaps, carried: Some(route) });
}

/// The guard is lost. What it carried ends; an answer that it had sent for another dialog is settled.
pub(crate) fn guard_lost(cx: &mut Cx<'_>) {
    cx.desk.presets.guard_lost();
    let open = cx.state().dialogs.open.iter().filter(|(_, open)| open.kept != Kept::ByMain);
    let carried: Vec<DialogId> = open.map(|(id, _)| *id).collect();
    for id in carried {
        dialog_rules::end(cx, id, ClosedBy::Remote, Some(Reason::Disconnected), None, None);
    }
    let strays = cx.state().dialogs.strays.iter().filter(|stray| stray.by_guard);
    let strays: Vec<DialogId> = strays.map(|stray| stray.meant).collect();
    for id in strays {
        dialog_answer::confirmation_missing(cx, id);
    }
    connection::stop_if_answered(cx);
}
