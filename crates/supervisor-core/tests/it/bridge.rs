//! The bridge, played by hand: what is sent, and what its requests mean.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::dialog::{ClosedBy, Source};
use supervisor_core::snapshot::BridgeView;
use supervisor_core::{Action, Bridge, Code, Command, DialogPolicy, Outcome, Place};

use crate::bridge_rig::{
    ask, attach_iframe, body, bridged, confirm_last, last_end, options, replies, request,
};
use crate::rig::{Rig, accept};

#[test]
fn every_session_gets_patterns_and_script_before_it_is_resumed() {
    let mut rig = bridged();
    attach_iframe(&mut rig);
    for session in ["SP", "SB"] {
        let sent = rig.sent.iter().filter(|message| message["sessionId"] == session);
        let methods: Vec<&str> = sent.map(|message| message["method"].as_str().unwrap()).collect();
        let place = |method: &str| methods.iter().position(|sent| *sent == method).unwrap();
        let resumed = place("Runtime.runIfWaitingForDebugger");
        assert!(place("Fetch.enable") < resumed && place("Page.addScriptToEvaluateOnNewDocument") < resumed);
    }
    let patterns = &rig.sent_as("Fetch.enable")[0]["params"]["patterns"];
    let host = "vibeos-dialog-bridge.invalid";
    let expected = ["https", "http"].map(|scheme| json!({"urlPattern": format!("{scheme}://{host}/*")}));
    assert_eq!(*patterns, json!(expected));
    assert_eq!(rig.snapshot().pages[0].bridge, BridgeView::On);
}

#[test]
fn a_call_that_two_dialogs_hold_goes_on_when_both_are_gone() {
    let mut rig = bridged();
    attach_iframe(&mut rig);
    let req = rig.call(Place::Active, "Input.dispatchMouseEvent");
    ask(&mut rig, "SP", "R1", "P", "confirm");
    ask(&mut rig, "SB", "R2", "B", "confirm");
    let call_id = rig.failure(req).detail.call_id.unwrap();
    let holder = |rig: &mut Rig| {
        let req = rig.host(Command::Result { call_id, timeout_ms: None });
        Some(rig.failure(req).detail.dialog.as_ref()?.id.0)
    };
    assert_eq!(holder(&mut rig), Some(1));
    rig.advance(Duration::from_secs(20));
    rig.respond(Some(1), accept());
    rig.answer_all("Fetch.fulfillRequest", json!({}));
    assert_eq!(holder(&mut rig), Some(2), "the other one holds it still");
    rig.advance(Duration::from_secs(60));
    rig.respond(Some(2), accept());
    rig.answer_all("Fetch.fulfillRequest", json!({}));
    rig.advance(Duration::from_secs(29));
    assert!(rig.machine.state().calls.open.contains_key(&call_id), "its time stood still");
    rig.advance(Duration::from_secs(2));
    assert!(rig.machine.state().calls.open.is_empty());
}

#[test]
fn without_the_bridge_nothing_of_it_is_sent() {
    for choice in [Bridge::Auto, Bridge::Off] {
        let mut rig = Rig::with_page_and(options(choice));
        assert!(rig.sent_as("Fetch.enable").is_empty());
        assert!(rig.sent_as("Page.addScriptToEvaluateOnNewDocument").is_empty());
        assert_eq!(rig.snapshot().pages[0].bridge, BridgeView::Off);
    }
}

#[test]
fn a_request_becomes_a_dialog_and_its_answer_goes_to_the_session_that_paused_it() {
    let mut rig = bridged();
    attach_iframe(&mut rig);
    ask(&mut rig, "SB", "R1", "B", "confirm");
    let pending = rig.snapshot().pending_dialogs[0].clone();
    assert_eq!(
        (pending.source, pending.frame_id.as_ref().map(|id| id.as_str()), &*pending.message),
        (Source::Bridge, Some("B"), "sure?")
    );
    assert_eq!(pending.session_id.as_ref().map(|id| id.as_str()), Some("SP"), "the page's");
    let req = rig.respond(None, accept());
    let expected = ("SB".to_owned(), "R1".to_owned(), r#"{"accepted":true,"text":null}"#.to_owned());
    assert_eq!(replies(&rig), [expected]);
    let headers = rig.sent_as("Fetch.fulfillRequest")[0]["params"]["responseHeaders"].clone();
    assert!(
        headers.as_array().unwrap().contains(&json!({"name": "Access-Control-Allow-Origin", "value": "*"}))
    );
    confirm_last(&mut rig);
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { accepted: true, .. })));
    assert_eq!(last_end(&mut rig), (Some(ClosedBy::Agent), None, Some(true)));
}

#[test]
fn prompts_get_the_text_the_default_or_nothing() {
    let mut rig = bridged();
    let text = |text: &str| Action::Accept { prompt_text: Some(text.to_owned()) };
    let cases = [
        (accept(), r#"{"accepted":true,"text":"dflt"}"#),
        (text(""), r#"{"accepted":true,"text":""}"#),
        (text("ü\"\u{1F600}"), "{\"accepted\":true,\"text\":\"ü\\\"\u{1F600}\"}"),
        (Action::Dismiss, r#"{"accepted":false,"text":null}"#),
    ];
    for (action, expected) in cases {
        ask(&mut rig, "SP", "R", "P", "prompt");
        rig.respond(None, action);
        assert_eq!(replies(&rig).last().unwrap().2, expected);
        confirm_last(&mut rig);
    }
}

#[test]
fn policies_and_the_watchdog_answer_as_they_do_natively() {
    let mut quick = options(Bridge::On);
    quick.dialog_policy = DialogPolicy::AutoAccept;
    let mut rig = Rig::with_page_and(quick);
    ask(&mut rig, "SP", "R", "P", "confirm");
    confirm_last(&mut rig);
    assert_eq!(last_end(&mut rig), (Some(ClosedBy::AutoPolicy), None, Some(true)));

    let mut rig = bridged();
    ask(&mut rig, "SP", "R", "P", "confirm");
    rig.advance(Duration::from_secs(300));
    confirm_last(&mut rig);
    assert_eq!(last_end(&mut rig), (Some(ClosedBy::Watchdog), None, Some(false)));
}

#[test]
fn stop_answers_what_is_open() {
    let mut rig = bridged();
    ask(&mut rig, "SP", "R", "P", "confirm");
    let stop = rig.host(Command::Stop);
    assert_eq!(replies(&rig).len(), 1);
    assert_eq!(rig.outcome(stop), None);
    confirm_last(&mut rig);
    assert_eq!(rig.outcome(stop), Some(&Outcome::Done));
    assert_eq!(last_end(&mut rig), (Some(ClosedBy::AutoPolicy), None, Some(false)));
}

#[test]
fn what_is_not_the_scripts_request_is_failed_at_once_and_counted() {
    let mut rig = bridged();
    let good = request(&rig, "R", "P", "confirm");
    let spoil = |pointer: &str, value: Value| {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = value;
        bad
    };
    let forged = json!({"token": "guess", "kind": "confirm", "message": "", "preset": ""}).to_string();
    let bads = [
        spoil("/resourceType", json!("Fetch")),
        spoil("/request/method", json!("GET")),
        spoil("/request/url", json!("https://vibeos-dialog-bridge.invalid/guess")),
        spoil("/request/url", json!("http://vibeos-dialog-bridge.invalid/")),
        spoil("/request/postData", json!(forged)),
        spoil("/request/postData", json!(body(&rig, "beforeunload", ""))),
        spoil("/request/postData", json!("no json")),
    ];
    for (done, bad) in bads.iter().enumerate() {
        rig.event("SP", "Fetch.requestPaused", bad.clone());
        assert_eq!(rig.sent_as("Fetch.failRequest").len(), done + 1);
        assert_eq!(rig.machine.meters().bridge_refused, done as u64 + 1);
    }
    assert!(rig.snapshot().pending_dialogs.is_empty());
}

#[test]
fn a_frame_asks_one_thing_at_a_time_and_frames_do_not_wait_for_each_other() {
    let mut rig = bridged();
    attach_iframe(&mut rig);
    ask(&mut rig, "SP", "R1", "P", "confirm");
    ask(&mut rig, "SP", "R2", "P", "confirm");
    assert_eq!(rig.sent_as("Fetch.failRequest")[0]["params"]["requestId"], "R2");
    ask(&mut rig, "SB", "R3", "B", "confirm");
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pending_dialogs.len(), snapshot.pages[0].pending_dialogs), (2, 2));
    assert!(snapshot.pending_dialogs.iter().all(|dialog| dialog.answerable));
    let req = rig.respond(None, accept());
    assert_eq!(rig.code(req), Code::AmbiguousDialog);
    // The next question may come before the reply to the answer.
    rig.respond(Some(1), accept());
    ask(&mut rig, "SP", "R4", "P", "confirm");
    assert_eq!(rig.snapshot().counts.dialogs_seen, 3);
}

#[test]
fn a_native_dialog_beside_it_stays_its_own() {
    let mut rig = bridged();
    attach_iframe(&mut rig);
    ask(&mut rig, "SB", "R1", "B", "confirm");
    rig.opening("SP", "P", "alert", "native");
    rig.closed("SP", "P", false, "");
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pending_dialogs[0].source, snapshot.pending_dialogs.len()), (Source::Bridge, 1));
    assert_eq!(snapshot.recent_dialogs[0].source, Source::Native);
}
