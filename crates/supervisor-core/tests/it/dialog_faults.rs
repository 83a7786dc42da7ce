//! Faults that supervisors of dialogs have had, and a browser that keeps no dialog open (the headless shell).

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor_core::limits::{MAX_DEFAULT_PROMPT, MAX_OWED, MAX_RECENT_DIALOGS, MAX_SHOWN_TEXT};
use supervisor_core::{
    Code, Command, DialogPolicy, EndpointKind, Input, Net, Options, Outcome, Place, Remedy,
};

use crate::rig::{Rig, accept};

fn auto_dismiss() -> Options {
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoDismiss;
    options
}

fn opening(rig: &mut Rig, session: &str, more: Value) {
    let mut event = json!({"url": "http://a.test/", "frameId": "P", "message": "?", "type": "confirm",
        "hasBrowserHandler": true, "defaultPrompt": ""});
    for (key, value) in more.as_object().unwrap() {
        event[key] = value.clone();
    }
    rig.event(session, "Page.javascriptDialogOpening", event);
}

// Fault D11
#[test]
fn a_second_session_of_a_page_is_let_go_and_what_it_reports_counts_for_nothing() {
    let mut rig = Rig::with_page();
    rig.attach_page("P", "SP2", json!({}));
    rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
    assert_eq!(rig.sent_as("Target.detachFromTarget").last().unwrap()["params"]["sessionId"], "SP2");
    for session in ["SP", "SP2"] {
        rig.opening(session, "P", "alert", "hello");
    }
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    for session in ["SP", "SP2"] {
        rig.closed(session, "P", true, "");
    }
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.recent_dialogs.len(), snapshot.counts.dialogs_seen), (1, 1));
}

// Fault D15
#[test]
fn a_megabyte_is_shown_cut_and_only_the_default_text_is_kept_whole() {
    let mut rig = Rig::with_page();
    let long = "x".repeat(2 * MAX_DEFAULT_PROMPT);
    opening(&mut rig, "SP", json!({"type": "prompt", "message": long, "defaultPrompt": long, "url": long}));
    let dialog = rig.snapshot().pending_dialogs[0].clone();
    assert_eq!((dialog.message.len(), dialog.truncated), (MAX_SHOWN_TEXT, true));
    assert_eq!(dialog.full_length, Some(long.len()));
    assert_eq!((dialog.default_prompt.len(), dialog.url.len()), (MAX_SHOWN_TEXT, MAX_SHOWN_TEXT));
    rig.respond(None, accept());
    let sent = rig.sent_as("Page.handleJavaScriptDialog")[0]["params"]["promptText"].as_str().unwrap().len();
    assert_eq!(sent, MAX_DEFAULT_PROMPT);
}

// Fault D15
#[test]
fn a_flood_of_dialogs_is_counted_and_fills_nothing() {
    let mut rig = Rig::with_page_and(auto_dismiss());
    let deadlines = rig.machine.state().deadlines.len();
    for _ in 0..500 {
        rig.opening("SP", "P", "alert", &"y".repeat(10_000));
        rig.closed("SP", "P", false, "");
        let id = rig.last_id("Page.handleJavaScriptDialog");
        rig.reply(id, json!({}));
    }
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.counts.dialogs_seen, snapshot.recent_dialogs.len()), (500, MAX_RECENT_DIALOGS));
    let state = rig.machine.state();
    assert!(state.dialogs.open.is_empty() && state.dialogs.strays.is_empty());
    // The one more looks whether the page still floods.
    assert_eq!(state.deadlines.len(), deadlines + 1);
}

// Fault D16
#[test]
fn a_lost_connection_ends_the_dialog_and_the_next_one_has_a_watchdog_of_its_own() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "alert", "before");
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "gone".to_owned() }));
    let ended = rig.snapshot().recent_dialogs[0].clone();
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    rig.advance(Duration::from_secs(5));
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    for method in ["Browser.getVersion", "Target.setDiscoverTargets", "Target.setAutoAttach"] {
        rig.answer_all(method, json!({"product": "Chrome/156", "protocolVersion": "1.3"}));
    }
    rig.attach_page("P", "SP'", json!({}));
    rig.opening("SP'", "P", "alert", "after");
    rig.advance(Duration::from_secs(299));
    assert!(rig.sent_as("Page.handleJavaScriptDialog").is_empty(), "the first one's deadline is over");
    rig.advance(Duration::from_secs(1));
    let answer = rig.last_id("Page.handleJavaScriptDialog");
    rig.closed("SP'", "P", false, "");
    rig.reply(answer, json!({}));
    let closed_by: Vec<_> = rig.snapshot().recent_dialogs.iter().map(|it| it.closed_by).collect();
    assert_eq!(closed_by, [Some(ClosedBy::Remote), Some(ClosedBy::Watchdog)]);
}

// Fault D6
#[test]
fn a_browser_that_keeps_no_dialog_open_leaves_none_behind_when_the_document_changes() {
    let mut rig = Rig::with_page();
    opening(&mut rig, "SP", json!({"hasBrowserHandler": false, "url": "http://a.test/#part"}));
    // Its own document once more: nothing has changed.
    rig.navigated("SP", "P", None, "http://a.test/");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    rig.navigated("SP", "P", None, "http://b.test/");
    let snapshot = rig.snapshot();
    assert!(snapshot.pending_dialogs.is_empty());
    let ended = &snapshot.recent_dialogs[0];
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Navigation)));
    // An answer would kill the browser.
    let late = rig.respond(None, accept());
    assert_eq!(rig.code(late), Code::NoDialog);
    assert!(rig.sent_as("Page.handleJavaScriptDialog").is_empty());
}

#[test]
fn a_new_documents_dialog_that_is_reported_before_the_document_stays() {
    let mut rig = Rig::with_page();
    opening(&mut rig, "SP", json!({"hasBrowserHandler": false, "url": "http://b.test/#part"}));
    rig.navigated("SP", "P", None, "http://b.test/");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
}

#[test]
fn an_older_browser_that_names_no_frame_leaves_no_dialog_behind_either() {
    let mut rig = Rig::with_page();
    opening(&mut rig, "SP", json!({"hasBrowserHandler": false, "frameId": null}));
    rig.navigated("SP", "P", None, "http://b.test/");
    assert_eq!(rig.snapshot().recent_dialogs[0].reason, Some(Reason::Navigation));
}

/// A page with an OOPIF `B` in session `SB` at `http://b.test/`.
fn with_oopif() -> Rig {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    for (session, frame) in [("SP", "P"), ("SB", "B")] {
        rig.context(session, frame, 1);
    }
    rig
}

#[test]
fn an_older_browser_that_names_no_frame_gives_it_away_by_its_url() {
    let mut rig = with_oopif();
    let running = rig.eval("B");
    opening(&mut rig, "SP", json!({"frameId": null, "url": "http://b.test/#part"}));
    assert_eq!(rig.code(running), Code::DialogOpened);
    let (inside, outside) = (rig.eval("B"), rig.eval("P"));
    assert_eq!(rig.code(inside), Code::BlockedByDialog);
    assert_eq!(rig.outcome(outside), None);
}

#[test]
fn dialogs_of_two_places_overlap_though_an_older_browser_names_no_frame() {
    let mut rig = with_oopif();
    for url in ["http://a.test/", "http://b.test/"] {
        opening(&mut rig, "SP", json!({"frameId": null, "hasBrowserHandler": false, "url": url}));
    }
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.recent_dialogs[0].reason, Some(Reason::Overlap));
    assert!(snapshot.pending_dialogs[0].answerable);
}

#[test]
fn a_page_is_not_left_under_a_dialog_that_the_browser_would_not_close() {
    let mut rig = Rig::with_page();
    opening(&mut rig, "SP", json!({"hasBrowserHandler": false}));
    for method in ["Page.navigate", "Page.reload", "Page.navigateToHistoryEntry"] {
        let call = rig.call(Place::Active, method);
        assert_eq!(rig.code(call), Code::BlockedByDialog);
        assert!(rig.sent_as(method).is_empty());
    }
    let close = rig.call(Place::Active, "Page.close");
    assert_eq!(rig.outcome(close), None);
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.call(Place::Active, "Page.reload");
    assert_eq!(rig.sent_as("Page.reload").len(), 1, "this browser closes it");
}

#[test]
fn closing_a_target_is_answered_by_the_browser_and_not_by_the_page_that_goes() {
    let mut rig = Rig::with_page();
    let params = json!({"targetId": "P"}).to_string();
    let method = "Target.closeTarget".to_owned();
    let call = rig.host(Command::Call { place: Place::Active, method, params, timeout_ms: None });
    let sent = rig.sent.last().unwrap();
    assert_eq!((&sent["method"], &sent["sessionId"]), (&json!("Target.closeTarget"), &Value::Null));
    let id = rig.last_id("Target.closeTarget");
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    rig.reply(id, json!({"success": true}));
    assert!(matches!(rig.outcome(call), Some(Outcome::Result { .. })));
}

#[test]
fn a_page_that_takes_no_answer_any_more_is_closed_by_the_browser() {
    let mut rig = Rig::with_page();
    opening(&mut rig, "SP", json!({}));
    let answer = rig.respond(None, accept());
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply_error(id, -32000, "Not attached to an active page");
    assert_eq!(rig.code(answer), Code::Unanswerable);
    assert_eq!(rig.snapshot().pages[0].blocked.as_ref().unwrap().reason, Unanswerable::Reopening);
    let close = rig.host(Command::Recover { target_id: "P".into(), remedy: Remedy::Close });
    let sent = rig.sent.last().unwrap();
    assert_eq!((&sent["method"], &sent["sessionId"]), (&json!("Target.closeTarget"), &Value::Null));
    assert_eq!(sent["params"], json!({"targetId": "P"}));
    let id = rig.last_id("Target.closeTarget");
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    rig.reply(id, json!({"success": true}));
    assert!(matches!(rig.outcome(close), Some(Outcome::Result { .. })));
    assert_eq!(rig.snapshot().recent_dialogs[0].reason, Some(Reason::TargetGone));
}

#[test]
fn an_answer_that_nobody_confirms_ends_its_request_at_its_deadline() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "prompt", "?");
    let answer = rig.respond(None, accept());
    let deadline = Options::default().call_timeout;
    rig.advance(deadline - Duration::from_millis(1));
    assert_eq!(rig.outcome(answer), None);
    rig.advance(Duration::from_millis(1));
    assert_eq!(rig.code(answer), Code::Timeout);
    assert_eq!(rig.failure(answer).detail.dialog.as_ref().unwrap().id, supervisor_core::DialogId(1));
    // It was sent and may still be taken: then it counts as what it is.
    rig.closed("SP", "P", true, "dflt");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Agent));
    assert_eq!(rig.code(answer), Code::Timeout);
}

#[test]
fn an_answer_that_went_astray_ends_its_request_at_its_deadline() {
    let mut options = Options::default();
    options.call_timeout = Duration::from_millis(500);
    let mut rig = Rig::with_page_and(options);
    rig.opening("SP", "P", "confirm", "?");
    let answer = rig.respond(None, accept());
    // Another party dismisses it meanwhile, and what became of the answer is not said.
    rig.closed("SP", "P", false, "");
    rig.advance(Duration::from_millis(500));
    assert_eq!(rig.code(answer), Code::Timeout);
    rig.advance(Duration::from_secs(2));
    assert!(rig.machine.state().dialogs.strays.is_empty());
}

/// Each dialog that another one of its page overlaps ends once more, later; a peer that never says so is not waited for.
#[test]
fn ends_that_are_still_to_be_told_are_bounded() {
    let mut rig = Rig::with_page();
    let owed = |rig: &Rig| rig.machine.state().pages.get(&"P".into()).unwrap().slot.owed.len();
    for frame in 0..=MAX_OWED {
        rig.opening("SP", &format!("F{frame}"), "alert", "!");
        assert_eq!(owed(&rig), frame);
    }
    rig.opening("SP", "F", "alert", "!");
    assert_eq!(owed(&rig), MAX_OWED, "the oldest is not expected any more");
    for frame in 1..=MAX_OWED {
        rig.closed("SP", &format!("F{frame}"), false, "");
        assert_eq!(owed(&rig), MAX_OWED - frame);
        assert_eq!(rig.snapshot().pending_dialogs.len(), 1, "those ends are no news, and not the open one's");
    }
    rig.closed("SP", "F", false, "");
    assert!(rig.snapshot().pending_dialogs.is_empty());
}

/// Found by the simulator: the session of a frame that had left its parent's process was announced so late that the frame
/// counted as removed by then.
#[test]
fn a_frame_that_was_taken_for_removed_and_is_back_may_ask() {
    let mut rig = Rig::with_page();
    rig.event("SP", "Page.frameAttached", json!({"frameId": "B", "parentFrameId": "P"}));
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "swap"}));
    // The first answer is to a question of before.
    for _ in 0..2 {
        let asked = rig.last_id("Page.getFrameTree");
        rig.reply(asked, json!({"frameTree": {"frame": {"id": "P", "loaderId": "L"}}}));
    }
    assert_eq!(rig.tree(), ["P<- "]);
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.opening("SP", "B", "confirm", "?");
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.pending_dialogs.len(), 1, "{:?}", snapshot.recent_dialogs);
    assert!(snapshot.pending_dialogs[0].answerable);
}
