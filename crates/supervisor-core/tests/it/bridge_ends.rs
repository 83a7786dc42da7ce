//! How the dialogs of the bridge end without an answer, and whom they hold until then.

use serde_json::json;
use supervisor_core::Code;
use supervisor_core::dialog::{ClosedBy, Reason};

use crate::bridge_rig::{ask, attach_iframe, bridged, call, confirm_last, last_end, pending, replies};
use crate::rig::{Rig, accept};

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
