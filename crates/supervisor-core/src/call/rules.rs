//! What a host asks, and how each call ends: once, with its own code.

use std::ops::Range;
use std::time::Duration;

use cdp_wire::runtime::{Evaluate, EvaluateResult};
use cdp_wire::{FrameId, Reply, ReplyError, parse};
use serde_json::value::RawValue;

use crate::bridge::{intercept, rules as bridge};
use crate::call::blocking::{self, Fate};
use crate::call::late;
use crate::call::raw::{self, Verdict};
use crate::call::recover;
use crate::call::routing::{self, Routed};
use crate::call::{Call, CallEnd, CallStage};
use crate::connection;
use crate::context::{Cx, Expression};
use crate::dialog::answer as dialog_answer;
use crate::effect::{Body, Effect, Outcome};
use crate::event::Event;
use crate::failure::{CdpError, Code, Failure, JsException};
use crate::flights::Purpose;
use crate::ids::{CallId, DialogId, Req, Route};
use crate::input::{Action, Command, DialogChoice, Place};
use crate::limits::{CONTEXT_WAIT, MAX_CALL_PARAMS, MAX_CALL_TIMEOUT, MAX_CALLS};
use crate::session::gone;
use crate::snapshot::view;
use crate::state::State;

/// A host's request.
pub(crate) fn host(cx: &mut Cx<'_>, req: Req, command: Command) {
    match command {
        Command::Start => connection::start(cx, req),
        Command::Stop => connection::stop(cx, req),
        Command::Configure { options } if let Err(text) = options.check() => {
            cx.fail(req, Failure::new(Code::InvalidArgument, text));
        }
        Command::Configure { options } => {
            let is_moved = options.bridge_host != cx.state().options.bridge_host;
            cx.emit(Event::OptionsChanged { options });
            if is_moved {
                bridge::host_changed(cx);
            }
            connection::options_changed(cx);
            cx.reply(req, Outcome::Done);
        }
        Command::Respond { choice, action } => dialog_answer::respond(cx, req, &choice, &action),
        Command::Call { place, method, params, timeout_ms } => {
            call(cx, req, &place, &method, &params, timeout_ms.map(Duration::from_millis));
        }
        Command::Eval { frame_id, expression, await_promise, timeout_ms } => {
            let expression = Expression { text: expression, await_promise };
            eval(cx, req, frame_id, expression, timeout_ms.map(Duration::from_millis));
        }
        Command::Result { call_id, timeout_ms } => {
            late::asked(cx, req, call_id, timeout_ms.map(Duration::from_millis));
        }
        Command::Recover { target_id, remedy } => recover::page(cx, req, &target_id, &remedy),
        Command::Cancel { req } => cancelled(cx, req),
    }
}

fn call(cx: &mut Cx<'_>, req: Req, to: &Place, method: &str, params: &str, timeout: Option<Duration>) {
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
    let route = routed.route.clone();
    let call = started(cx, req, routed, method, false, timeout);
    cx.effect(Effect::Park { req, route: route.clone() });
    cx.emit(Event::CallSent { call });
    match intercept::host_asked(cx, &route, method, params) {
        Some((method, params)) => cx.send_raw(&route, &method, &params, Purpose::Call(call)),
        None => cx.send_raw(&route, method, params, Purpose::Call(call)),
    };
}

fn checked_call(
    state: &State,
    to: &Place,
    method: &str,
    params: &str,
    timeout: Option<Duration>,
) -> Result<Routed, Failure> {
    routing::connected(state)?;
    check_arguments(method, params, timeout)?;
    if let Verdict::Refuse(why) = raw::verdict(method) {
        return Err(Failure::new(Code::Refused, format!("{method} is refused: {why}")));
    }
    let routed = routing::place(state, to, method)?;
    let page = state.sessions.get(&routed.route).and_then(|session| state.pages.get(&session.page));
    if let Some(why) =
        page.and_then(|page| raw::kills(method, page)).or_else(|| closes_doomed(state, method, params))
    {
        return Err(Failure::new(Code::Refused, format!("{method} is refused: {why}")));
    }
    routing::renderer(state, &routed.route, method)?;
    has_room(state)?;
    Ok(routed)
}

/// `Target.closeTarget` names its page in the parameters.
fn closes_doomed(state: &State, method: &str, params: &str) -> Option<&'static str> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Named {
        target_id: cdp_wire::TargetId,
    }
    let named = (method == "Target.closeTarget").then(|| serde_json::from_str::<Named>(params).ok())??;
    raw::kills(method, state.pages.get(&named.target_id)?)
}

fn check_arguments(method: &str, params: &str, timeout: Option<Duration>) -> Result<(), Failure> {
    let wrong = |text: String| Err(Failure::new(Code::InvalidArgument, text));
    if !method.split_once('.').is_some_and(|(domain, name)| !domain.is_empty() && !name.is_empty()) {
        return wrong(format!(
            "expected a method such as `Page.navigate`, got `{}`",
            crate::shown::cut(method, 100)
        ));
    }
    if params.len() > MAX_CALL_PARAMS {
        return wrong(format!(
            "the parameters have {} bytes, at most {MAX_CALL_PARAMS} are sent",
            params.len()
        ));
    }
    match serde_json::from_str::<&RawValue>(params) {
        Ok(raw) if raw.get().starts_with('{') => check_timeout(timeout),
        Ok(_) => wrong("expected the parameters to be a JSON object".to_owned()),
        Err(error) => wrong(format!("the parameters are no JSON object: {error}")),
    }
}

fn check_timeout(timeout: Option<Duration>) -> Result<(), Failure> {
    if timeout.is_some_and(|timeout| timeout > MAX_CALL_TIMEOUT) {
        let text = format!("the timeout is longer than a day ({} s)", MAX_CALL_TIMEOUT.as_secs());
        return Err(Failure::new(Code::InvalidArgument, text));
    }
    Ok(())
}

fn has_room(state: &State) -> Result<(), Failure> {
    if state.calls.open.len() < MAX_CALLS {
        return Ok(());
    }
    let text = format!("{MAX_CALLS} calls are open already; wait for some of them to end");
    Err(Failure::new(Code::Refused, text))
}

/// A raw `Page.handleJavaScriptDialog` is an answer like any other, so that exactly one party answers.
fn reroute(cx: &mut Cx<'_>, req: Req, routed: &Routed, params: &str) {
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

fn eval(
    cx: &mut Cx<'_>,
    req: Req,
    frame: Option<FrameId>,
    expression: Expression,
    timeout: Option<Duration>,
) {
    let routed = match checked_eval(cx.state(), frame, &expression, timeout) {
        Ok(routed) => routed,
        Err(failure) => return cx.fail(req, failure),
    };
    let document = routed.frame.as_ref().and_then(|frame| settled_document(cx.state(), &routed.route, frame));
    let route = routed.route.clone();
    let call = started(cx, req, routed, "Runtime.evaluate", true, timeout);
    match document {
        Some(context) => evaluate(cx, call, &route, context, expression),
        None => {
            let until = cx.at.after(CONTEXT_WAIT);
            cx.desk.parked.insert(call, expression);
            cx.emit(Event::CallWaits { call, until });
        }
    }
}

/// The document that is in a frame and will stay there for now.
fn settled_document(state: &State, route: &Route, frame: &FrameId) -> Option<i64> {
    let stays = state.frames.get(frame).is_none_or(|known| !known.navigating);
    let (context, _) = state.sessions.get(route)?.document(frame)?;
    stays.then_some(context)
}

fn checked_eval(
    state: &State,
    frame: Option<FrameId>,
    expression: &Expression,
    timeout: Option<Duration>,
) -> Result<Routed, Failure> {
    routing::connected(state)?;
    check_timeout(timeout)?;
    if expression.text.len() > MAX_CALL_PARAMS {
        let text =
            format!("the expression has {} bytes, at most {MAX_CALL_PARAMS} are sent", expression.text.len());
        return Err(Failure::new(Code::InvalidArgument, text));
    }
    let routed = match frame {
        Some(frame) => {
            let (_, route) = routing::living(state, &frame)?;
            Routed { route, frame: Some(frame) }
        }
        None => {
            let routed = routing::place(state, &Place::Active, "Runtime.evaluate")?;
            // Before the page was listed, its main frame has the page's id.
            let page = state.pages.active().map(FrameId::from);
            Routed { frame: routed.frame.or(page), ..routed }
        }
    };
    routing::renderer(state, &routed.route, "Runtime.evaluate")?;
    has_room(state)?;
    Ok(routed)
}

fn evaluate(cx: &mut Cx<'_>, call: CallId, route: &Route, context: i64, expression: Expression) {
    let unique =
        cx.state().sessions.get(route).and_then(|it| it.contexts.get(&context)).map(|it| it.unique.clone());
    let req = cx.state().calls.open.get(&call).and_then(|call| call.req);
    cx.emit(Event::CallBound { call, route: route.clone(), context });
    if let Some(req) = req {
        cx.effect(Effect::Park { req, route: route.clone() });
    }
    let command = Evaluate {
        expression: expression.text,
        unique_context_id: unique,
        await_promise: expression.await_promise,
        return_by_value: true,
        user_gesture: true,
    };
    cx.send(route, &command, Purpose::Call(call));
}

fn started(
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

/// The document that calls were waiting for came.
pub(crate) fn document_came(cx: &mut Cx<'_>, route: &Route, frame: &FrameId) {
    if cx.desk.parked.is_empty() {
        return;
    }
    let is_home = cx.state().frames.get(frame).is_none_or(|known| known.owner.as_ref() == Some(route));
    let document = settled_document(cx.state(), route, frame);
    let Some(context) = document.filter(|_| is_home) else { return };
    let waiting = |call: &Call| call.stage == CallStage::Waiting && call.frame.as_ref() == Some(frame);
    let calls: Vec<_> =
        cx.state().calls.open.iter().filter(|(_, call)| waiting(call)).map(|(id, _)| *id).collect();
    for call in calls {
        if let Some(expression) = cx.desk.parked.remove(&call) {
            evaluate(cx, call, route, context, expression);
        }
    }
}

/// A document is gone, and calls that ran in it with it: the browser answers some of them late and some never.
pub(crate) fn document_left(cx: &mut Cx<'_>, route: &Route, context: Option<i64>) {
    end_where(cx, Code::Navigated, |call| {
        call.route == *route && call.context.is_some() && (context.is_none() || call.context == context)
    });
}

pub(crate) fn no_document(cx: &mut Cx<'_>, call: CallId) {
    end_call(cx, call, Code::Navigated);
}

/// The browser answered a call.
pub(crate) fn replied(cx: &mut Cx<'_>, id: CallId, reply: &Reply<'_>, text: &str) {
    let Some(call) = cx.state().calls.open.get(&id).cloned() else { return };
    let outcome = match &reply.outcome {
        Ok(result) if call.eval => evaluated(result, text),
        Ok(result) => Outcome::Result {
            body: Body::Slice(slice_of(result, text)),
            frame_id: call.frame.clone(),
            session_id: call.route.session_id().cloned(),
        },
        Err(error) => Outcome::Failed(refused(&call, error)),
    };
    finish(cx, id, &call, outcome);
}

/// Ends a call with its outcome: told to whoever asked, or kept for whoever will.
pub(crate) fn finish(cx: &mut Cx<'_>, id: CallId, call: &Call, outcome: Outcome) {
    cx.desk.parked.remove(&id);
    let end = match &outcome {
        Outcome::Failed(failure) => CallEnd::Failed(failure.code),
        _ => CallEnd::Answered,
    };
    match call.req {
        Some(req) => {
            let parked = (call.stage != CallStage::Waiting).then(|| call.route.clone());
            cx.emit(Event::CallEnded { call: id, end });
            cx.effect(Effect::Reply { req, parked, outcome });
        }
        None => late::arrived(cx, id, call, end, outcome),
    }
    gone::retire(cx, &call.route);
}

/// The value of an expression, or what it threw.
fn evaluated(result: &str, text: &str) -> Outcome {
    let parsed: EvaluateResult<'_> = match parse("Runtime.evaluate", result) {
        Ok(parsed) => parsed,
        Err(error) => {
            return Outcome::Failed(Failure::new(Code::CdpError, format!("the browser's reply: {error}")));
        }
    };
    if let Some(details) = parsed.exception_details {
        let thrown = details.exception.as_ref().and_then(|it| it.description.as_deref());
        let value = details.exception.as_ref().and_then(|it| it.value.map(RawValue::get));
        let said = thrown.or(value).unwrap_or(&details.text);
        let said = crate::shown::cut(said, crate::limits::MAX_SHOWN_TEXT).to_owned();
        let exception =
            JsException { text: said.clone(), line: details.line_number, column: details.column_number };
        let failure = Failure::new(Code::JsException, format!("the expression threw: {said}"));
        return Outcome::Failed(failure.with(|detail| detail.exception = Some(exception)));
    }
    let kind = parsed.result.kind.as_str().to_owned();
    let body = match (parsed.result.value, parsed.result.unserializable_value) {
        (Some(value), _) => Body::Slice(slice_of(value.get(), text)),
        (None, Some(special)) => Body::Text(serde_json::to_string(&special).unwrap_or_default()),
        (None, None) => Body::Text("null".to_owned()),
    };
    Outcome::Value { body, kind }
}

/// Where a part of the message stands in it.
fn slice_of(part: &str, text: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
    start..(start + part.len()).min(text.len())
}

/// The browser's error, under the code that tells a host what to do.
fn refused(call: &Call, error: &ReplyError<'_>) -> Failure {
    let message = error.message.as_str();
    let is = |part: &str| message.contains(part);
    let code = match error.code {
        -32001 => Code::SessionClosed,
        _ if is("Inspected target navigated")
            || is("Cannot find context")
            || is("uniqueContextId not found") =>
        {
            Code::Navigated
        }
        _ if is("Target crashed") => Code::TargetCrashed,
        _ => Code::CdpError,
    };
    let method = &call.method;
    let said = crate::shown::cut(message, crate::limits::MAX_SHOWN_TEXT);
    let text = match code {
        Code::CdpError => format!("the browser refused {method}: {said} ({})", error.code),
        code => format!("{method}: {}", meaning(code)),
    };
    let cdp = CdpError { code: error.code, message: said.to_owned() };
    Failure::new(code, text).with(|detail| {
        detail.cdp = Some(cdp);
        detail.frame_id.clone_from(&call.frame);
    })
}

/// What a host should know when a call ends so.
fn meaning(code: Code) -> &'static str {
    match code {
        Code::Navigated => "the document that the call ran in is gone; call again for the new one",
        Code::FrameGone => "the frame is gone; take a frame_id from a fresh snapshot",
        Code::PageGone => "the page is gone; take a target_id from a fresh snapshot",
        Code::TargetCrashed => "the renderer crashed; navigate or reload the page to bring it back",
        Code::SessionClosed => "the session ended; call again, the supervisor finds the new one",
        Code::Disconnected => "the connection was lost while the call ran; whether it took effect is unknown",
        Code::NotConnected => "the task was stopped while the call ran",
        Code::Timeout => "the deadline passed without an answer; whether it takes effect later is unknown",
        _ => "the call could not be completed",
    }
}

pub(crate) fn deadline(cx: &mut Cx<'_>, call: CallId) {
    end_call(cx, call, Code::Timeout);
}

/// Ends a call that will get no answer.
pub(crate) fn end_call(cx: &mut Cx<'_>, id: CallId, code: Code) {
    let Some(call) = cx.state().calls.open.get(&id).cloned() else { return };
    let text = match (code, call.stage) {
        (Code::Navigated, CallStage::Waiting) => {
            format!("{}: the frame got no document to run in; try again when it has loaded", call.method)
        }
        _ => format!("{}: {}", call.method, meaning(code)),
    };
    let failure = Failure::new(code, text).with(|detail| detail.frame_id.clone_from(&call.frame));
    finish(cx, id, &call, Outcome::Failed(failure));
}

pub(crate) fn end_where(cx: &mut Cx<'_>, code: Code, hit: impl Fn(&Call) -> bool) {
    end_each(cx, |_, call| hit(call).then_some(code));
}

/// Ends each call for which there is a reason.
pub(crate) fn end_each(cx: &mut Cx<'_>, why: impl Fn(&State, &Call) -> Option<Code>) {
    let state = cx.state();
    let open = state.calls.open.iter();
    let hit: Vec<_> = open.filter_map(|(id, call)| Some((*id, why(state, call)?))).collect();
    for (id, code) in hit {
        end_call(cx, id, code);
    }
}

/// The caller is gone: nobody is told how the call ends.
fn cancelled(cx: &mut Cx<'_>, req: Req) {
    if let Some(call) = cx.state().calls.by_req.get(&req).copied() {
        let route = cx.state().calls.open.get(&call).map(|call| call.route.clone());
        cx.desk.parked.remove(&call);
        cx.emit(Event::CallEnded { call, end: CallEnd::Forgotten });
        if let Some(route) = route {
            gone::retire(cx, &route);
        }
    } else if cx.state().calls.waiters.contains_key(&req) {
        cx.emit(Event::ResultAnswered { req });
    }
}

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
fn block(cx: &mut Cx<'_>, id: CallId, dialog: DialogId) {
    let Some(call) = cx.state().calls.open.get(&id).cloned() else { return };
    let failure = routing::blocked(cx.state(), dialog, &call.method, Fate::Hangs);
    finish(cx, id, &call, Outcome::Failed(failure));
}

fn interrupt(cx: &mut Cx<'_>, id: CallId, dialog: DialogId) {
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
