//! How each call ends: once, with its own code.

use std::ops::Range;

use cdp_wire::runtime::EvaluateResult;
use cdp_wire::{Reply, ReplyError, parse};
use serde_json::value::RawValue;

use crate::call::late;
use crate::call::{Call, CallEnd, CallStage};
use crate::context::Cx;
use crate::effect::{Body, Effect, Outcome};
use crate::event::Event;
use crate::failure::{CdpError, Code, Failure, JsException};
use crate::ids::CallId;
use crate::session::gone;
use crate::state::State;

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
pub(crate) fn evaluated(result: &str, text: &str) -> Outcome {
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
pub(crate) fn slice_of(part: &str, text: &str) -> Range<usize> {
    let start = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize).min(text.len());
    start..(start + part.len()).min(text.len())
}

/// The browser's error, under the code that tells a host what to do.
pub(crate) fn refused(call: &Call, error: &ReplyError<'_>) -> Failure {
    let message = error.message.as_str();
    let is = |part: &str| message.contains(part);
    let code = match error.code {
        -32001 => Code::SessionClosed,
        _ if is("Inspected target navigated")
            // The same in older words, seen up to Chrome 138.
            || is("Execution context was destroyed")
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
pub(crate) fn meaning(code: Code) -> &'static str {
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
