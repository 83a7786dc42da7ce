//! Another client is observed: what it says tells what the browser's messages mean.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::limits::MAX_METHOD;
use supervisor_core::{Code, Command, DialogPolicy, Event, Options, Purpose, Status};

use crate::rig::Rig;

fn with_page() -> Rig {
    let mut rig = Rig::observing();
    rig.attach_page("P", "SP", json!({}));
    rig.navigated("SP", "P", None, "http://a.test/");
    rig
}

fn attach(rig: &mut Rig, on: &str, kind: &str, target: &str, session: &str, more: Value) {
    let mut info =
        json!({"targetId": target, "type": kind, "url": "http://a.test/", "title": "t", "attached": true});
    more.as_object().unwrap().iter().for_each(|(key, value)| info[key] = value.clone());
    rig.event(
        on,
        "Target.attachedToTarget",
        json!({"sessionId": session, "targetInfo": info, "waitingForDebugger": false}),
    );
}

fn detach(rig: &mut Rig, on: &str, session: &str) {
    rig.event(on, "Target.detachedFromTarget", json!({"sessionId": session}));
}

fn answer(rig: &mut Rig, session: &str, id: u64, accept: bool) {
    rig.observed(
        session,
        id,
        "Page.handleJavaScriptDialog",
        json!({"accept": accept, "promptText": "typed"}),
    );
}

/// Type, who closed it, whether it was accepted, what was typed.
fn recent(rig: &mut Rig) -> Vec<Value> {
    let shown = |it: &supervisor_core::DialogView| json!([it.kind, it.closed_by, it.accepted, it.user_input]);
    rig.snapshot().recent_dialogs.iter().map(shown).collect()
}

#[test]
fn an_observer_is_connected_and_sends_nothing() {
    let mut rig = with_page();
    rig.opening("SP", "P", "confirm", "q");
    rig.advance(Duration::from_secs(3_600));
    assert_eq!(rig.snapshot().status.status, Status::Connected);
    assert_eq!((rig.sent.len(), rig.snapshot().pending_dialogs.len()), (0, 1));
    let req = rig.host(Command::Configure { options: Box::new(Options::default()) });
    assert_eq!(rig.code(req), Code::Refused);
}

#[test]
fn no_policy_answers_for_the_client() {
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoAccept;
    let observes = Some(supervisor_core::EndpointKind::Browser);
    let beginning = supervisor_core::Beginning { options, observes, ..Default::default() };
    let mut rig = Rig::from(&beginning);
    rig.attach_page("P", "SP", json!({}));
    rig.opening("SP", "P", "confirm", "q");
    assert!(!rig.events.iter().any(|event| matches!(event, Event::DialogAnswering { .. })));
}

#[test]
fn the_clients_answer_is_the_agents() {
    let mut rig = with_page();
    rig.opening("SP", "P", "prompt", "q");
    answer(&mut rig, "SP", 7, true);
    rig.closed("SP", "P", true, "typed");
    rig.reply(7, json!({}));
    assert_eq!(recent(&mut rig), [json!(["prompt", "agent", true, "typed"])]);
    rig.opening("SP", "P", "confirm", "q");
    rig.closed("SP", "P", false, "");
    rig.advance(Duration::from_secs(2));
    assert_eq!(recent(&mut rig)[1], json!(["confirm", "remote", false, null]));
}

#[test]
fn an_answer_that_no_page_can_take_is_none() {
    let mut rig = with_page();
    attach(&mut rig, "SP", "iframe", "F", "SF", json!({"parentFrameId": "P"}));
    rig.opening("SP", "F", "confirm", "q");
    answer(&mut rig, "SF", 7, true);
    rig.reply_error(7, -32000, "Command can only be executed on top-level targets");
    let pending = rig.snapshot().pending_dialogs.clone();
    assert_eq!((pending.len(), pending[0].answerable), (1, true));
}

#[test]
fn an_answer_on_another_session_of_the_page_counts() {
    let mut rig = with_page();
    rig.attach_page("P", "SP2", json!({}));
    rig.opening("SP", "P", "confirm", "q");
    rig.opening("SP2", "P", "confirm", "q");
    answer(&mut rig, "SP2", 7, true);
    rig.closed("SP2", "P", true, "");
    rig.closed("SP", "P", true, "");
    rig.reply(7, json!({}));
    assert_eq!(recent(&mut rig), [json!(["confirm", "agent", true, null])]);
    assert_eq!((rig.snapshot().pages.len(), rig.snapshot().counts.meters.protocol_violations), (1, 0));
}

#[test]
fn a_listing_is_understood_by_the_command_it_answers() {
    let mut rig = Rig::observing();
    rig.attach_page("P", "SP", json!({}));
    rig.observed("SP", 3, "Page.getFrameTree", json!({}));
    let frame = |id: &str| json!({"id": id, "loaderId": "L", "url": "http://a.test/", "securityOrigin": "http://a.test", "mimeType": ""});
    let mut child = frame("C");
    child["parentId"] = json!("P");
    rig.reply(3, json!({"frameTree": {"frame": frame("P"), "childFrames": [{"frame": child}]}}));
    assert_eq!(rig.tree(), ["C<P ", "P<- "]);
    let purposes = rig.events.iter().filter(
        |event| matches!(event, Event::CommandSent { purpose, .. } if *purpose == Purpose::ListFrames),
    );
    assert_eq!(purposes.count(), 1);
}

#[test]
fn a_page_goes_on_with_the_session_that_is_left() {
    let mut rig = with_page();
    rig.event("SP", "Page.frameAttached", json!({"frameId": "C", "parentFrameId": "P"}));
    rig.navigated("SP", "C", Some("P"), "http://a.test/c");
    rig.attach_page("P", "SP2", json!({}));
    detach(&mut rig, "", "SP");
    assert_eq!(rig.tree(), ["C<P ", "P<- "]);
    rig.navigated("SP2", "P", None, "http://a.test/2");
    assert_eq!(rig.snapshot().pages[0].url, "http://a.test/2");
    detach(&mut rig, "", "SP2");
    assert_eq!(rig.snapshot().pages.len(), 0);
}

#[test]
fn pages_below_a_tab_are_pages() {
    let mut rig = Rig::observing();
    attach(&mut rig, "", "tab", "T", "ST", json!({}));
    attach(&mut rig, "ST", "page", "P", "SP", json!({}));
    attach(&mut rig, "ST", "page", "Q", "SQ", json!({"subtype": "prerender"}));
    rig.navigated("SP", "P", None, "http://a.test/");
    assert_eq!(rig.tree(), ["P<- "]);
    detach(&mut rig, "", "ST");
    assert_eq!(rig.snapshot().pages.len(), 0);
}

#[test]
fn an_iframe_that_the_client_attached_by_hand_has_its_place() {
    let mut rig = with_page();
    rig.event("SP", "Page.frameAttached", json!({"frameId": "F", "parentFrameId": "P"}));
    attach(&mut rig, "", "iframe", "F", "SF", json!({}));
    rig.event("SP", "Page.frameDetached", json!({"frameId": "F", "reason": "swap"}));
    rig.navigated("SF", "F", Some("P"), "http://b.test/");
    assert_eq!(rig.tree(), ["F<P SF", "P<- "]);
}

#[test]
fn a_restored_document_has_the_frames_that_it_had() {
    let mut rig = with_page();
    rig.event("SP", "Page.frameAttached", json!({"frameId": "C", "parentFrameId": "P"}));
    rig.navigated("SP", "C", Some("P"), "http://a.test/c");
    rig.navigated("SP", "P", None, "http://a.test/2");
    assert_eq!(rig.tree(), ["P<- "]);
    rig.context("SP", "C", 3);
    rig.context("SP", "P", 2);
    let frame = json!({"id": "P", "loaderId": "L", "url": "http://a.test/", "securityOrigin": "http://a.test", "mimeType": ""});
    rig.event("SP", "Page.frameNavigated", json!({"frame": frame, "type": "BackForwardCacheRestore"}));
    assert_eq!(rig.tree(), ["C<P ", "P<- "]);
}

#[test]
fn silence_means_something_only_when_something_was_asked() {
    let mut rig = Rig::observing();
    rig.attach_page("P", "SP", json!({}));
    rig.advance(Duration::from_secs(10));
    assert!(rig.snapshot().pages[0].blocked.is_none());
    rig.attach_page("Q", "SQ", json!({}));
    rig.observed("SQ", 1, "Page.enable", json!({}));
    rig.advance(Duration::from_secs(10));
    assert!(rig.snapshot().pages[1].blocked.is_some());
}

#[test]
fn a_clients_method_is_kept_up_to_its_bound() {
    let mut rig = with_page();
    for (id, length) in [(1, MAX_METHOD), (2, MAX_METHOD + 1)] {
        rig.observed("SP", id, &"m".repeat(length), json!({}));
    }
    let kept: Vec<usize> = rig
        .events
        .iter()
        .filter_map(|event| match event {
            Event::CommandSent { method, .. } if method.starts_with('m') => Some(method.len()),
            _ => None,
        })
        .collect();
    assert_eq!(kept, [MAX_METHOD, MAX_METHOD]);
}

#[test]
fn what_is_no_command_is_counted() {
    let mut rig = Rig::observing();
    for text in ["", "{}", "[1]", r#"{"id":"x","method":"A.b"}"#, r#"{"id":1}"#] {
        rig.input(supervisor_core::Input::Observed { text });
    }
    assert_eq!(rig.snapshot().counts.meters.protocol_violations, 5);
}

fn asks_by_bridge(rig: &mut Rig, session: &str, body: Value) {
    let request = json!({"url": "https://cdp-bridge.invalid/dialog", "method": "POST", "headers": {},
        "postData": body.to_string()});
    rig.event(
        session,
        "Fetch.requestPaused",
        json!({"requestId": "R1", "request": request, "frameId": "P", "resourceType": "XHR"}),
    );
}

#[test]
fn what_the_clients_bridge_asks_and_answers_is_a_dialog() {
    let mut rig = with_page();
    rig.attach_page("P", "SP2", json!({}));
    asks_by_bridge(&mut rig, "SP2", json!({"type": "prompt", "message": "q", "def": "d"}));
    assert_eq!(rig.snapshot().pending_dialogs[0].default_prompt, "d");
    // {"accept":true,"text":"BR"}
    let body = "eyJhY2NlcHQiOnRydWUsInRleHQiOiJCUiJ9";
    rig.observed(
        "SP2",
        4,
        "Fetch.fulfillRequest",
        json!({"requestId": "R1", "responseCode": 200, "body": body}),
    );
    rig.recv(&json!({"id": 4, "result": {}, "sessionId": "SP2"}));
    assert_eq!(recent(&mut rig), [json!(["prompt", "agent", true, "BR"])]);
}

#[test]
fn a_bridge_that_lets_go_answers_nothing() {
    let mut rig = with_page();
    asks_by_bridge(&mut rig, "SP", json!({"kind": "confirm", "message": "q", "preset": "", "token": "t"}));
    rig.observed("SP", 4, "Fetch.failRequest", json!({"requestId": "R1", "errorReason": "Failed"}));
    assert_eq!(recent(&mut rig), [json!(["confirm", "remote", null, null])]);
    asks_by_bridge(&mut rig, "SP", json!({"not": "a dialog"}));
    assert_eq!(rig.snapshot().pending_dialogs.len(), 0);
}
