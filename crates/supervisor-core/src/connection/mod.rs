//! The connection: opened, kept, lost, made again within a budget, and closed after the dialogs were answered.

mod apply;
pub(crate) mod identity;

use std::time::Duration;

use cdp_wire::{ReplyError, browser, target};

use crate::bridge::rules as bridge;
use crate::call::ending;
use crate::call::late;
use crate::context::Cx;
use crate::deadlines::Due;
use crate::dialog::answer as dialog_answer;
use crate::dialog::rules as dialog_rules;
use crate::dialog::{ClosedBy, Kept, Open, Progress, Reason};
use crate::effect::{Effect, Outcome};
use crate::event::Event;
use crate::failure::{Code, Failure, Stage};
use crate::flights::Purpose;
use crate::guard::{carry, rules as guard};
use crate::ids::{DialogId, EndpointKind, Epoch, Req, Route};
use crate::input::Net;
use crate::limits::{MAX_STARTERS, PROBE_EVERY, RECONNECT_FIRST, RECONNECT_LONGEST, STOP_WAIT};
use crate::options::DialogPolicy;
use crate::session::{attach, gone};
use crate::snapshot::Status;

/// The host asks to connect.
pub(crate) fn start(cx: &mut Cx<'_>, req: Req) {
    match cx.state().connection.status {
        Status::Connected | Status::Reconnecting => cx.reply(req, Outcome::Done),
        Status::Failed | Status::Stopped => {
            let text = "this binding is over; connect the task again";
            cx.fail(req, Failure::new(Code::NotConnected, text));
        }
        Status::Connecting if cx.state().connection.starters.len() >= MAX_STARTERS => {
            let text = format!("{MAX_STARTERS} requests to connect wait already; wait for the connection");
            cx.fail(req, Failure::new(Code::Refused, text));
        }
        Status::Connecting => cx.emit(Event::StartRequested { req }),
        Status::NotConnected if let Err(text) = cx.state().options.check() => {
            cx.fail(req, Failure::new(Code::InvalidArgument, text));
        }
        Status::NotConnected => {
            cx.emit(Event::StartRequested { req });
            dial(cx, 0);
        }
    }
}

fn dial(cx: &mut Cx<'_>, attempt: u32) {
    let epoch = Epoch(cx.state().connection.epoch.0.wrapping_add(1));
    cx.emit(Event::Dialing { epoch, attempt });
    cx.effect(Effect::Dial { epoch });
}

/// The connection changed. What is of an earlier epoch, or comes when all is over, means nothing.
pub(crate) fn net(cx: &mut Cx<'_>, net: Net) {
    let is_over =
        matches!(cx.state().connection.status, Status::Failed | Status::Stopped | Status::NotConnected);
    if net.epoch() != cx.state().connection.epoch || is_over {
        return;
    }
    let is_open = cx.state().connection.endpoint.is_some();
    match net {
        Net::Connected { epoch, endpoint } if !is_open => socket_opened(cx, epoch, endpoint),
        Net::Named { browser, .. } if !is_open => identity::named(cx, &browser),
        Net::DialFailed { stage, reason, http_status, .. } if !is_open => {
            dial_failed(cx, stage, &reason, http_status)
        }
        Net::Lost { reason, .. } if is_open => lost(cx, &reason),
        Net::Garbage { .. } if is_open => cx.meters().protocol_violations += 1,
        _ => {}
    }
}

/// The handshake: who the browser is and, on a browser endpoint, which pages there are. Nothing else is waited for.
fn socket_opened(cx: &mut Cx<'_>, epoch: Epoch, endpoint: EndpointKind) {
    let shown: Vec<Route> = cx.state().sessions.iter().map(|(route, _)| route.clone()).collect();
    cx.emit(Event::SocketOpened { epoch, endpoint: endpoint.clone() });
    // Their actors had to stay as long as they were shown and kept a late result; some were fetched meanwhile.
    shown.iter().for_each(|route| gone::retire(cx, route));
    cx.desk.host_fetch.clear();
    cx.desk.presets.main_lost();
    bridge::settle(cx);
    cx.send(&Route::Root, &browser::GetVersion {}, Purpose::Handshake);
    let pages = || vec![target::FilterEntry { kind: Some("page"), exclude: false }];
    // Without it titles and URLs of pages go stale; unfiltered it reports every context there is.
    cx.send(
        &Route::Root,
        &target::SetDiscoverTargets { discover: true, filter: pages() },
        Purpose::Handshake,
    );
    match endpoint {
        EndpointKind::Browser => {
            let pages = target::SetAutoAttach {
                auto_attach: true,
                wait_for_debugger_on_start: true,
                flatten: true,
                filter: pages(),
            };
            cx.send(&Route::Root, &pages, Purpose::Handshake);
        }
        EndpointKind::Page(target) => attach::root_is_page(cx, &target),
    }
}

pub(crate) fn handshake_done(cx: &mut Cx<'_>) {
    if cx.state().connection.status == Status::Connected {
        return;
    }
    identity::compare(cx);
    let epoch = cx.state().connection.epoch;
    cx.emit(Event::Connected { epoch });
    alive(cx);
    answer_starters(cx, &Outcome::Done);
    guard::settle(cx);
}

/// A backend that cannot attach to pages cannot be supervised.
pub(crate) fn handshake_refused(cx: &mut Cx<'_>, error: &ReplyError<'_>) {
    let reason = format!("the browser refused Target.setAutoAttach: {} ({})", error.message, error.code);
    handshake_failed(cx, &reason);
}

/// Pages may have been told of already, and their dialogs: that is lost as with any other connection.
fn handshake_failed(cx: &mut Cx<'_>, reason: &str) {
    hang_up(cx);
    lost(cx, reason);
}

fn start_failure(stage: Stage, reason: &str, http_status: Option<u16>) -> Failure {
    Failure::new(Code::StartFailed, format!("could not connect to the browser: {reason}")).with(|detail| {
        detail.stage = Some(stage);
        detail.http_status = http_status;
    })
}

fn dial_failed(cx: &mut Cx<'_>, stage: Stage, reason: &str, http_status: Option<u16>) {
    if cx.state().connection.was_connected {
        retry(cx, reason);
    } else {
        fail(cx, start_failure(stage, reason, http_status));
    }
}

/// The browser gave a sign of life; the next one is asked for later.
pub(crate) fn alive(cx: &mut Cx<'_>) {
    let next = cx.at.after(PROBE_EVERY);
    cx.emit(Event::ProbeScheduled { next });
}

pub(crate) fn expired(cx: &mut Cx<'_>, due: &Due) {
    match due {
        Due::Handshake => {
            handshake_failed(cx, "the socket is open, but the browser did not answer the first commands")
        }
        Due::Reconnect if cx.state().connection.stopper.is_some() => {}
        Due::Reconnect => dial(cx, cx.state().connection.attempt + 1),
        Due::Probe => {
            cx.send(&Route::Root, &browser::GetVersion {}, Purpose::Probe);
        }
        Due::ProbeAnswer => {
            hang_up(cx);
            lost(cx, "the browser answers TCP but no CDP command: it hangs");
        }
        Due::Stop => stopped(cx),
        _ => {}
    }
}

/// The socket is gone: calls end, dialogs end unless the guard carries them, and the connection is made again.
fn lost(cx: &mut Cx<'_>, reason: &str) {
    carry::main_lost(cx);
    if cx.state().connection.stopper.is_some() {
        return lost_while_stopping(cx, reason);
    }
    // Calls before the dialogs that hold them: a call that a dialog lets go would be looked after, on a socket that is gone.
    end_requests(cx, Code::Disconnected, "the connection was lost; whether the call took effect is unknown");
    end_dialogs(cx, |open| open.kept == Kept::ByMain);
    if cx.state().connection.was_connected {
        retry(cx, reason);
    } else {
        fail(cx, start_failure(Stage::Handshake, reason, None));
    }
}

/// What the guard carries can still be answered; nothing is made again.
fn lost_while_stopping(cx: &mut Cx<'_>, reason: &str) {
    if !carry::carries_any(cx.state()) {
        return stopped(cx);
    }
    end_dialogs(cx, |open| open.kept == Kept::ByMain);
    cx.emit(Event::ConnectionLost { reason: reason.to_owned(), retry_at: cx.at.after(STOP_WAIT) });
    dialog_answer::by_stop_again(cx);
    stop_if_answered(cx);
}

/// The page of a page endpoint is gone, and its socket will be: there is nothing to come back to.
pub(crate) fn inspector_detached(cx: &mut Cx<'_>, route: &Route) {
    let is_page_endpoint = matches!(cx.state().connection.endpoint, Some(EndpointKind::Page(_)));
    if is_page_endpoint && *route == Route::Root {
        gone::session(cx, &Route::Root);
        hang_up(cx);
        fail(
            cx,
            Failure::new(Code::PageGone, "the page of this page endpoint was closed; connect to another one"),
        );
    }
}

/// Exponential backoff with jitter, within a budget of tries and of time.
fn retry(cx: &mut Cx<'_>, reason: &str) {
    let connection = &cx.state().connection;
    let budget = cx.state().options.reconnect;
    let retry_at = cx.at.after(backoff(connection.attempt, cx.state().seed ^ u64::from(connection.epoch.0)));
    let lost_at = connection.lost_at.unwrap_or(cx.at);
    if connection.attempt >= budget.tries || retry_at.since(lost_at) > budget.within {
        let text = format!(
            "the connection was lost and {} attempts to make it again failed: {reason}. Start the browser and connect again",
            connection.attempt
        );
        hang_up(cx);
        return fail(cx, Failure::new(Code::Disconnected, text));
    }
    cx.emit(Event::ConnectionLost { reason: reason.to_owned(), retry_at });
}

/// Half a second, doubled each time up to ten, each between three quarters and five quarters of that.
pub(crate) fn backoff(attempt: u32, seed: u64) -> Duration {
    let whole = RECONNECT_FIRST.saturating_mul(1 << attempt.min(16)).min(RECONNECT_LONGEST);
    let jitter = mix(seed.wrapping_add(u64::from(attempt))) % 501;
    whole * 3 / 4 + whole * u32::try_from(jitter).unwrap_or(0) / 1000
}

/// One step of SplitMix64: evenly spread bits from a counter.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The task is over, and says so once.
fn fail(cx: &mut Cx<'_>, failure: Failure) {
    // The last connection that could answer them is about to go.
    dialog_answer::by_stop_again(cx);
    end_requests(cx, Code::Disconnected, "the connection is gone for good");
    end_dialogs(cx, |_| true);
    cx.emit(Event::Failed { failure: failure.clone() });
    answer_starters(cx, &Outcome::Failed(failure));
    if let Some(req) = cx.state().connection.stopper {
        cx.reply(req, Outcome::Done);
    }
    guard::end(cx);
    cx.effect(Effect::Ended);
}

fn hang_up(cx: &mut Cx<'_>) {
    if cx.state().connection.endpoint.is_some() {
        let epoch = cx.state().connection.epoch;
        cx.effect(Effect::HangUp { epoch });
    }
}

fn answer_starters(cx: &mut Cx<'_>, outcome: &Outcome) {
    let starters: Vec<Req> = cx.state().connection.starters.iter().copied().collect();
    for req in starters {
        cx.emit(Event::StartAnswered { req });
        cx.reply(req, outcome.clone());
    }
}

/// A dialog ends when its connection does: what becomes of it in the browser, nobody here will know.
fn end_dialogs(cx: &mut Cx<'_>, ends: impl Fn(&Open) -> bool) {
    let open = cx.state().dialogs.open.iter().filter(|(_, open)| ends(open));
    let open: Vec<DialogId> = open.map(|(id, _)| *id).collect();
    for id in open {
        match cx.state().dialogs.open.get(&id).map(|open| &open.progress) {
            // The browser had said that it took our answer.
            Some(Progress::Taken(_)) => dialog_answer::confirmation_missing(cx, id),
            _ => dialog_rules::end(cx, id, ClosedBy::Remote, Some(Reason::Disconnected), None, None),
        }
    }
    let strays = cx.state().dialogs.strays.iter().filter(|stray| !stray.by_guard);
    let strays: Vec<DialogId> = strays.map(|stray| stray.meant).collect();
    for id in strays {
        dialog_answer::confirmation_missing(cx, id);
    }
}

fn end_requests(cx: &mut Cx<'_>, code: Code, text: &str) {
    ending::end_where(cx, code, |_| true);
    late::end_all(cx, code, text);
    let routes = cx.state().sessions.iter().map(|(route, _)| route);
    let idle: Vec<Route> = routes.filter(|route| !cx.state().calls.needs(route)).cloned().collect();
    for route in idle {
        cx.effect(Effect::Retire { route });
    }
}

/// The options changed: a new policy also decides about what is open.
pub(crate) fn options_changed(cx: &mut Cx<'_>) {
    if cx.state().is_connected() {
        bridge::settle(cx);
    }
    let open: Vec<(DialogId, crate::time::At)> =
        cx.state().dialogs.open.iter().map(|(id, open)| (*id, open.opened_at)).collect();
    for (id, opened_at) in open {
        let watchdog = (cx.state().options.dialog_policy == DialogPolicy::MustRespond)
            .then(|| opened_at.after(cx.state().options.dialog_timeout).max(cx.at));
        cx.emit(Event::DialogWatchdogSet { id, watchdog });
        dialog_answer::by_policy(cx, id);
    }
    guard::settle(cx);
}

/// The host asks to stop: what is open and may safely be answered is dismissed first.
pub(crate) fn stop(cx: &mut Cx<'_>, req: Req) {
    if cx.state().connection.stopper.is_some() || cx.state().connection.status == Status::Stopped {
        return cx.reply(req, Outcome::Done);
    }
    cx.emit(Event::StopRequested { req });
    let open: Vec<DialogId> = cx.state().dialogs.open.keys().copied().collect();
    for id in open {
        dialog_answer::by_stop(cx, id);
    }
    stop_if_answered(cx);
}

/// Once no answer is on its way any more, a task that stops has stopped.
pub(crate) fn stop_if_answered(cx: &mut Cx<'_>) {
    let is_stopping =
        cx.state().connection.stopper.is_some() && cx.state().connection.status != Status::Stopped;
    let on_its_way = |open: &Open| open.answer().is_some() && dialog_answer::has_a_way(cx.state(), open);
    let waits = cx.state().guard.is_catching_up() || cx.state().dialogs.open.values().any(on_its_way);
    if is_stopping && !waits {
        stopped(cx);
    }
}

fn stopped(cx: &mut Cx<'_>) {
    let Some(req) = cx.state().connection.stopper else { return };
    if cx.state().connection.status == Status::Stopped {
        return;
    }
    hang_up(cx);
    cx.emit(Event::Stopped);
    end_requests(cx, Code::NotConnected, "the task was stopped");
    end_dialogs(cx, |_| true);
    let stopped = Failure::new(Code::NotConnected, "the task was stopped while it was connecting");
    answer_starters(cx, &Outcome::Failed(stopped));
    guard::end(cx);
    cx.reply(req, Outcome::Done);
    cx.effect(Effect::Ended);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_to_its_bound_and_differs_between_seeds() {
        let first = backoff(0, 1);
        assert!((RECONNECT_FIRST * 3 / 4..=RECONNECT_FIRST * 5 / 4).contains(&first), "{first:?}");
        assert!((0..100).all(|attempt| backoff(attempt, 7) <= RECONNECT_LONGEST * 5 / 4));
        assert_ne!(backoff(3, 1), backoff(3, 2));
    }
}
