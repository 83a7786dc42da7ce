//! When the bridge is on, what its requests mean, and how its dialogs end.

use cdp_wire::fetch::{ContinueRequest, FailRequest, FulfillRequest, HeaderEntry, RequestPaused};
use cdp_wire::page::{
    AddScriptToEvaluateOnNewDocument, DialogType, RemoveScriptToEvaluateOnNewDocument, ScriptAdded,
};
use cdp_wire::{FetchRequestId, FrameId, TargetId, Text, parse};
use serde::Deserialize;

use crate::bridge::script::{self, Secrets};
use crate::bridge::wanted::Wanted;
use crate::bridge::{Element, Paused, Unavailable, intercept, sandbox};
use crate::context::Cx;
use crate::dialog::answer as dialog_answer;
use crate::dialog::flood;
use crate::dialog::rules::{self as dialog_rules, New};
use crate::dialog::{Closed, ClosedBy, DialogOpening, Open, Reason, Source};
use crate::event::Event;
use crate::flights::Purpose;
use crate::ids::{DialogId, Route};
use crate::limits::{MAX_BRIDGE_DIALOGS, MAX_SHOWN_TEXT, SNATCHED_AT_ONCE, SNATCHES_THAT_TELL};
use crate::observe::bridge as observe_bridge;
use crate::options::Bridge as Choice;
use crate::shown::cut;
use crate::state::State;

/// Turns the bridge on or off where that is called for.
pub(crate) fn settle(cx: &mut Cx<'_>) {
    match (cx.state().bridge.on, cx.state().wants_bridge()) {
        (false, true) => turn_on(cx, false),
        (true, false) => turn_off(cx),
        _ => {}
    }
}

/// The host has another name: what is there is for the old one.
pub(crate) fn host_changed(cx: &mut Cx<'_>) {
    if cx.state().bridge.on {
        turn_off(cx);
    }
}

fn turn_on(cx: &mut Cx<'_>, detected: bool) {
    cx.emit(Event::BridgeTurnedOn { detected });
    for route in routes(cx.state()) {
        set_up(cx, &route);
    }
    sandbox::look_at_all(cx);
}

/// What is open is answered first: a page that waits would be asked again, natively.
fn turn_off(cx: &mut Cx<'_>) {
    sandbox::let_go(cx, |_, _| true, true);
    for id in open_where(cx.state(), |_, _| true) {
        dialog_answer::by_turning_off(cx, id);
    }
    for route in routes(cx.state()) {
        let added = cx.state().sessions.get(&route).and_then(|session| session.bridge_script.clone());
        if let Some(identifier) = added {
            cx.send(&route, &RemoveScriptToEvaluateOnNewDocument { identifier }, Purpose::Setup);
        }
        intercept::disable(cx, &route);
    }
    cx.emit(Event::BridgeTurnedOff);
}

fn routes(state: &State) -> Vec<Route> {
    state.sessions.iter().map(|(route, _)| route.clone()).collect()
}

/// What a session needs, for the documents that it has and for those that come.
pub(crate) fn set_up(cx: &mut Cx<'_>, route: &Route) {
    if !cx.state().bridge.on {
        return;
    }
    intercept::enable(cx, route);
    let source = script::source(&cx.state().options.bridge_host, &Secrets::of(cx.state().seed));
    let script = AddScriptToEvaluateOnNewDocument { source, run_immediately: true };
    cx.send(route, &script, Purpose::BridgeScript);
}

pub(crate) fn script_added(cx: &mut Cx<'_>, route: &Route, result: &str) {
    if let Ok(added) = parse::<ScriptAdded<'_>>("Page.addScriptToEvaluateOnNewDocument", result) {
        let identifier = cut(&added.identifier, MAX_SHOWN_TEXT).to_owned();
        cx.emit(Event::BridgeScriptAdded { route: route.clone(), identifier });
    }
}

/// A request stopped: it is the script's, or a page's attempt to look like it, or the host's, or nobody's.
pub(crate) fn paused(cx: &mut Cx<'_>, route: &Route, event: &RequestPaused<'_>) {
    if cx.is_observing() {
        return observe_bridge::paused(cx, route, event);
    }
    let request = event.request_id.to_string();
    let paused = Paused { route: route.clone(), request };
    let path = intercept::path(&event.request.url, &cx.state().options.bridge_host).map(str::to_owned);
    match path {
        Some(path) => {
            let asked = asked(cx.state(), &path, event);
            let has_room =
                asked.as_ref().is_some_and(|asked| cx.desk.presets.has_room_for(asked.preset.len()));
            match asked
                .filter(|_| has_room)
                .and_then(|it| Some((describe(cx.state(), route, event, &it)?, it)))
            {
                Some((dialog, asked)) => {
                    came(cx, DialogOpening { paused: Some(paused), ..dialog }, &asked.preset);
                }
                None => refuse(cx, &paused),
            }
        }
        // The host asked for it, and deals with it.
        None if cx.desk.host_fetch.contains_key(route) => {}
        None => {
            let request_id = FetchRequestId::from(paused.request.as_str());
            cx.send(route, &ContinueRequest { request_id }, Purpose::Setup);
        }
    }
}

/// The script asks. Whether its frame may ask decides who is asked.
fn came(cx: &mut Cx<'_>, dialog: DialogOpening, preset: &str) {
    match sandbox::element(cx.state(), dialog.frame.as_ref()) {
        Element::Speaks => may_ask(cx, dialog, preset),
        Element::Asked => sandbox::hold(cx, dialog, preset),
        Element::Silent => leave_to_browser(cx, &dialog),
    }
}

pub(crate) fn may_ask(cx: &mut Cx<'_>, dialog: DialogOpening, preset: &str) {
    dialog_rules::opened(cx, New::of(dialog, preset));
}

/// The script is told that nobody can be asked; it then asks the browser, which does what it always does.
pub(crate) fn leave_to_browser(cx: &mut Cx<'_>, dialog: &DialogOpening) {
    if let Some(paused) = dialog.paused.clone() {
        fail(cx, &paused);
    }
}

/// What the script sends.
#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(borrow)]
    token: Text<'a>,
    kind: DialogType,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow)]
    preset: Text<'a>,
}

fn asked<'e>(state: &State, path: &str, event: &'e RequestPaused<'_>) -> Option<Asked<'e>> {
    let secrets = Secrets::of(state.seed);
    let is_request = event.response_status_code.is_none() && event.response_error_reason.is_none();
    let is_ours = is_request && &*event.resource_type == "XHR" && &*event.request.method == "POST";
    let body =
        event.request.post_data.as_ref().filter(|_| is_ours && path == secrets.path && state.bridge.on)?;
    let asked: Asked<'e> = parse("a bridge request", body).ok()?;
    let is_dialog = matches!(asked.kind, DialogType::Alert | DialogType::Confirm | DialogType::Prompt);
    (is_dialog && *asked.token == *secrets.token).then_some(asked)
}

/// The dialog that is asked for; none where its frame has one already, or too many are open.
fn describe(
    state: &State,
    route: &Route,
    event: &RequestPaused<'_>,
    asked: &Asked<'_>,
) -> Option<DialogOpening> {
    let frame = FrameId::from(event.frame_id.as_str());
    let open = open_where(state, |_, _| true);
    let waits = |id: &DialogId| {
        let open = state.dialogs.open.get(id);
        open.is_some_and(|open| open.opening.frame.as_ref() == Some(&frame) && open.answer().is_none())
    };
    let is_held = state.bridge.held.iter().any(|held| held.dialog.frame.as_ref() == Some(&frame));
    if open.len() >= MAX_BRIDGE_DIALOGS || is_held || open.iter().any(waits) {
        return None;
    }
    let wanted = Wanted { kind: asked.kind, message: &asked.message, preset: &asked.preset };
    wanted.dialog(state, route, frame)
}

/// The page learns at once that nobody can be asked so; the script then asks the browser.
fn refuse(cx: &mut Cx<'_>, paused: &Paused) {
    cx.meters().bridge_refused += 1;
    if let Some(page) = cx.state().sessions.get(&paused.route).map(|session| session.page.clone()) {
        flood::noticed(cx, &page);
    }
    fail(cx, paused);
}

fn fail(cx: &mut Cx<'_>, paused: &Paused) {
    let request_id = FetchRequestId::from(paused.request.as_str());
    cx.send(&paused.route, &FailRequest { request_id, error_reason: "BlockedByClient" }, Purpose::Setup);
}

/// The reply that the script decodes.
pub(crate) fn reply(paused: &Paused, accepted: bool, text: Option<&str>) -> FulfillRequest {
    let body = serde_json::json!({ "accepted": accepted, "text": text }).to_string();
    let header = |name, value: &str| HeaderEntry { name, value: value.to_owned() };
    FulfillRequest {
        request_id: FetchRequestId::from(paused.request.as_str()),
        response_code: 200,
        // Documents of every origin ask, also of opaque ones.
        response_headers: vec![
            header("Access-Control-Allow-Origin", "*"),
            header("Content-Type", "text/plain;charset=utf-8"),
            header("Cache-Control", "no-store"),
        ],
        body: base64(body.as_bytes()),
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let part = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = part(0) << 16 | part(1) << 8 | part(2);
        for digit in 0..4 {
            let is_padding = digit > chunk.len();
            let value = (bits >> (18 - 6 * digit) & 0x3F) as usize;
            text.push(if is_padding { '=' } else { char::from(DIGITS[value]) });
        }
    }
    text
}

fn open_where(state: &State, wished: impl Fn(&Open, &Paused) -> bool) -> Vec<DialogId> {
    let open = state.dialogs.open.iter();
    let hit =
        open.filter(|(_, open)| open.opening.paused.as_ref().is_some_and(|paused| wished(open, paused)));
    hit.map(|(id, _)| *id).collect()
}

/// A frame leaves its document, and with it all below it: a request that is still paused would hold the navigation for as
/// long as the browser has patience. The commit itself ends nothing: the new document may ask before it is announced.
pub(crate) fn frame_leaves(cx: &mut Cx<'_>, frame: &FrameId) {
    let is_below = |state: &State, held: &DialogOpening| {
        held.frame.as_ref().is_some_and(|it| state.frames.is_below(it, frame))
    };
    sandbox::let_go(cx, is_below, true);
    release_below(cx, frame, |_| true);
}

/// A frame's process says that it loads. A process that says anything is held by no request of its own: what it asks is
/// the new document's, and only what is below in other processes is left behind.
pub(crate) fn frame_loads(cx: &mut Cx<'_>, route: &Route, frame: &FrameId) {
    let is_elsewhere = |paused: Option<&Paused>| paused.is_some_and(|paused| paused.route != *route);
    let is_left = |state: &State, held: &DialogOpening| {
        let is_below = held.frame.as_ref().is_some_and(|it| state.frames.is_below(it, frame));
        is_below && is_elsewhere(held.paused.as_ref())
    };
    sandbox::let_go(cx, is_left, true);
    release_below(cx, frame, |paused| is_elsewhere(Some(paused)));
}

fn release_below(cx: &mut Cx<'_>, frame: &FrameId, is_left: impl Fn(&Paused) -> bool) {
    let state = cx.state();
    let leaves = |open: &Open| open.opening.frame.as_ref().is_some_and(|it| state.frames.is_below(it, frame));
    let hit = |open: &Open, paused: &Paused| leaves(open) && is_left(paused) && open.answer().is_none();
    for id in open_where(state, hit) {
        release(cx, id, Reason::Navigation);
    }
}

/// Ends a dialog whose page still waits: it goes on as if it had been dismissed.
fn release(cx: &mut Cx<'_>, id: DialogId, reason: Reason) {
    let paused = cx.state().dialogs.open.get(&id).and_then(|open| open.opening.paused.clone());
    if let Some(paused) = paused {
        cx.send(&paused.route, &reply(&paused, false, None), Purpose::Setup);
    }
    dialog_rules::end(cx, id, ClosedBy::Remote, Some(reason), Some(false), None);
}

/// The sessions are gone, and the requests that were paused on them; or the page is that was asked for.
pub(crate) fn sessions_gone(cx: &mut Cx<'_>, routes: &[Route], page: Option<&TargetId>, reason: Reason) {
    let was_there = |_: &State, held: &DialogOpening| {
        held.paused.as_ref().is_some_and(|paused| routes.contains(&paused.route)) || page == Some(&held.page)
    };
    sandbox::let_go(cx, was_there, false);
    let is_hit =
        |open: &Open, paused: &Paused| routes.contains(&paused.route) || page == Some(&open.opening.page);
    for id in open_where(cx.state(), is_hit) {
        dialog_rules::end(cx, id, ClosedBy::Remote, Some(reason), None, None);
    }
}

/// A dialog ended by nobody's known doing. Where that happens at once and more than once, the backend does it.
pub(crate) fn closed_by_others(cx: &mut Cx<'_>, id: DialogId) {
    let state = cx.state();
    let at_once = |closed: &Closed| {
        closed.opening.source == Source::Native
            && closed.by == ClosedBy::Remote
            && closed.reason == Some(Reason::OtherClient)
            && closed.closed_at.since(closed.opened_at) <= SNATCHED_AT_ONCE
    };
    if !state.dialogs.closed(id).is_some_and(at_once) {
        return;
    }
    cx.emit(Event::DialogSnatched { id });
    let state = cx.state();
    let tells = state.bridge.snatched >= SNATCHES_THAT_TELL && state.options.bridge == Choice::Auto;
    if tells && !state.bridge.on && state.is_connected() && !cx.is_observing() {
        turn_on(cx, true);
    }
}

/// A native dialog opened though the page has the script: something kept it from asking us. While a document is being
/// left that is as it should be.
pub(crate) fn native_opened(cx: &mut Cx<'_>, dialog: &DialogOpening) {
    let state = cx.state();
    let frame = dialog.frame.as_ref().and_then(|frame| state.frames.get(frame));
    let is_left = state.is_navigating(&dialog.page) || frame.is_some_and(|frame| frame.navigating);
    if state.bridge.on && dialog.kind != DialogType::Beforeunload && !is_left {
        unavailable(cx, &dialog.page, Unavailable::Unknown);
    }
}

/// The browser says why it stopped a request of the script.
pub(crate) fn complained(cx: &mut Cx<'_>, route: &Route, text: &str) {
    if !cx.state().bridge.on {
        return;
    }
    let policy = text.contains("Content Security Policy") && text.contains(&*cx.state().options.bridge_host);
    let why = match text {
        _ if policy => Unavailable::ContentSecurityPolicy,
        text if text.contains("Synchronous requests are disabled by permissions policy") => {
            Unavailable::PermissionsPolicy
        }
        _ => return,
    };
    if let Some(page) = cx.state().sessions.get(route).map(|session| session.page.clone()) {
        unavailable(cx, &page, why);
    }
}

/// What tells more takes the place of what tells less.
fn unavailable(cx: &mut Cx<'_>, target: &TargetId, why: Unavailable) {
    let known = cx.state().pages.get(target).and_then(|page| page.bridge_unavailable);
    if known.is_none_or(|known| known < why) {
        cx.emit(Event::BridgeUnavailable { target: target.clone(), why });
    }
}

/// A page has a new document, which may allow what the last one did not.
pub(crate) fn page_committed(cx: &mut Cx<'_>, target: &TargetId) {
    if cx.state().pages.get(target).is_some_and(|page| page.bridge_unavailable.is_some()) {
        cx.emit(Event::BridgeAvailable { target: target.clone() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_padded_to_whole_groups() {
        let encoded = ["", "f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes()));
        assert_eq!(encoded, ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]);
        assert_eq!(base64(&[0xFF, 0xFE, 0xFD]), "//79");
    }
}
