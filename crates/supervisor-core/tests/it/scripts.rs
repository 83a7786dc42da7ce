//! Raw calls that wait for a promise end with the document that they run in.

use serde_json::{Value, json};
use supervisor_core::{Code, Command, Place, Req};

use crate::rig::Rig;

/// A page with a document of its own, a child in it, and a world that another client made.
fn with_documents() -> Rig {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    rig.event("SP", "Page.frameAttached", json!({"frameId": "kid", "parentFrameId": "P"}));
    rig.context("SP", "kid", 2);
    rig
}

fn waits(rig: &mut Rig, method: &str, mut params: Value) -> Req {
    if method != "Runtime.awaitPromise" {
        params["awaitPromise"] = json!(true);
    }
    let params = params.to_string();
    rig.host(Command::Call { place: Place::Active, method: method.into(), params, timeout_ms: None })
}

fn cleared(rig: &mut Rig) {
    rig.event("SP", "Runtime.executionContextsCleared", json!({}));
}

fn destroyed(rig: &mut Rig, id: i64, unique: &str) {
    let params = json!({"executionContextId": id, "executionContextUniqueId": unique});
    rig.event("SP", "Runtime.executionContextDestroyed", params);
}

#[test]
fn a_script_that_waits_ends_with_the_document_however_that_was_named() {
    for (method, params) in [
        ("Runtime.evaluate", json!({})),
        ("Runtime.evaluate", json!({"contextId": 1})),
        ("Runtime.evaluate", json!({"uniqueContextId": "U-SP-1"})),
        ("Runtime.evaluate", json!({"uniqueContextId": "an isolated world's"})),
        ("Runtime.callFunctionOn", json!({"objectId": "-17.1.4"})),
        ("Runtime.callFunctionOn", json!({"executionContextId": 7})),
        ("Runtime.runScript", json!({"scriptId": "3"})),
        ("Runtime.awaitPromise", json!({"promiseObjectId": "-17.1.4"})),
    ] {
        let mut rig = with_documents();
        let req = waits(&mut rig, method, params.clone());
        cleared(&mut rig);
        assert_eq!(rig.code(req), Code::Navigated, "{method} {params}");
        let id = rig.last_id(method);
        rig.reply(id, json!({"result": {"type": "undefined"}}));
        assert!(rig.machine.state().flights.get(supervisor_core::CommandId(id)).is_none());
    }
}

#[test]
fn a_script_that_waits_ends_with_its_own_document_only() {
    for (params, ends_with_kid) in [
        (json!({"contextId": 2}), true),
        (json!({"uniqueContextId": "U-SP-2"}), true),
        (json!({"contextId": 1}), false),
        (json!({"uniqueContextId": "another"}), false),
        (json!({}), false),
    ] {
        let mut rig = with_documents();
        let req = waits(&mut rig, "Runtime.evaluate", params.clone());
        destroyed(&mut rig, 2, "U-SP-2");
        assert_eq!(rig.outcome(req).is_some(), ends_with_kid, "{params}");
    }
    let mut rig = with_documents();
    let world = waits(&mut rig, "Runtime.evaluate", json!({"uniqueContextId": "an isolated world's"}));
    destroyed(&mut rig, 9, "an isolated world's");
    assert_eq!(rig.code(world), Code::Navigated);
}

/// A script that does not wait is answered before its document can go, or by the browser in its place.
#[test]
fn a_script_that_does_not_wait_is_left_to_the_browser() {
    let mut rig = with_documents();
    let params = json!({"expression": "1"}).to_string();
    let method = "Runtime.evaluate".to_owned();
    let req = rig.host(Command::Call { place: Place::Active, method, params, timeout_ms: None });
    let other = waits(&mut rig, "Page.getLayoutMetrics", json!({}));
    cleared(&mut rig);
    assert_eq!((rig.outcome(req), rig.outcome(other)), (None, None));
}

/// The browser keeps back what comes while a document is being left, and gives it to the next one.
#[test]
fn a_script_that_is_kept_back_runs_in_the_next_document() {
    let start = |rig: &mut Rig| {
        rig.event(
            "SP",
            "Page.frameStartedNavigating",
            json!({"frameId": "P", "loaderId": "L-http://a.test/next", "url": "http://a.test/next",
                "navigationType": "differentDocument"}),
        );
    };
    for is_asked_for in [true, false] {
        let mut rig = with_documents();
        if is_asked_for {
            rig.call(Place::Active, "Page.navigate");
        } else {
            start(&mut rig);
        }
        let req = waits(&mut rig, "Runtime.evaluate", json!({}));
        let meant = waits(&mut rig, "Runtime.evaluate", json!({"contextId": 1}));
        cleared(&mut rig);
        assert_eq!((rig.outcome(req), rig.code(meant)), (None, Code::Navigated));
        rig.navigated("SP", "P", None, "http://a.test/next");
        rig.context("SP", "P", 1);
        assert_eq!(rig.outcome(req), None);
        cleared(&mut rig);
        assert_eq!(rig.code(req), Code::Navigated);
    }
    let mut rig = with_documents();
    start(&mut rig);
    let req = waits(&mut rig, "Runtime.evaluate", json!({}));
    rig.event("SP", "Page.frameStoppedLoading", json!({"frameId": "P"}));
    cleared(&mut rig);
    assert_eq!(rig.code(req), Code::Navigated, "the navigation came to nothing: it ran in the old document");
}

#[test]
fn a_held_script_ends_with_its_document_and_its_end_is_kept() {
    let mut rig = with_documents();
    let req = waits(&mut rig, "Runtime.evaluate", json!({}));
    rig.opening("SP", "P", "alert", "?");
    let call_id = rig.failure(req).detail.call_id.unwrap();
    cleared(&mut rig);
    let late = rig.host(Command::Result { call_id, timeout_ms: None });
    let served = |effect: &supervisor_core::Effect| matches!(effect, supervisor_core::Effect::Serve { req, .. } if *req == late);
    assert!(rig.effects.iter().any(served));
}
