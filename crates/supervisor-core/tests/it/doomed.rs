//! Pages at which the wrong command ends the browser.

use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::Unanswerable;
use supervisor_core::{Code, Command, EndpointKind, Input, Net, Outcome, Place, Remedy};

use crate::rig::{Rig, accept};

/// Connected again after a loss, with the page `P` attached as `SP2`.
fn come_back(rig: &mut Rig) {
    rig.sent.clear();
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "reset by peer".into() }));
    rig.advance(Duration::from_secs(1));
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    for method in ["Browser.getVersion", "Target.setDiscoverTargets"] {
        rig.answer_all(method, json!({"product": "Chrome/156"}));
    }
    rig.attach_page("P", "SP2", json!({}));
    let root = rig.sent_as("Target.setAutoAttach")[0]["id"].as_u64().unwrap();
    rig.reply(root, json!({}));
}

fn list(rig: &mut Rig, loader: &str) {
    let id = rig.last_id("Page.getFrameTree");
    let frame = json!({"id": "P", "loaderId": loader, "url": "http://a.test/", "securityOrigin": "http://a.test",
        "mimeType": "text/html"});
    rig.reply(id, json!({"frameTree": {"frame": frame}}));
}

fn block(rig: &mut Rig) -> Option<Unanswerable> {
    rig.snapshot().pages[0].blocked.as_ref().map(|blocked| blocked.reason)
}

fn refused(rig: &mut Rig, method: &str) -> bool {
    let req = rig.call(Place::Target("P".into()), method);
    matches!(rig.outcome(req), Some(Outcome::Failed(failure)) if failure.code == Code::Refused)
}

fn with_oopifs() -> Rig {
    let mut rig = Rig::with_page();
    for (frame, session, url) in [("B", "SB", "http://b.test/"), ("C", "SC", "http://c.test/")] {
        rig.attach_iframe("SP", frame, session, "P");
        rig.navigated(session, frame, Some("P"), url);
    }
    rig
}

/// Measured on Chromium 156: closing the page crashes the browser whichever connection asks for it.
#[test]
fn a_page_whose_dialogs_overlapped_is_not_closed_after_a_reconnect_either() {
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "alert", "first");
    rig.opening("SP", "C", "alert", "second");
    rig.closed("SP", "B", false, "");
    come_back(&mut rig);
    assert_eq!(block(&mut rig), Some(Unanswerable::Overlap));
    rig.advance(Duration::from_secs(5));
    assert_eq!(block(&mut rig), Some(Unanswerable::Overlap), "that it is silent tells nothing new");
    rig.answer_all("Page.enable", json!({}));
    list(&mut rig, "L-http://a.test/");
    assert!(refused(&mut rig, "Page.close"));
    let close = rig.host(Command::Recover { target_id: "P".into(), remedy: Remedy::Close });
    assert_eq!(rig.code(close), Code::Refused);
    assert!(!refused(&mut rig, "Page.reload"), "that is what helps");
    rig.navigated("SP2", "P", None, "http://a.test/");
    assert_eq!(block(&mut rig), None);
    assert!(!refused(&mut rig, "Page.close"));
    assert!(rig.machine.state().connection.doomed.is_empty());
}

#[test]
fn a_page_that_was_left_while_nobody_looked_is_as_any_other() {
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "alert", "first");
    rig.opening("SP", "C", "alert", "second");
    come_back(&mut rig);
    list(&mut rig, "another");
    assert_eq!(block(&mut rig), None);
    assert!(!refused(&mut rig, "Page.close"));
}

/// The same of an iframe that was removed with its dialog open, whether that was seen or happened while nobody looked.
#[test]
fn a_page_that_lost_an_iframe_with_its_dialog_is_not_left_after_a_reconnect() {
    for was_seen in [true, false] {
        let mut rig = with_oopifs();
        rig.opening("SP", "B", "alert", "in b");
        if was_seen {
            rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
        }
        come_back(&mut rig);
        assert_eq!(block(&mut rig), Some(Unanswerable::FrameRemoved), "{was_seen}");
        assert!(refused(&mut rig, "Page.navigate") && refused(&mut rig, "Page.close"), "{was_seen}");
    }
}

#[test]
fn an_iframe_whose_dialog_was_left_open_makes_its_page_deadly_only_when_it_goes() {
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "alert", "in b");
    come_back(&mut rig);
    rig.attach_iframe("SP2", "B", "SB2", "P");
    assert_eq!(block(&mut rig), None, "it is there");
    assert!(!refused(&mut rig, "Page.navigate"));
    rig.event("SP2", "Target.detachedFromTarget", json!({"sessionId": "SB2", "targetId": "B"}));
    assert_eq!(block(&mut rig), Some(Unanswerable::FrameRemoved));
    assert!(refused(&mut rig, "Page.navigate"));
}

#[test]
fn an_iframe_that_answers_has_no_dialog_left_and_may_go() {
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "alert", "in b");
    come_back(&mut rig);
    rig.attach_iframe("SP2", "B", "SB2", "P");
    rig.answer_all("Page.enable", json!({}));
    assert!(rig.machine.state().connection.doomed.is_empty());
    rig.event("SP2", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    assert_eq!(block(&mut rig), None);
}

#[test]
fn a_detach_under_an_open_dialog_is_taken_for_a_removal_until_the_dialog_closes() {
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "confirm", "in b");
    rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": "SB", "targetId": "B"}));
    assert_eq!(block(&mut rig), Some(Unanswerable::FrameRemoved));
    let answer = rig.respond(None, accept());
    assert_eq!(rig.code(answer), Code::Unanswerable, "an answer to an iframe that is gone ends the browser");
    rig.closed("SP", "B", false, "");
    assert_eq!(block(&mut rig), None);
}

/// Older browsers name no frame.
#[test]
fn a_dialog_without_a_frame_goes_with_the_iframe_that_has_its_url() {
    let mut rig = with_oopifs();
    rig.event(
        "SP",
        "Page.javascriptDialogOpening",
        json!({"url": "http://b.test/", "message": "in b", "type": "alert", "hasBrowserHandler": true,
            "defaultPrompt": ""}),
    );
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    assert!(rig.snapshot().pending_dialogs.is_empty());
    assert_eq!(block(&mut rig), Some(Unanswerable::FrameRemoved));
}

/// Measured on Chromium 156: it crashes when a page is closed under the dialog of an iframe in another process.
#[test]
fn a_page_is_not_closed_under_the_dialog_of_another_process() {
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "confirm", "in b");
    assert!(refused(&mut rig, "Page.close"));
    for (method, params) in [
        ("Target.closeTarget", json!({ "targetId": "P" })),
        ("Target.disposeBrowserContext", json!({ "browserContextId": "C" })),
    ] {
        let (method, params) = (method.to_owned(), params.to_string());
        let req = rig.host(Command::Call { place: Place::Active, method, params, timeout_ms: None });
        assert_eq!(rig.code(req), Code::Refused);
        assert!(rig.failure(req).message.contains("answer the dialog first"));
    }
    assert!(!refused(&mut rig, "Page.reload"), "that closes the dialog, and nothing else");

    let mut rig = with_oopifs();
    rig.opening("SP", "P", "confirm", "of the page itself");
    assert!(!refused(&mut rig, "Page.close"), "that does no harm");
    let mut rig = with_oopifs();
    rig.opening("SP", "B", "confirm", "in b");
    let req = rig.respond(None, accept());
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.closed("SP", "B", true, "");
    rig.reply(id, json!({}));
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { .. })));
    assert!(!refused(&mut rig, "Page.close"));
}
