//! Raw commands of a host: checked, routed, sent.

use std::time::Duration;

use crate::bridge::{intercept, rules as bridge};
use crate::call::check;
use crate::call::deadly;
use crate::call::raw::{self, Verdict};
use crate::call::routing::{self, Routed};
use crate::call::{script, suspect};
use crate::context::Cx;
use crate::dialog::answer as dialog_answer;
use crate::effect::Effect;
use crate::event::Event;
use crate::failure::{Code, Failure};
use crate::flights::Purpose;
use crate::ids::{CallId, Req};
use crate::input::{Action, DialogChoice, Place};
use crate::state::State;

pub(crate) fn call(
    cx: &mut Cx<'_>,
    req: Req,
    to: &Place,
    method: &str,
    params: &str,
    timeout: Option<Duration>,
) {
    let checked = checked_call(cx.state(), to, method, params, timeout);
    match (checked, raw::verdict(method)) {
        (Ok(routed), Verdict::Answer) => reroute(cx, req, &routed, params),
        (Ok(routed), _) => {
            start_call(cx, req, routed, method, params, timeout);
        }
        (Err(failure), _) => cx.fail(req, failure),
    }
}

/// Starts a call that was checked.
pub(crate) fn start_call(
    cx: &mut Cx<'_>,
    req: Req,
    routed: Routed,
    method: &str,
    params: &str,
    timeout: Option<Duration>,
) {
    let Routed { route, frame } = routed.clone();
    let call = started(cx, req, routed, method, false, timeout);
    cx.effect(Effect::Park { req, route: route.clone() });
    let runs_in = script::runs_in(cx.state(), &route, method, params);
    cx.emit(Event::CallSent { call, runs_in });
    match intercept::host_asked(cx, &route, method, params) {
        Some((method, params)) => cx.send_raw(&route, &method, &params, Purpose::Call(call)),
        None => cx.send_raw(&route, method, params, Purpose::Call(call)),
    };
    suspect::sent(cx, call);
    if let Some(frame) = frame.filter(|_| leaves_untold(cx.state(), method)) {
        bridge::frame_leaves(cx, &frame);
    }
}

/// Whether the page leaves and its browser will not tell: an older one lets the page's own process say that it loads, which
/// waits for the dialog.
fn leaves_untold(state: &State, method: &str) -> bool {
    let leaves = matches!(method, "Page.navigate" | "Page.reload" | "Page.navigateToHistoryEntry");
    leaves && !state.connection.tells_navigations
}

pub(crate) fn started(
    cx: &mut Cx<'_>,
    req: Req,
    routed: Routed,
    method: &str,
    eval: bool,
    timeout: Option<Duration>,
) -> CallId {
    let call = cx.state().calls.next;
    let deadline = cx.at.after(timeout.unwrap_or(cx.state().options.call_timeout));
    let Routed { route, frame } = routed;
    let method = method.to_owned();
    cx.emit(Event::CallStarted { req, call, route, frame, method, eval, deadline });
    call
}

pub(crate) fn checked_call(
    state: &State,
    to: &Place,
    method: &str,
    params: &str,
    timeout: Option<Duration>,
) -> Result<Routed, Failure> {
    routing::connected(state)?;
    check::check_arguments(method, params, timeout)?;
    if let Verdict::Refuse(why) = raw::verdict(method) {
        return Err(Failure::new(Code::Refused, format!("{method} is refused: {why}")));
    }
    let routed = routing::place(state, to, method)?;
    if let Some(why) = deadly::command(state, &routed.route, method, params) {
        return Err(Failure::new(Code::Refused, format!("{method} is refused: {why}")));
    }
    routing::renderer(state, &routed.route, method)?;
    check::has_room(state)?;
    Ok(routed)
}

/// A raw `Page.handleJavaScriptDialog` is an answer like any other, so that exactly one party answers.
pub(crate) fn reroute(cx: &mut Cx<'_>, req: Req, routed: &Routed, params: &str) {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Params {
        accept: bool,
        prompt_text: Option<String>,
    }
    match serde_json::from_str::<Params>(params) {
        Ok(params) => {
            let target_id = cx.state().sessions.get(&routed.route).map(|session| session.page.clone());
            let accept = Action::Accept { prompt_text: params.prompt_text };
            let action = if params.accept { accept } else { Action::Dismiss };
            dialog_answer::respond(cx, req, &DialogChoice { dialog_id: None, target_id }, &action);
        }
        Err(error) => {
            let text = format!(
                "expected {{\"accept\": bool, \"promptText\"?: string}}, got something else: {error}"
            );
            cx.fail(req, Failure::new(Code::InvalidArgument, text));
        }
    }
}
