//! A reconnect may find another browser than the one that was lost.

use std::time::Duration;

use serde_json::json;
use supervisor_core::{Code, Command, Effect, EndpointKind, Event, Input, Net, Options, Place, Status};

use crate::rig::{Rig, accept};

const GUID: &str = "6f1c";

fn named(rig: &mut Rig, name: Option<&str>) {
    let epoch = rig.epoch();
    if let Some(name) = name {
        rig.input(Input::Net(Net::Named { epoch, browser: name.to_owned() }));
    }
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
}

fn shakes_hands(rig: &mut Rig, product: &str, page: &str) {
    shakes_hands_in(rig, product, page, "CONTEXT");
}

/// Its page is in this browser context.
fn shakes_hands_in(rig: &mut Rig, product: &str, page: &str, context: &str) {
    rig.answer_all("Browser.getVersion", json!({ "product": product }));
    rig.answer_all("Target.setDiscoverTargets", json!({}));
    rig.attach_page(page, &format!("S{page}"), json!({ "browserContextId": context }));
    rig.answer_all("Target.setAutoAttach", json!({}));
}

/// A browser with a page, a dialog that was answered, an error on the console, and a late result.
fn lived_in(name: Option<&str>) -> Rig {
    let mut rig = Rig::new(Options::default());
    rig.host(Command::Start);
    named(&mut rig, name);
    shakes_hands(&mut rig, "Chrome/156", "P");
    rig.navigated("SP", "P", None, "http://a.test/");
    rig.context("SP", "P", 1);
    rig.call(Place::Active, "DOM.getDocument");
    rig.opening("SP", "P", "confirm", "sure?");
    rig.respond(None, accept());
    rig.closed("SP", "P", true, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    rig.answer_all("DOM.getDocument", json!({}));
    let says = json!({ "type": "error", "executionContextId": 1, "timestamp": 1.0,
        "args": [{ "type": "string", "value": "oops" }] });
    rig.event("SP", "Runtime.consoleAPICalled", says);
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.snapshot().recent_dialogs.len(), 1);
    assert_eq!((rig.machine.console(None).errors.len(), rig.machine.state().calls.late.len()), (1, 1));
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "reset".into() }));
    rig.advance(Duration::from_secs(1));
    rig
}

fn is_replaced(rig: &Rig) -> bool {
    rig.events.iter().any(|event| matches!(event, Event::BrowserReplaced))
}

#[test]
fn the_same_browser_is_told_by_its_name_and_everything_is_kept() {
    let mut rig = lived_in(Some(GUID));
    named(&mut rig, Some(GUID));
    // It may have been left with other pages.
    shakes_hands(&mut rig, "Chrome/156", "Q");
    assert!(!is_replaced(&rig));
    assert_eq!(rig.snapshot().recent_dialogs.len(), 1);
    assert_eq!((rig.machine.console(None).errors.len(), rig.machine.state().calls.late.len()), (1, 1));
}

#[test]
fn another_name_is_another_browser_and_nothing_crosses_over_but_the_ids() {
    let mut rig = lived_in(Some(GUID));
    let late = *rig.machine.state().calls.late.keys().next().unwrap();
    named(&mut rig, Some("another"));
    shakes_hands(&mut rig, "Chrome/156", "P");
    assert!(is_replaced(&rig));
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.status.status, snapshot.status.stale), (Status::Connected, false));
    assert!(snapshot.recent_dialogs.is_empty() && snapshot.counts.dialogs_seen == 0);
    assert!(rig.machine.console(None).errors.is_empty());
    // The session's actor that kept the result is told to drop it, and let go.
    assert!(rig.effects.iter().any(|it| matches!(it, Effect::Drop { call, .. } if *call == late)));
    let fetch = rig.host(Command::Result { call_id: late, timeout_ms: None });
    assert_eq!(rig.code(fetch), Code::UnknownCall);

    rig.navigated("SP", "P", None, "http://a.test/");
    rig.opening("SP", "P", "alert", "the other's first");
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pending_dialogs[0].id.0, snapshot.counts.dialogs_seen), (2, 1));
    let old = rig.respond(Some(1), accept());
    assert_eq!(rig.code(old), Code::UnknownDialog, "an old id answers no new dialog");
}

/// Behind a proxy the URL names no browser.
#[test]
fn without_a_name_another_version_or_none_of_the_contexts_tells() {
    for (product, context, replaced) in
        [("Chrome/156", "CONTEXT", false), ("Chrome/157", "CONTEXT", true), ("Chrome/156", "OTHER", true)]
    {
        let mut rig = lived_in(None);
        named(&mut rig, None);
        // Another page may be there than before.
        shakes_hands_in(&mut rig, product, "Q", context);
        assert_eq!(is_replaced(&rig), replaced, "{product} {context}");
    }
}

/// An attempt that fails after the socket opened has not found anything: the browser before it is still compared with.
#[test]
fn an_attempt_that_failed_in_between_changes_nothing() {
    let mut rig = lived_in(None);
    named(&mut rig, None);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "again".into() }));
    rig.advance(Duration::from_secs(2));
    named(&mut rig, None);
    shakes_hands(&mut rig, "Chrome/156", "P");
    assert!(!is_replaced(&rig));
    let mut rig = lived_in(None);
    named(&mut rig, None);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "again".into() }));
    rig.advance(Duration::from_secs(2));
    named(&mut rig, None);
    shakes_hands_in(&mut rig, "Chrome/156", "Q", "OTHER");
    assert!(is_replaced(&rig));
}

#[test]
fn a_name_at_max_browser_name_is_kept_and_a_longer_one_is_cut() {
    let longest = "n".repeat(supervisor_core::limits::MAX_BROWSER_NAME);
    for name in [longest.clone(), format!("{longest}n")] {
        let mut rig = Rig::new(Options::default());
        rig.host(Command::Start);
        named(&mut rig, Some(&name));
        assert_eq!(rig.machine.state().connection.named.as_ref(), Some(&longest));
    }
}
