//! When there is a guard: made, made again, given up.

use cdp_wire::{TargetId, page, target};

use crate::connection::backoff;
use crate::context::Cx;
use crate::deadlines::Due;
use crate::effect::{Effect, GuardEffect};
use crate::event::Event;
use crate::flights::Purpose;
use crate::guard::{GuardEvent, Stands, Teller, Watch, Why, carry};
use crate::ids::{EndpointKind, Epoch, Route};
use crate::input::Net;
use crate::limits::GUARD_QUARRELS;
use crate::snapshot::Status;
use crate::state::State;

/// What a browser without a user interface calls itself. It dismisses a dialog when any of its clients leaves (measured on
/// 156: whichever of two connections is cut, the other one hears `Closed`).
const WITHOUT_INTERFACE: &str = "HeadlessChrome/";

/// Makes or leaves the guard, as the host wants it now.
pub(crate) fn settle(cx: &mut Cx<'_>) {
    let state = cx.state();
    let (wanted, in_use) = (is_wanted(state), state.guard.in_use());
    let is_due = state.is_connected() && state.deadlines.get(&Due::GuardRetry).is_none();
    match (wanted, in_use) {
        (true, false) if is_due && state.guard.unsuited.is_none() => begin(cx),
        (true, true) | (true, false) => leave_if_unsuited(cx),
        (false, _) => leave_if_free(cx),
    }
}

fn is_wanted(state: &State) -> bool {
    let lives = matches!(state.connection.status, Status::Connected | Status::Reconnecting);
    state.options.guard && lives && state.connection.stopper.is_none() && state.observer.is_none()
}

fn begin(cx: &mut Cx<'_>) {
    let is_unsuited =
        cx.state().connection.product.as_ref().is_some_and(|it| it.starts_with(WITHOUT_INTERFACE));
    if is_unsuited {
        return unsuited(cx, Why::ClosesDialogs);
    }
    stands(cx, Stands::Unavailable(Why::Connecting), None);
    dial(cx, 0);
}

fn dial(cx: &mut Cx<'_>, attempt: u32) {
    let epoch = Epoch(cx.state().guard.epoch.0.wrapping_add(1));
    let made_for = cx.state().connection.epoch;
    emit(cx, GuardEvent::Dialing { epoch, made_for, attempt });
    cx.effect(Effect::Guard(GuardEffect::Dial { epoch }));
}

/// This browser is better off without.
pub(crate) fn unsuited(cx: &mut Cx<'_>, why: Why) {
    if cx.state().guard.unsuited.is_none() {
        emit(cx, GuardEvent::Unsuited { why });
        stands(cx, Stands::Unavailable(why), None);
        leave_if_unsuited(cx);
    }
}

pub(crate) fn leave_if_unsuited(cx: &mut Cx<'_>) {
    if let Some(why) = cx.state().guard.unsuited.filter(|_| cx.state().guard.in_use() && is_free(cx.state()))
    {
        hang_up(cx);
        stands(cx, Stands::Unavailable(why), None);
    }
}

fn leave_if_free(cx: &mut Cx<'_>) {
    if is_free(cx.state()) {
        hang_up(cx);
        stands(cx, Stands::Off, None);
    }
}

/// A dialog has ended: what waited for that is done now.
pub(crate) fn dialog_ended(cx: &mut Cx<'_>) {
    if cx.state().guard.in_use() && (cx.state().guard.unsuited.is_some() || !is_wanted(cx.state())) {
        settle(cx);
    }
}

/// Whether nothing is lost when the guard leaves: no dialog is its to answer, or only it has heard of, or would be dismissed.
fn is_free(state: &State) -> bool {
    let guard = &state.guard;
    let needs = |watch: &Watch| {
        let shows = watch.showing.iter().any(|it| !it.settled);
        shows && (guard.unsuited.is_some() || watch.teller != Teller::Main)
    };
    !guard.is_catching_up() && !carry::carries_any(state) && !guard.watches.values().any(needs)
}

/// The task is over.
pub(crate) fn end(cx: &mut Cx<'_>) {
    hang_up(cx);
    stands(cx, Stands::Off, None);
}

fn hang_up(cx: &mut Cx<'_>) {
    if cx.state().guard.in_use() || cx.state().deadlines.get(&Due::GuardRetry).is_some() {
        let epoch = cx.state().guard.epoch;
        cx.effect(Effect::Guard(GuardEffect::HangUp { epoch }));
        emit(cx, GuardEvent::Lost { retry_at: None });
        cx.desk.presets.guard_lost();
    }
}

pub(crate) fn stands(cx: &mut Cx<'_>, stands: Stands, message: Option<String>) {
    if cx.state().guard.stands != stands || cx.state().guard.message != message {
        emit(cx, GuardEvent::Stands { stands, message });
    }
}

pub(crate) fn emit(cx: &mut Cx<'_>, event: GuardEvent) {
    cx.emit(Event::Guard(event));
}

/// The guard's socket changed. What is of an earlier one means nothing.
pub(crate) fn net(cx: &mut Cx<'_>, net: Net) {
    let guard = &cx.state().guard;
    let (is_open, dialling) = (guard.endpoint.is_some(), guard.dialling);
    match net {
        _ if net.epoch() != guard.epoch => {}
        Net::Connected { epoch, endpoint } if dialling => opened(cx, epoch, endpoint),
        Net::DialFailed { reason, .. } if dialling => lost(cx, &reason),
        Net::Lost { reason, .. } if is_open => lost(cx, &reason),
        Net::Garbage { .. } if is_open => cx.meters().protocol_violations += 1,
        _ => {}
    }
}

fn opened(cx: &mut Cx<'_>, epoch: Epoch, endpoint: EndpointKind) {
    let is_other = cx.state().connection.endpoint.as_ref().is_some_and(|main| *main != endpoint);
    emit(cx, GuardEvent::Opened { epoch, endpoint });
    if is_other {
        return another_browser(cx);
    }
    let pages: Vec<TargetId> = cx.state().pages.iter().map(|(target, _)| target.clone()).collect();
    if pages.is_empty() {
        stands(cx, Stands::Unavailable(Why::NoPage), None);
    }
    pages.iter().for_each(|page| watch(cx, page));
}

/// The main connection has a page: the guard listens there too. That it can is what shows that both are on the same
/// browser.
pub(crate) fn watch(cx: &mut Cx<'_>, target: &TargetId) {
    let purpose = Purpose::Watch(target.clone());
    let guard = &cx.state().guard;
    let Some(endpoint) = &guard.endpoint else { return };
    if guard.watches.contains_key(target) || guard.flights.any(&purpose) {
        return;
    }
    let target_id = target.clone();
    match endpoint {
        // The root is the page's own session; whether it is the same page, this tells.
        EndpointKind::Page(own) if own == target => {
            cx.send_guard(&Route::Root, &target::GetTargetInfo { target_id }, purpose);
        }
        _ => {
            let attach = target::AttachToTarget { target_id, flatten: true };
            cx.send_guard(&Route::Root, &attach, purpose);
        }
    }
}

/// It has a session there.
pub(crate) fn watches(cx: &mut Cx<'_>, target: &TargetId, route: Route) {
    emit(cx, GuardEvent::Watches { target: target.clone(), route: route.clone() });
    cx.send_guard(&route, &page::Enable {}, Purpose::Setup);
    if cx.state().guard.unsuited.is_none() {
        stands(cx, Stands::On, None);
    }
}

/// It could not have one. A page may just have closed; but where no page of the main connection is found, the browser is
/// another one.
pub(crate) fn watch_refused(cx: &mut Cx<'_>, target: &TargetId) {
    let state = cx.state();
    if state.is_connected() && state.pages.get(target).is_some() && state.guard.watches.is_empty() {
        another_browser(cx);
    }
}

/// The main connection may have come back to another browser than it was on when the guard was made.
fn another_browser(cx: &mut Cx<'_>) {
    let was_made_before = cx.state().guard.made_for != cx.state().connection.epoch;
    hang_up(cx);
    carry::guard_lost(cx);
    if was_made_before {
        stands(cx, Stands::Unavailable(Why::Connecting), None);
        dial(cx, 0);
    } else {
        stands(cx, Stands::Unavailable(Why::AnotherBrowser), None);
    }
}

/// The main connection found another browser than the one that was lost: the guard is still on that one, and is made anew.
pub(crate) fn browser_replaced(cx: &mut Cx<'_>) {
    if cx.state().guard.in_use() {
        hang_up(cx);
        carry::guard_lost(cx);
    }
}

/// The guard is gone: what it carried nobody can answer any more. It is made again like the main connection.
fn lost(cx: &mut Cx<'_>, reason: &str) {
    let guard = &cx.state().guard;
    let budget = cx.state().options.reconnect;
    let retry_at = cx.at.after(backoff(guard.attempt, !cx.state().seed ^ u64::from(guard.epoch.0)));
    let lost_at = guard.lost_at.unwrap_or(cx.at);
    let in_budget = guard.attempt < budget.tries && retry_at.since(lost_at) <= budget.within;
    let goes_on = in_budget && is_wanted(cx.state()) && guard.unsuited.is_none();
    emit(cx, GuardEvent::Lost { retry_at: goes_on.then_some(retry_at) });
    carry::guard_lost(cx);
    match cx.state().guard.unsuited {
        Some(why) => stands(cx, Stands::Unavailable(why), None),
        None if is_wanted(cx.state()) => stands(cx, Stands::Unavailable(Why::Lost), Some(reason.to_owned())),
        None => stands(cx, Stands::Off, None),
    }
}

pub(crate) fn expired(cx: &mut Cx<'_>, due: &Due) {
    match due {
        Due::GuardRetry if is_wanted(cx.state()) => dial(cx, cx.state().guard.attempt + 1),
        Due::GuardRetry => settle(cx),
        Due::GuardAnswer if cx.state().guard.watches.is_empty() && cx.state().pages.is_empty() => {}
        _ => {
            let epoch = cx.state().guard.epoch;
            cx.effect(Effect::Guard(GuardEffect::HangUp { epoch }));
            lost(cx, "the socket is open, but the browser does not answer on it");
        }
    }
}

/// A backend that allows one connection only drops the first when the second comes, again and again. Each socket of the guard
/// is blamed once.
pub(crate) fn main_lost(cx: &mut Cx<'_>) {
    if let Some(since) = cx.state().guard.opened_at {
        let just_after = cx.at.since(since) < crate::limits::GUARD_PROBATION;
        emit(cx, GuardEvent::MainLost { just_after });
        if cx.state().guard.quarrels >= GUARD_QUARRELS {
            unsuited(cx, Why::OneConnection);
        }
    }
}
