//! Pages that open dialogs without end, or with texts of megabytes: told of, counted, and bounded.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::limits::{
    FLOOD_DIALOGS, FLOOD_WINDOW, MAX_BRIDGE_PRESETS, MAX_DEFAULT_PROMPT, MAX_RECENT_DIALOGS, MAX_SHOWN_TEXT,
};
use supervisor_core::{Bridge, DialogPolicy, Event, Options};

use crate::rig::{Rig, accept};

fn auto_dismiss() -> Rig {
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoDismiss;
    Rig::with_page_and(options)
}

/// An alert that the policy dismisses.
fn alert(rig: &mut Rig) {
    rig.opening("SP", "P", "alert", "again");
    rig.closed("SP", "P", false, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
}

fn alerts(rig: &mut Rig, count: u32) {
    (0..count).for_each(|_| alert(rig));
}

fn floods(rig: &mut Rig) -> bool {
    rig.snapshot().pages[0].flooding
}

// Fault D15
#[test]
fn a_page_floods_beyond_the_limit_and_until_a_window_was_calm() {
    let mut rig = auto_dismiss();
    alerts(&mut rig, FLOOD_DIALOGS);
    assert!(!floods(&mut rig));
    alert(&mut rig);
    assert!(floods(&mut rig));
    // It goes on for another window, and then stops.
    alerts(&mut rig, FLOOD_DIALOGS + 1);
    rig.advance(FLOOD_WINDOW);
    assert!(floods(&mut rig));
    alerts(&mut rig, FLOOD_DIALOGS);
    rig.advance(FLOOD_WINDOW);
    assert!(!floods(&mut rig));
    let told = |wished: fn(&Event) -> bool| rig.events.iter().filter(|event| wished(event)).count();
    assert_eq!(told(|event| matches!(event, Event::PageFlooding { .. })), 2);
    assert_eq!(told(|event| matches!(event, Event::PageCalm { .. })), 1);
}

#[test]
fn many_dialogs_in_a_long_time_are_no_flood() {
    let mut rig = auto_dismiss();
    for _ in 0..4 {
        alerts(&mut rig, FLOOD_DIALOGS);
        rig.advance(FLOOD_WINDOW);
    }
    assert!(!floods(&mut rig));
}

// Fault D15
#[test]
fn a_flood_fills_nothing_and_another_page_is_answered_meanwhile() {
    let mut rig = Rig::with_page();
    rig.attach_page("Q", "SQ", json!({}));
    rig.opening("SQ", "Q", "confirm", "elsewhere");
    let before = rig.machine.holdings();
    for _ in 0..300 {
        rig.opening("SP", "P", "alert", &"y".repeat(10_000));
        let id = rig.machine.state().dialogs.next.0 - 1;
        rig.respond(Some(id), accept());
        rig.closed("SP", "P", true, "");
        rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    }
    let req = rig.respond(Some(1), accept());
    rig.closed("SQ", "Q", true, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    assert!(rig.outcome(req).is_some());
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.counts.dialogs_seen, snapshot.recent_dialogs.len()), (301, MAX_RECENT_DIALOGS));
    assert_eq!((snapshot.pages[0].flooding, snapshot.pages[1].flooding), (true, false));
    let after = rig.machine.holdings();
    assert_eq!(after.recent_dialogs, MAX_RECENT_DIALOGS);
    // What else it holds: that a page floods is looked at again.
    assert!(after.deadlines <= before.deadlines + 1, "{after:?}");
    assert!(serde_json::to_vec(&*snapshot).unwrap().len() < 8 * 1024 * MAX_RECENT_DIALOGS);
}

#[test]
fn a_page_that_closes_takes_its_flood_with_it() {
    let mut rig = auto_dismiss();
    alerts(&mut rig, FLOOD_DIALOGS + 1);
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    rig.advance(2 * FLOOD_WINDOW);
    rig.attach_page("P", "SP2", json!({}));
    assert!(!floods(&mut rig));
}

fn bridged() -> Rig {
    let mut options = Options::default();
    options.bridge = Bridge::On;
    Rig::with_page_and(options)
}

/// What the script asks, with a default text of so many bytes.
fn request(rig: &Rig, id: &str, frame: &str, bytes: usize) -> Value {
    let sent = rig.sent_as("Page.addScriptToEvaluateOnNewDocument");
    let source = sent.first().expect("the script was sent")["params"]["source"].as_str().unwrap();
    let between = |before: &str, after: &str| {
        source.split_once(before).unwrap().1.split_once(after).unwrap().0.to_owned()
    };
    let (url, token) = (between("'POST', 'https://", "'"), between(r#"{"token":""#, r#"""#));
    let body = json!({"token": token, "kind": "prompt", "message": "?", "preset": "x".repeat(bytes)});
    json!({"requestId": id, "frameId": frame, "resourceType": "XHR",
        "request": {"url": format!("https://{url}"), "method": "POST", "headers": {}, "postData": body.to_string()}})
}

// Fault B6, D15
#[test]
fn forged_requests_are_refused_counted_and_told_of_as_a_flood() {
    let mut rig = bridged();
    let mut forged = request(&rig, "R", "P", 0);
    forged["resourceType"] = json!("Fetch");
    for _ in 0..500 {
        rig.event("SP", "Fetch.requestPaused", forged.clone());
    }
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.counts.meters.bridge_refused, snapshot.counts.dialogs_seen), (500, 0));
    assert!(snapshot.pages[0].flooding && snapshot.pending_dialogs.is_empty());
    assert_eq!(rig.sent_as("Fetch.failRequest").len(), 500);
    // The script itself is heard all the same.
    let real = request(&rig, "R", "P", 0);
    rig.event("SP", "Fetch.requestPaused", real);
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
}

// Fault D15, B8
#[test]
fn long_default_texts_are_bounded_over_all_frames() {
    let mut rig = bridged();
    let most = MAX_BRIDGE_PRESETS / MAX_DEFAULT_PROMPT;
    for number in 0..=most {
        let frame = format!("F{number}");
        rig.event("SP", "Page.frameAttached", json!({"frameId": frame, "parentFrameId": "P"}));
        let asks = request(&rig, &format!("R{number}"), &frame, MAX_DEFAULT_PROMPT);
        rig.event("SP", "Fetch.requestPaused", asks);
    }
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pending_dialogs.len(), snapshot.counts.meters.bridge_refused), (most, 1));
    // One that is answered makes room, and gives the page its text whole.
    rig.respond(Some(1), accept());
    let reply = rig.sent_as("Fetch.fulfillRequest")[0]["params"]["body"].as_str().unwrap().len();
    assert!(reply > MAX_DEFAULT_PROMPT, "{reply}");
    rig.answer_all("Fetch.fulfillRequest", json!({}));
    let asks = request(&rig, "R", "P", MAX_DEFAULT_PROMPT);
    rig.event("SP", "Fetch.requestPaused", asks);
    assert_eq!(rig.snapshot().pending_dialogs.len(), most);
}

// Fault D15
#[test]
fn no_event_holds_a_text_of_megabytes_and_nothing_of_it_stays() {
    let mut rig = auto_dismiss();
    let long = "x".repeat(MAX_DEFAULT_PROMPT);
    let params = json!({"type": "prompt", "message": long, "defaultPrompt": long, "url": "http://a.test/",
        "frameId": "P", "hasBrowserHandler": true});
    rig.event("SP", "Page.javascriptDialogOpening", params);
    let written = rig.events.iter().map(|event| serde_json::to_vec(event).unwrap().len()).max().unwrap();
    assert!(written < 4 * MAX_SHOWN_TEXT, "{written}");
    let open = serde_json::to_vec(&rig.machine.checkpoint()).unwrap().len();
    assert!(open > MAX_DEFAULT_PROMPT, "it is kept while it may be sent back");
    rig.closed("SP", "P", false, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    rig.advance(Duration::from_secs(2));
    assert!(serde_json::to_vec(&rig.machine.checkpoint()).unwrap().len() < MAX_DEFAULT_PROMPT / 2);
}
