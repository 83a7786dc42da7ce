//! When the bridge is on: as the host chose, or when somebody else closes dialogs; and where it cannot be.

use std::time::Duration;

use serde_json::json;
use supervisor_core::bridge::Unavailable;
use supervisor_core::dialog::{ClosedBy, Reason};
use supervisor_core::limits::{MAX_UNEXPLAINED, SNATCHED_AT_ONCE, SNATCHES_THAT_TELL};
use supervisor_core::snapshot::BridgeView;
use supervisor_core::{Action, Bridge, Code, Command, Event};

use crate::bridge_rig::{ask, attach_iframe, bridged, confirm_last, last_end, options, replies};
use crate::rig::Rig;

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
