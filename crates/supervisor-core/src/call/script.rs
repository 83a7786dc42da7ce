//! Raw calls that wait for a promise: the document that they run in takes them with it, and the browser tells of some of
//! them late and of some never.

use cdp_wire::{FrameId, UniqueContextId};
use serde::Deserialize;

use crate::call::{Call, CallStage, RunsIn, blocking, ending, eval};
use crate::context::Cx;
use crate::event::Event;
use crate::failure::Code;
use crate::ids::{CallId, Route};
use crate::state::State;

/// What such a command says about where its script runs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Params {
    await_promise: bool,
    context_id: Option<i64>,
    execution_context_id: Option<i64>,
    unique_context_id: Option<UniqueContextId>,
    object_id: Option<String>,
    promise_object_id: Option<String>,
}

/// Where the script of a raw call runs, if it has one that waits. A script that does not wait is always answered.
pub(crate) fn runs_in(state: &State, route: &Route, method: &str, params: &str) -> RunsIn {
    let waits = match method {
        "Runtime.evaluate" | "Runtime.callFunctionOn" | "Runtime.runScript" => false,
        "Runtime.awaitPromise" => true,
        _ => return RunsIn::Unknown,
    };
    let params: Params = serde_json::from_str(params).unwrap_or_default();
    if !waits && !params.await_promise {
        return RunsIn::Unknown;
    }
    let object = params.object_id.as_deref().or(params.promise_object_id.as_deref());
    match (params.context_id.or(params.execution_context_id), params.unique_context_id, object) {
        (Some(id), _, _) => RunsIn::Context(id),
        (None, Some(unique), _) => named(state, route, unique),
        (None, None, Some(object)) => context_of(object).map_or(RunsIn::Unknown, RunsIn::Context),
        (None, None, None) => in_the_document(state, route),
    }
}

fn named(state: &State, route: &Route, unique: UniqueContextId) -> RunsIn {
    let mut contexts = state.sessions.get(route).into_iter().flat_map(|session| &session.contexts);
    let known = contexts.find(|(_, context)| context.unique == unique);
    known.map_or(RunsIn::Unique(unique), |(id, _)| RunsIn::Context(*id))
}

/// Chromium's ids of objects have the context's number in the middle: `isolate.context.object`.
fn context_of(object: &str) -> Option<i64> {
    object.split('.').nth(1)?.parse().ok()
}

/// Without a context a script runs in the document of the session's own frame. While that is being left, the browser keeps
/// the command back and gives it to the next one.
fn in_the_document(state: &State, route: &Route) -> RunsIn {
    let Some(root) = state.root_frame(route) else { return RunsIn::NextDocument };
    let leaves = |call: &Call| call.route == *route && blocking::is_navigation(&call.method);
    if state.calls.open.values().any(leaves) {
        return RunsIn::NextDocument;
    }
    eval::settled_document(state, route, &root).map_or(RunsIn::NextDocument, RunsIn::Context)
}

/// A frame has a document that stays: what was kept back for it runs in it.
pub(crate) fn document_came(cx: &mut Cx<'_>, route: &Route, frame: &FrameId) {
    let state = cx.state();
    if state.calls.open.is_empty() || state.root_frame(route).as_ref() != Some(frame) {
        return;
    }
    let is_next = |call: &Call| call.route == *route && call.runs_in == RunsIn::NextDocument;
    let calls: Vec<CallId> =
        state.calls.open.iter().filter(|(_, call)| is_next(call)).map(|(id, _)| *id).collect();
    if let Some(context) = eval::settled_document(state, route, frame) {
        for call in calls {
            cx.emit(Event::CallBound { call, route: route.clone(), context });
        }
    }
}

/// What ended with a document.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Ended<'a> {
    /// All execution contexts of the session.
    All,
    /// One, by its number and, where the browser says it, its unique id.
    One(i64, Option<&'a str>),
}

/// A document is gone, and calls that ran in it with it: the browser answers some of them late and some never.
pub(crate) fn document_left(cx: &mut Cx<'_>, route: &Route, ended: Ended<'_>) {
    let is_hit = |runs_in: &RunsIn| match (runs_in, ended) {
        (RunsIn::Context(_) | RunsIn::Unique(_), Ended::All) => true,
        (RunsIn::Context(id), Ended::One(gone, _)) => *id == gone,
        (RunsIn::Unique(unique), Ended::One(_, gone)) => gone == Some(unique.as_str()),
        (RunsIn::Unknown | RunsIn::NextDocument, _) => false,
    };
    ending::end_where(cx, Code::Navigated, |call| {
        call.stage != CallStage::Waiting && call.route == *route && is_hit(&call.runs_in)
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_context_is_in_the_middle_of_an_objects_id() {
        assert_eq!(context_of("2653267971931581169.2.1"), Some(2));
        assert_eq!(context_of("-17.12.3"), Some(12));
        assert_eq!([context_of("17"), context_of("{\"injectedScriptId\":1}"), context_of("")], [None; 3]);
    }
}
