//! The bridge, played by hand: what is sent, what its requests mean, and how its dialogs end.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::bridge::Unavailable;
use supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor_core::limits::{BRIDGE_HOLD, MAX_UNEXPLAINED, SNATCHED_AT_ONCE, SNATCHES_THAT_TELL};
use supervisor_core::snapshot::BridgeView;
use supervisor_core::{Action, Bridge, Code, Command, DialogPolicy, Event, Options, Outcome, Place};

use crate::rig::{Rig, accept};

fn options(bridge: Bridge) -> Options {
    let mut options = Options::default();
    options.bridge = bridge;
    options
}

fn bridged() -> Rig {
    Rig::with_page_and(options(Bridge::On))
}

/// What stands between two marks of the script that was given to the session.
fn of_script(rig: &Rig, before: &str, after: &str) -> String {
    let sent = rig.sent_as("Page.addScriptToEvaluateOnNewDocument");
    let source = sent.first().expect("the script was sent")["params"]["source"].as_str().unwrap();
    let (_, rest) = source.split_once(before).unwrap();
    rest.split_once(after).unwrap().0.to_owned()
}

fn url(rig: &Rig) -> String {
    "https://".to_owned() + &of_script(rig, "'POST', 'https://", "'")
}

fn body(rig: &Rig, kind: &str, message: &str) -> String {
    let token = of_script(rig, r#"{"token":""#, r#"""#);
    json!({"token": token, "kind": kind, "message": message, "preset": "dflt"}).to_string()
}

/// A request as the browser reports it.
fn request(rig: &Rig, id: &str, frame: &str, kind: &str) -> Value {
    json!({"requestId": id, "frameId": frame, "resourceType": "XHR",
        "request": {"url": url(rig), "method": "POST", "headers": {}, "postData": body(rig, kind, "sure?")}})
}

/// An iframe in another process whose element is known to allow dialogs.
fn attach_iframe(rig: &mut Rig) {
    rig.attach_iframe("SP", "B", "SB", "P");
    if rig.machine.state().bridge.on {
        element(rig, &json!(["src", "x"]));
    }
}

fn ask(rig: &mut Rig, session: &str, id: &str, frame: &str, kind: &str) {
    let event = request(rig, id, frame, kind);
    rig.event(session, "Fetch.requestPaused", event);
}

/// The replies that were sent to the script: session, request and what the body says.
fn replies(rig: &Rig) -> Vec<(String, String, String)> {
    let sent = rig.sent_as("Fetch.fulfillRequest").into_iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    sent.map(|it| {
        let params = &it["params"];
        (text(&it["sessionId"]), text(&params["requestId"]), plain(params["body"].as_str().unwrap()))
    })
    .collect()
}

/// Base64 back to text.
fn plain(body: &str) -> String {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = body.bytes().filter(|byte| *byte != b'=').map(digit).collect();
    let groups = bits.chunks(4).flat_map(|group| {
        let number =
            group.iter().enumerate().fold(0_u32, |sum, (at, bits)| sum | u32::from(*bits) << (18 - 6 * at));
        let bytes = number.to_be_bytes();
        bytes[1..group.len()].to_vec()
    });
    String::from_utf8(groups.collect()).unwrap()
}

fn confirm_last(rig: &mut Rig) {
    let id = rig.last_id("Fetch.fulfillRequest");
    rig.reply(id, json!({}));
}

fn last_end(rig: &mut Rig) -> (Option<ClosedBy>, Option<Reason>, Option<bool>) {
    let snapshot = rig.snapshot();
    let last = snapshot.recent_dialogs.last().expect("a dialog that ended");
    (last.closed_by, last.reason, last.accepted)
}

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

#[test]
fn a_navigation_of_its_frame_or_one_above_ends_it_and_lets_the_page_go() {
    for leaves in ["P", "B"] {
        let mut rig = bridged();
        attach_iframe(&mut rig);
        ask(&mut rig, "SB", "R1", "B", "confirm");
        let started = json!({"frameId": leaves, "url": "http://x/", "loaderId": "L", "navigationType": "differentDocument"});
        rig.event(if leaves == "P" { "SP" } else { "SB" }, "Page.frameStartedNavigating", started);
        assert_eq!(replies(&rig)[0].2, r#"{"accepted":false,"text":null}"#);
        assert_eq!(last_end(&mut rig), (Some(ClosedBy::Remote), Some(Reason::Navigation), Some(false)));
        let late = rig.respond(Some(1), accept());
        assert_eq!(rig.code(late), Code::AlreadyClosed);
        assert_eq!(replies(&rig).len(), 1);
    }
}

/// On an older browser the page's process would say so, and waits for the answer.
#[test]
fn a_hosts_own_navigation_ends_it_where_the_browser_tells_none() {
    for (method, params) in [("Page.navigate", json!({"url": "http://x/"})), ("Page.reload", json!({}))] {
        let mut rig = bridged();
        ask(&mut rig, "SP", "R1", "P", "confirm");
        call(&mut rig, method, &params);
        assert_eq!(replies(&rig)[0].2, r#"{"accepted":false,"text":null}"#);
        assert_eq!(last_end(&mut rig), (Some(ClosedBy::Remote), Some(Reason::Navigation), Some(false)));
    }
    let mut rig = bridged();
    ask(&mut rig, "SP", "R1", "P", "confirm");
    call(&mut rig, "Page.bringToFront", &json!({}));
    assert_eq!(pending(&mut rig), 1);
}

/// An older browser lets the page's process say so, which can come after the first request of the new document.
#[test]
fn a_process_that_says_that_it_loads_has_left_only_other_processes_behind() {
    let mut rig = bridged();
    attach_iframe(&mut rig);
    ask(&mut rig, "SB", "R1", "B", "confirm");
    ask(&mut rig, "SP", "R2", "P", "confirm");
    rig.event("SP", "Page.frameStartedLoading", json!({"frameId": "P"}));
    assert_eq!(pending(&mut rig), 1);
    assert_eq!(rig.snapshot().pending_dialogs[0].frame_id, Some("P".into()));
    assert_eq!(last_end(&mut rig).1, Some(Reason::Navigation));
}

#[test]
fn the_new_document_may_ask_before_it_is_announced() {
    let mut rig = bridged();
    let started =
        json!({"frameId": "P", "url": "http://x/", "loaderId": "L", "navigationType": "differentDocument"});
    rig.event("SP", "Page.frameStartedNavigating", started);
    ask(&mut rig, "SP", "R1", "P", "confirm");
    rig.navigated("SP", "P", None, "http://x/");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
}

#[test]
fn removal_detach_crash_and_disconnection_end_it() {
    type Ending = fn(&mut Rig);
    let endings: [(Ending, Reason); 5] = [
        (
            |rig| rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"})),
            Reason::TargetGone,
        ),
        (|rig| rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": "SB"})), Reason::TargetGone),
        (|rig| rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"})), Reason::TargetGone),
        (|rig| rig.event("SB", "Inspector.targetCrashed", json!({})), Reason::Crash),
        (
            |rig| {
                let epoch = rig.epoch();
                let net = supervisor_core::Net::Lost { epoch, reason: "cut".to_owned() };
                rig.input(supervisor_core::Input::Net(net));
            },
            Reason::Disconnected,
        ),
    ];
    for (end, reason) in endings {
        let mut rig = bridged();
        attach_iframe(&mut rig);
        ask(&mut rig, "SB", "R1", "B", "confirm");
        end(&mut rig);
        assert_eq!(last_end(&mut rig), (Some(ClosedBy::Remote), Some(reason), None));
        assert!(rig.snapshot().pending_dialogs.is_empty());
        assert!(rig.snapshot().pages.iter().all(|page| page.blocked.is_none()));
    }
}

#[test]
fn an_answer_that_the_browser_no_longer_wants_lost() {
    let mut rig = bridged();
    ask(&mut rig, "SP", "R1", "P", "confirm");
    let req = rig.respond(None, accept());
    let id = rig.last_id("Fetch.fulfillRequest");
    rig.reply_error(id, -32602, "Invalid InterceptionId.");
    assert_eq!(rig.code(req), Code::AlreadyClosed);
    assert_eq!(last_end(&mut rig), (Some(ClosedBy::Remote), Some(Reason::TargetGone), None));
}

#[test]
fn calls_into_its_renderer_are_blocked_and_released_as_with_a_native_dialog() {
    let mut rig = bridged();
    rig.context("SP", "P", 1);
    let running = rig.eval("P");
    ask(&mut rig, "SP", "R1", "P", "confirm");
    assert_eq!(rig.code(running), Code::DialogOpened);
    let blocked = rig.eval("P");
    assert_eq!(rig.code(blocked), Code::BlockedByDialog);
    rig.respond(None, accept());
    confirm_last(&mut rig);
    let free = rig.eval("P");
    assert_eq!(rig.outcome(free), None, "it was sent");
}

fn dismissed_natively(rig: &mut Rig, after: Duration) {
    rig.opening("SP", "P", "confirm", "?");
    rig.advance(after);
    rig.closed("SP", "P", false, "");
    rig.advance(Duration::from_secs(1));
}

#[test]
fn two_dialogs_that_somebody_closes_at_once_turn_it_on_for_loaded_documents_too() {
    let mut rig = Rig::with_page();
    attach_iframe(&mut rig);
    dismissed_natively(&mut rig, SNATCHED_AT_ONCE + Duration::from_millis(1));
    for _ in 1..SNATCHES_THAT_TELL {
        dismissed_natively(&mut rig, Duration::from_millis(10));
    }
    assert!(rig.sent_as("Fetch.enable").is_empty(), "one proves nothing, nor does a slow one");
    dismissed_natively(&mut rig, SNATCHED_AT_ONCE);
    assert!(rig.events.iter().any(|event| matches!(event, Event::BridgeTurnedOn { detected: true })));
    let scripts = rig.sent_as("Page.addScriptToEvaluateOnNewDocument");
    let to: Vec<_> =
        scripts.iter().map(|it| (it["sessionId"].clone(), it["params"]["runImmediately"].clone())).collect();
    assert_eq!(to, [(json!("SB"), json!(true)), (json!("SP"), json!(true))]);
    assert_eq!(rig.snapshot().pages[0].bridge, BridgeView::On);
}

/// A page that asks in a loop: its dialogs leave the ring of recent ones within the second in which a cause may still come.
#[test]
fn a_loop_of_dialogs_that_somebody_closes_turns_it_on_at_max_unexplained() {
    let mut rig = Rig::with_page();
    let snatched_in_the_loop = |rig: &mut Rig| {
        rig.opening("SP", "P", "confirm", "?");
        rig.closed("SP", "P", false, "");
    };
    for ended in 1..=MAX_UNEXPLAINED {
        snatched_in_the_loop(&mut rig);
        assert_eq!(rig.machine.state().deadlines.unexplained().count(), ended);
    }
    for _ in 1..SNATCHES_THAT_TELL {
        snatched_in_the_loop(&mut rig);
        assert!(!rig.machine.state().bridge.on, "one proves nothing");
    }
    snatched_in_the_loop(&mut rig);
    assert_eq!(rig.machine.state().deadlines.unexplained().count(), MAX_UNEXPLAINED);
    assert!(rig.events.iter().any(|event| matches!(event, Event::BridgeTurnedOn { detected: true })));
    let reasons: Vec<_> = rig.snapshot().recent_dialogs.iter().map(|it| it.reason).collect();
    let (older, younger) = reasons.split_at(SNATCHES_THAT_TELL as usize);
    assert!(older.iter().all(|it| *it == Some(Reason::OtherClient)), "{reasons:?}");
    assert!(younger.iter().all(|it| *it == Some(Reason::Unknown)), "{reasons:?}");
}

/// A loop on one page says nothing about the dialogs of another: their cause may still come.
#[test]
fn a_loop_of_dialogs_explains_none_of_another_page() {
    let mut rig = Rig::with_page();
    rig.attach_page("Q", "SQ", json!({}));
    rig.opening("SQ", "Q", "confirm", "older");
    for _ in 0..MAX_UNEXPLAINED {
        rig.opening("SP", "P", "confirm", "?");
        rig.closed("SP", "P", false, "");
    }
    rig.closed("SQ", "Q", false, "");
    rig.navigated("SQ", "Q", None, "http://q.test/next");
    let older = rig.snapshot().recent_dialogs.iter().find(|it| it.message == "older").cloned().unwrap();
    assert_eq!(older.reason, Some(Reason::Navigation));
}

#[test]
fn navigations_overlaps_crashes_and_our_own_answers_tell_nothing() {
    let mut rig = Rig::with_page();
    for _ in 0..2 {
        rig.opening("SP", "P", "confirm", "?");
        rig.respond(None, Action::Dismiss);
        rig.closed("SP", "P", false, "");
        let id = rig.last_id("Page.handleJavaScriptDialog");
        rig.reply(id, json!({}));
        rig.opening("SP", "P", "confirm", "?");
        rig.closed("SP", "P", false, "");
        rig.navigated("SP", "P", None, "http://a.test/");
    }
    rig.advance(Duration::from_secs(2));
    assert!(!rig.machine.state().bridge.on);
    assert_eq!(rig.machine.state().bridge.snatched, 0);
}

#[test]
fn off_stays_off_and_options_change_what_runs() {
    let mut rig = Rig::with_page_and(options(Bridge::Off));
    (0..3).for_each(|_| dismissed_natively(&mut rig, Duration::from_millis(5)));
    assert!(!rig.machine.state().bridge.on);
    rig.host(Command::Configure { options: Box::new(options(Bridge::On)) });
    assert_eq!(rig.sent_as("Fetch.enable").len(), 1);
    let id = rig.last_id("Page.addScriptToEvaluateOnNewDocument");
    rig.reply(id, json!({"identifier": "7"}));
    ask(&mut rig, "SP", "R1", "P", "confirm");
    rig.host(Command::Configure { options: Box::new(options(Bridge::Off)) });
    assert_eq!(replies(&rig)[0].2, r#"{"accepted":false,"text":null}"#, "the page does not stay behind");
    confirm_last(&mut rig);
    assert_eq!(last_end(&mut rig).0, Some(ClosedBy::AutoPolicy));
    let removed = rig.sent_as("Page.removeScriptToEvaluateOnNewDocument");
    assert_eq!(removed[0]["params"], json!({"identifier": "7"}));
    assert_eq!(rig.sent_as("Fetch.disable").len(), 1);
}

#[test]
fn another_host_takes_the_old_ones_place_and_a_wrong_one_is_refused() {
    let mut rig = bridged();
    let mut moved = options(Bridge::On);
    moved.bridge_host = "bridge.example".to_owned();
    rig.host(Command::Configure { options: Box::new(moved.clone()) });
    let patterns = rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].clone();
    assert_eq!(patterns[0], json!({"urlPattern": "https://bridge.example/*"}));
    for wrong in ["", "it's", "a/b", "*"] {
        moved.bridge_host = wrong.to_owned();
        let req = rig.host(Command::Configure { options: Box::new(moved.clone()) });
        assert_eq!(rig.code(req), Code::InvalidArgument);
    }
}

#[test]
fn a_native_dialog_shows_that_the_bridge_is_unavailable_until_the_next_document() {
    let mut rig = bridged();
    rig.opening("SP", "P", "confirm", "?");
    let page = |rig: &mut Rig| (rig.snapshot().pages[0].bridge, rig.snapshot().pages[0].bridge_reason);
    assert_eq!(page(&mut rig), (BridgeView::Unavailable, Some(Unavailable::Unknown)));
    let entry = |text: &str| json!({"entry": {"source": "security", "level": "error", "text": text, "timestamp": 1.0}});
    let csp = "Connecting to 'https://vibeos-dialog-bridge.invalid/x' violates the following Content Security Policy \
               directive: \"connect-src 'self'\".";
    rig.event("SP", "Log.entryAdded", entry(csp));
    assert_eq!(page(&mut rig), (BridgeView::Unavailable, Some(Unavailable::ContentSecurityPolicy)));
    rig.closed("SP", "P", false, "");
    rig.navigated("SP", "P", None, "http://a.test/next");
    assert_eq!(page(&mut rig), (BridgeView::On, None));
    let policy = "Permissions policy violation: Synchronous requests are disabled by permissions policy.";
    rig.event("SP", "Log.entryAdded", entry(policy));
    assert_eq!(page(&mut rig).1, Some(Unavailable::PermissionsPolicy));
    let mut other = bridged();
    other.opening("SP", "P", "beforeunload", "");
    assert_eq!(page(&mut other), (BridgeView::On, None), "a beforeunload is always the browser's");
}

fn call(rig: &mut Rig, method: &str, params: &Value) {
    let (place, params) = (Place::Active, params.to_string());
    rig.host(Command::Call { place, method: method.to_owned(), params, timeout_ms: None });
}

#[test]
fn a_hosts_own_interception_is_merged_and_its_requests_are_left_to_it() {
    let mut rig = bridged();
    let images = json!({"urlPattern": "*.png"});
    call(&mut rig, "Fetch.enable", &json!({"patterns": [images]}));
    let merged = rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].clone();
    assert_eq!((merged.as_array().unwrap().len(), &merged[0]), (3, &images));
    let foreign = json!({"requestId": "R9", "frameId": "P", "resourceType": "Image",
        "request": {"url": "http://a.test/x.png", "method": "GET", "headers": {}}});
    rig.event("SP", "Fetch.requestPaused", foreign.clone());
    assert!(rig.sent_as("Fetch.continueRequest").is_empty());
    call(&mut rig, "Fetch.disable", &json!({}));
    let ours = rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].clone();
    assert_eq!(ours.as_array().unwrap().len(), 2);
    assert!(rig.sent_as("Fetch.disable").is_empty());
    rig.event("SP", "Fetch.requestPaused", foreign);
    assert_eq!(rig.sent_as("Fetch.continueRequest").len(), 1, "nobody else would let it go on");
}

#[test]
fn an_interception_from_before_is_kept_when_the_bridge_comes_and_goes() {
    let mut rig = Rig::with_page();
    call(&mut rig, "Fetch.enable", &json!({"patterns": [{"urlPattern": "*.png"}]}));
    rig.host(Command::Configure { options: Box::new(options(Bridge::On)) });
    assert_eq!(
        rig.sent_as("Fetch.enable").last().unwrap()["params"]["patterns"].as_array().unwrap().len(),
        3
    );
    rig.host(Command::Configure { options: Box::new(options(Bridge::Off)) });
    assert_eq!(
        rig.sent_as("Fetch.enable").last().unwrap()["params"],
        json!({"patterns": [{"urlPattern": "*.png"}]})
    );
}

/// The answers of the parent's process about the element of the iframe `B`.
fn element(rig: &mut Rig, attributes: &Value) {
    let id = rig.last_id("DOM.getFrameOwner");
    assert_eq!(rig.sent_as("DOM.getFrameOwner").last().unwrap()["sessionId"], "SP");
    rig.reply(id, json!({"backendNodeId": 7}));
    let id = rig.last_id("DOM.describeNode");
    rig.reply(id, json!({"node": {"nodeId": 0, "attributes": attributes}}));
}

fn pending(rig: &mut Rig) -> usize {
    rig.snapshot().pending_dialogs.len()
}

#[test]
fn a_frame_that_may_raise_no_dialogs_is_left_to_the_browser() {
    let mut rig = bridged();
    rig.attach_iframe("SP", "B", "SB", "P");
    // The request may come before it is known.
    ask(&mut rig, "SB", "R1", "B", "confirm");
    assert_eq!((pending(&mut rig), rig.sent_as("Fetch.failRequest").len()), (0, 0));
    element(&mut rig, &json!(["sandbox", "allow-scripts"]));
    assert_eq!((pending(&mut rig), rig.sent_as("Fetch.failRequest").len()), (0, 1));
    ask(&mut rig, "SB", "R2", "B", "confirm");
    assert_eq!((pending(&mut rig), rig.sent_as("Fetch.failRequest").len()), (0, 2));
    assert_eq!(rig.machine.meters().bridge_refused, 0, "it did nothing wrong");
    // What is below it may not either, wherever it lives.
    rig.event("SB", "Page.frameAttached", json!({"frameId": "C", "parentFrameId": "B"}));
    ask(&mut rig, "SB", "R3", "C", "confirm");
    assert_eq!(pending(&mut rig), 0);
}

#[test]
fn a_frame_that_may_asks_as_soon_as_that_is_known_or_its_parent_is_too_slow_to_say() {
    let mut rig = bridged();
    rig.attach_iframe("SP", "B", "SB", "P");
    ask(&mut rig, "SB", "R1", "B", "confirm");
    ask(&mut rig, "SB", "R2", "B", "confirm");
    assert_eq!(rig.sent_as("Fetch.failRequest").len(), 1, "one at a time");
    element(&mut rig, &json!(["sandbox", "allow-scripts allow-modals"]));
    assert_eq!(pending(&mut rig), 1);
    let mut slow = bridged();
    slow.attach_iframe("SP", "B", "SB", "P");
    ask(&mut slow, "SB", "R1", "B", "confirm");
    slow.advance(BRIDGE_HOLD - Duration::from_millis(1));
    assert_eq!(pending(&mut slow), 0);
    slow.advance(Duration::from_millis(1));
    assert_eq!(pending(&mut slow), 1);
}

#[test]
fn a_request_that_waits_to_be_decided_goes_with_its_page() {
    for detaches in [true, false] {
        let mut rig = bridged();
        rig.attach_iframe("SP", "B", "SB", "P");
        ask(&mut rig, "SB", "R1", "B", "confirm");
        if detaches {
            rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": "SB"}));
        } else {
            let started = json!({"frameId": "P", "url": "http://x/", "loaderId": "L", "navigationType": "differentDocument"});
            rig.event("SP", "Page.frameStartedNavigating", started);
        }
        assert_eq!(rig.sent_as("Fetch.failRequest").len(), usize::from(!detaches));
        rig.advance(Duration::from_secs(2));
        assert_eq!((pending(&mut rig), rig.machine.state().bridge.held.len()), (0, 0));
    }
}
