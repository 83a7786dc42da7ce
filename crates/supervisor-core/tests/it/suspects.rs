//! Calls into a renderer that a dialog of another host's page may hold: whether two hosts are of one site nobody tells.

use std::time::Duration;

use serde_json::json;
use supervisor_core::{CallId, Code, Command, Input, Net, Outcome, Req};

use crate::rig::{Rig, accept};

/// A page on `a.test`, and a popup of it on this host.
fn with_popup_on(host: &str) -> Rig {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    rig.attach_page("Q", "SQ", json!({"openerId": "P", "canAccessOpener": true}));
    rig.navigated("SQ", "Q", None, &format!("http://{host}/"));
    rig.context("SQ", "Q", 1);
    rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
    rig
}

fn pulses(rig: &Rig) -> usize {
    rig.sent_as("Runtime.runIfWaitingForDebugger").len()
}

/// Asks for the result of the first call.
fn late(rig: &mut Rig) -> Req {
    rig.host(Command::Result { call_id: CallId(1), timeout_ms: None })
}

fn is_open(rig: &Rig, req: Req) -> bool {
    rig.outcome(req).is_none()
}

#[test]
fn a_call_that_a_dialog_of_a_page_of_its_site_holds_is_told_so() {
    let mut rig = with_popup_on("www.a.test");
    rig.opening("SP", "P", "alert", "in the opener");
    let call = rig.eval("Q");
    let evaluation = rig.last_id("Runtime.evaluate");
    assert_eq!(pulses(&rig), 1);
    assert!(is_open(&rig, call));
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.code(call), Code::DialogOpened);
    let detail = rig.failure(call).detail.clone();
    assert_eq!((detail.dialog.unwrap().id.0, detail.call_id.unwrap().0), (1, 1));
    let next = rig.eval("Q");
    assert_eq!(rig.code(next), Code::BlockedByDialog, "now it is known");

    rig.respond(Some(1), accept());
    rig.closed("SP", "P", true, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    let result = late(&mut rig);
    rig.reply(evaluation, json!({"result": {"type": "number", "value": 1}}));
    assert!(matches!(rig.outcome(result), Some(Outcome::Value { .. })));
    let free = rig.eval("Q");
    assert_eq!((is_open(&rig, free), pulses(&rig)), (true, 1), "it is only asked while a dialog is open");
}

#[test]
fn a_dialog_that_opens_during_the_call_is_found_out_too() {
    let mut rig = with_popup_on("www.a.test");
    let call = rig.eval("Q");
    assert_eq!(pulses(&rig), 0);
    rig.opening("SP", "P", "alert", "in the opener");
    assert_eq!(pulses(&rig), 1);
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.code(call), Code::DialogOpened);
}

#[test]
fn a_renderer_that_answers_is_not_held() {
    let mut rig = with_popup_on("www.a.test");
    rig.opening("SP", "P", "alert", "in the opener");
    let call = rig.eval("Q");
    rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
    rig.advance(Duration::from_secs(29));
    assert!(is_open(&rig, call), "its own process: it takes its time, up to its deadline");
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.code(call), Code::Timeout);
}

#[test]
fn a_busy_renderer_that_answers_after_all_sets_the_deadline_going_again() {
    let mut rig = with_popup_on("www.a.test");
    rig.opening("SP", "P", "alert", "in the opener");
    let call = rig.eval("Q");
    rig.advance(Duration::from_secs(10));
    assert_eq!(rig.code(call), Code::DialogOpened);
    rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
    let result = late(&mut rig);
    assert!(is_open(&rig, result), "no dialog holds it any more");
    rig.advance(Duration::from_secs(29));
    assert_eq!(rig.code(result), Code::Timeout, "of thirty seconds one was gone before");
}

#[test]
fn another_dialog_that_may_hold_it_is_found_out_in_its_turn() {
    let mut rig = with_popup_on("www.a.test");
    rig.opening("SP", "P", "alert", "first");
    rig.eval("Q");
    rig.advance(Duration::from_secs(1));
    rig.respond(Some(1), accept());
    rig.closed("SP", "P", true, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    let result = late(&mut rig);
    rig.opening("SP", "P", "alert", "second");
    assert_eq!(pulses(&rig), 1, "the renderer has not answered the first question yet");
    rig.advance(Duration::from_secs(1));
    assert_eq!(
        (rig.code(result), rig.failure(result).detail.dialog.as_ref().unwrap().id.0),
        (Code::DialogOpened, 2)
    );
}

#[test]
fn a_page_that_is_on_its_way_is_silent_for_that() {
    let mut rig = with_popup_on("www.a.test");
    rig.opening("SP", "P", "alert", "in the opener");
    let call = rig.eval("Q");
    let navigation = json!({"frameId": "Q", "loaderId": "L2", "navigationType": "differentDocument", "url": "http://c.test/"});
    rig.event("SQ", "Page.frameStartedNavigating", navigation);
    rig.advance(Duration::from_secs(5));
    assert!(is_open(&rig, call));
    rig.event("SQ", "Page.frameStoppedLoading", json!({"frameId": "Q"}));
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.code(call), Code::DialogOpened);
}

#[test]
fn a_page_of_another_site_is_not_asked() {
    let mut rig = with_popup_on("b.test");
    rig.opening("SP", "P", "alert", "in the opener");
    let call = rig.eval("Q");
    assert_eq!((is_open(&rig, call), pulses(&rig)), (true, 0));
}

/// Older browsers name no frame, and both have the same URL.
#[test]
fn where_nobody_says_whose_the_dialog_is_the_renderers_tell() {
    let mut rig = Rig::with_page();
    for (frame, session) in [("B", "SB"), ("C", "SC")] {
        rig.attach_iframe("SP", frame, session, "P");
        rig.navigated(session, frame, Some("P"), "http://b.test/same");
        rig.context(session, frame, 1);
    }
    rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
    let dialog =
        json!({"url": "http://x.test/", "message": "whose?", "type": "alert", "hasBrowserHandler": false});
    rig.event("SP", "Page.javascriptDialogOpening", dialog);
    let (held, free) = (rig.eval("B"), rig.eval("C"));
    let ids: Vec<_> =
        rig.sent_as("Runtime.runIfWaitingForDebugger").iter().map(|it| it["id"].as_u64()).collect();
    rig.reply(ids[1].unwrap(), json!({}));
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.code(held), Code::DialogOpened);
    assert!(is_open(&rig, free));
}

/// Found by the simulator: with the dialogs that end, calls are let go, and nobody is left who could be asked about them.
#[test]
fn a_lost_connection_ends_calls_under_two_dialogs_and_asks_nobody() {
    let mut rig = with_popup_on("www.a.test");
    let held = rig.eval("P");
    rig.opening("SP", "P", "alert", "in the opener");
    rig.opening("SQ", "Q", "alert", "in the popup");
    assert_eq!(rig.code(held), Code::DialogOpened);
    let before = pulses(&rig);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "gone".to_owned() }));
    assert_eq!(pulses(&rig), before);
}
