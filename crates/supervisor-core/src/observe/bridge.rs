//! Dialogs that the client's own bridge carries: a page's script posts them to a host that leads nowhere, the client stops
//! the request and fulfils it with the answer.

use std::borrow::Cow;

use cdp_wire::fetch::RequestPaused;
use cdp_wire::page::DialogType;
use cdp_wire::{FrameId, Text, base64};
use serde::Deserialize;

use crate::bridge::Paused;
use crate::bridge::wanted::Wanted;
use crate::context::Cx;
use crate::dialog::rules::{self as dialog_rules, New};
use crate::dialog::{ClosedBy, DialogOpening, Progress, Reason};
use crate::ids::{DialogId, Route};
use crate::limits::{MAX_BRIDGE_DIALOGS, MAX_SHOWN_TEXT};
use crate::shown::cut;
use crate::state::State;

/// The domain that never resolves: only a bridge asks for it.
const NOWHERE: &str = ".invalid";

/// What bridges post, under the names that they use.
#[derive(Deserialize)]
struct Asked<'a> {
    #[serde(alias = "type")]
    kind: DialogType,
    #[serde(borrow)]
    message: Text<'a>,
    #[serde(borrow, default, alias = "def", alias = "default", alias = "defaultPrompt")]
    preset: Text<'a>,
}

/// A request stopped: is it a dialog?
pub(crate) fn paused(cx: &mut Cx<'_>, route: &Route, event: &RequestPaused<'_>) {
    let Some(dialog) = asked(cx.state(), route, event) else { return };
    if cx.state().dialogs.open.len() < MAX_BRIDGE_DIALOGS {
        // Nobody here answers, so nobody needs the whole text.
        dialog_rules::opened(cx, New::of(dialog, ""));
    } else {
        cx.meters().dropped += 1;
    }
}

fn asked(state: &State, route: &Route, event: &RequestPaused<'_>) -> Option<DialogOpening> {
    let body = event.request.post_data.as_deref().filter(|_| leads_nowhere(&event.request.url))?;
    let asked: Asked<'_> = serde_json::from_str(body).ok()?;
    let frame = FrameId::from(event.frame_id.as_str());
    let wanted = Wanted { kind: asked.kind, message: &asked.message, preset: &asked.preset };
    let paused = Some(Paused { route: route.clone(), request: event.request_id.to_string() });
    Some(DialogOpening { paused, ..wanted.dialog(state, route, frame)? })
}

fn leads_nowhere(url: &str) -> bool {
    let host = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#', ':']).next());
    host.is_some_and(|host| host.ends_with(NOWHERE))
}

#[derive(Deserialize)]
struct Fulfilled<'a> {
    #[serde(borrow, rename = "requestId")]
    request: Text<'a>,
    #[serde(borrow, default)]
    body: Option<Cow<'a, str>>,
}

/// The dialog that a command about a stopped request is for.
pub(crate) fn asked_by(state: &State, route: &Route, params: &str) -> Option<DialogId> {
    let about: Fulfilled<'_> = serde_json::from_str(params).ok()?;
    let is_it = |paused: &Paused| paused.route == *route && *paused.request == *about.request;
    let mut open = state.dialogs.open.iter().filter(|(_, open)| open.progress == Progress::Pending);
    open.find(|(_, open)| open.opening.paused.as_ref().is_some_and(is_it)).map(|(id, _)| *id)
}

#[derive(Deserialize)]
struct Body<'a> {
    #[serde(alias = "accept")]
    accepted: bool,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
}

/// Whether the client accepts, and what was typed.
pub(crate) fn answer(params: &str) -> Option<(bool, Option<String>)> {
    let body = serde_json::from_str::<Fulfilled<'_>>(params).ok()?.body?;
    let body = base64::decode(&body)?;
    let body: Body<'_> = serde_json::from_slice(&body).ok()?;
    Some((body.accepted, body.text.map(|text| cut(&text, MAX_SHOWN_TEXT).to_owned())))
}

/// The client lets the request go on, or fail: nobody answers the dialog this way any more.
pub(crate) fn let_go(cx: &mut Cx<'_>, route: &Route, params: &str) {
    if let Some(id) = asked_by(cx.state(), route, params) {
        dialog_rules::end(cx, id, ClosedBy::Remote, Some(Reason::Unknown), None, None);
    }
}
