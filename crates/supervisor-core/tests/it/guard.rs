//! The guard: when there is one, and when not.

use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::Reason;
use supervisor_core::guard::{Stands, Why};
use supervisor_core::limits::{GUARD_PROBATION, GUARD_QUARRELS};
use supervisor_core::snapshot::GuardState;
use supervisor_core::{Command, EndpointKind, Input, Net, Status};

use crate::guard_rig::guarded;
use crate::rig::{Rig, accept};

#[test]
fn the_guard_alone_lost_changes_nothing_but_what_is_shown_and_comes_back() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.guard_lost();
    let guard = rig.snapshot().status.guard.clone();
    assert_eq!((guard.state, guard.reason), (GuardState::Unavailable, Some(Why::Lost)));
    assert_eq!(guard.message.as_deref(), Some("reset by peer"));
    assert!(!rig.snapshot().pages[0].guarded);
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.guard_dials(), 2);
    rig.guard_connects();
    rig.guard_listens("P", "GP");
    assert_eq!(rig.snapshot().status.guard.state, GuardState::On);
    rig.respond(None, accept());
    assert_eq!(rig.sent_as("Page.handleJavaScriptDialog").len(), 1, "main answers while it is there");
}

#[test]
fn a_guard_that_cannot_be_made_is_tried_within_the_budget_and_no_further() {
    let mut options = guarded();
    options.reconnect.within = Duration::from_secs(3_600);
    let mut rig = Rig::with_page_and(options);
    for _ in 0..30 {
        let epoch = rig.guard_epoch();
        let (stage, reason) = (supervisor_core::Stage::Upgrade, "HTTP 429".to_owned());
        rig.guard_net(Net::DialFailed { epoch, stage, reason, http_status: Some(429) });
        rig.advance(Duration::from_secs(13));
    }
    assert_eq!(rig.guard_dials() as u32, 1 + rig.machine.state().options.reconnect.tries);
    let guard = rig.snapshot().status.guard.clone();
    assert_eq!((guard.reason, guard.message.as_deref()), (Some(Why::Lost), Some("HTTP 429")));
    assert_eq!(rig.snapshot().status.status, Status::Connected);
}

#[test]
fn a_second_connection_to_another_browser_is_no_guard() {
    let mut rig = Rig::with_page_and(guarded());
    rig.guard_connects();
    assert_eq!(rig.unavailable(), Some(Why::Connecting), "nothing is claimed before it is known");
    rig.guard_refuses("Target.attachToTarget", -32602, "No target with given id found");
    assert_eq!(rig.unavailable(), Some(Why::AnotherBrowser));
    assert!(rig.guard_hung_up());
    rig.advance(Duration::from_secs(60));
    assert_eq!(rig.guard_dials(), 1);
    rig.opening("SP", "P", "confirm", "?");
    rig.main_lost();
    assert_eq!(rig.snapshot().recent_dialogs[0].reason, Some(Reason::Disconnected));
}

/// The main connection came back to another browser; the guard is still on the old one, and follows.
#[test]
fn a_guard_that_is_left_behind_follows_main() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back("SP2");
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP2"}));
    rig.guard_event("", "Target.detachedFromTarget", json!({"sessionId": "GP"}));
    rig.attach_page("Q", "SQ", json!({}));
    rig.guard_refuses("Target.attachToTarget", -32602, "No target with given id found");
    assert_eq!((rig.guard_dials(), rig.unavailable()), (2, Some(Why::Connecting)));
    rig.guard_connects();
    rig.guard_listens("Q", "GQ");
    assert_eq!(rig.stands(), Stands::On);
}

#[test]
fn a_page_that_is_gone_before_the_guard_came_says_nothing_about_the_browser() {
    let mut rig = Rig::guarded_page();
    rig.attach_page("Q", "SQ", json!({}));
    rig.guard_refuses("Target.attachToTarget", -32602, "No target with given id found");
    assert_eq!(rig.stands(), Stands::On);
}

#[test]
fn without_a_page_nothing_is_claimed() {
    let mut rig = Rig::connected(guarded());
    rig.guard_connects();
    assert_eq!(rig.unavailable(), Some(Why::NoPage));
    rig.advance(Duration::from_secs(30));
    assert_eq!(rig.unavailable(), Some(Why::NoPage), "it is not lost for that");
    rig.attach_page("P", "SP", json!({}));
    rig.guard_listens("P", "GP");
    assert_eq!(rig.stands(), Stands::On);
}

/// A browser without a user interface dismisses a dialog when any client leaves.
#[test]
fn a_browser_that_closes_dialogs_when_a_client_leaves_is_not_guarded() {
    let mut rig = Rig::new(guarded());
    rig.host(Command::Start);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    for method in ["Browser.getVersion", "Target.setDiscoverTargets", "Target.setAutoAttach"] {
        rig.answer_all(method, json!({"product": "HeadlessChrome/156.0"}));
    }
    assert_eq!((rig.unavailable(), rig.guard_dials()), (Some(Why::ClosesDialogs), 0));
}

/// Nothing told before its first dialog: the guard leaves when nothing shows, because leaving would dismiss it.
#[test]
fn one_that_is_known_by_its_first_dialog_is_left_when_that_is_over() {
    let mut rig = Rig::guarded_page();
    let params = json!({"url": "http://a.test/", "frameId": "P", "message": "?", "type": "confirm",
        "hasBrowserHandler": false, "defaultPrompt": ""});
    rig.guard_event("GP", "Page.javascriptDialogOpening", params.clone());
    rig.event("SP", "Page.javascriptDialogOpening", params);
    assert_eq!((rig.unavailable(), rig.guard_hung_up()), (Some(Why::ClosesDialogs), false));
    rig.respond(None, accept());
    rig.closed("SP", "P", true, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    rig.guard_closed("P", true);
    assert!(rig.guard_hung_up());
    assert_eq!(rig.unavailable(), Some(Why::ClosesDialogs));
}

#[test]
fn a_backend_that_drops_the_first_connection_for_the_second_keeps_the_first() {
    let mut rig = Rig::guarded_page();
    for round in 1..=GUARD_QUARRELS {
        rig.main_lost();
        rig.guard_caught_up();
        rig.main_back(&format!("SP{round}x"));
        if round < GUARD_QUARRELS {
            rig.guard_lost();
            rig.advance(Duration::from_secs(1));
            rig.guard_connects();
            rig.guard_listens("P", "GP");
        }
    }
    assert_eq!(rig.unavailable(), Some(Why::OneConnection));
    assert!(rig.guard_hung_up());
    let dials = rig.guard_dials();
    rig.advance(Duration::from_secs(60));
    assert_eq!(rig.guard_dials(), dials);
}

#[test]
fn a_main_connection_that_is_lost_later_is_not_the_guards_fault() {
    let mut rig = Rig::guarded_page();
    for round in 0..2 * GUARD_QUARRELS {
        rig.advance(GUARD_PROBATION);
        rig.main_lost();
        rig.guard_caught_up();
        rig.main_back(&format!("SP{round}x"));
        rig.guard_lost();
        rig.advance(Duration::from_secs(1));
        rig.guard_connects();
        rig.guard_listens("P", "GP");
    }
    assert_eq!(rig.stands(), Stands::On);
}

/// What is lost again and again beside the same guard is not lost because of it.
#[test]
fn each_socket_of_the_guard_is_blamed_once() {
    let mut rig = Rig::guarded_page();
    for round in 0..2 * GUARD_QUARRELS {
        rig.main_lost();
        rig.guard_caught_up();
        rig.main_back(&format!("SP{round}x"));
    }
    assert_eq!(rig.stands(), Stands::On);
}

#[test]
fn it_is_made_and_left_when_the_option_changes() {
    let mut rig = Rig::with_page();
    assert_eq!((rig.guard_dials(), rig.stands()), (0, Stands::Off));
    rig.host(Command::Configure { options: Box::new(guarded()) });
    rig.guard_connects();
    rig.guard_listens("P", "GP");
    assert_eq!(rig.stands(), Stands::On);
    rig.host(Command::Configure { options: Box::default() });
    assert_eq!((rig.guard_hung_up(), rig.stands()), (true, Stands::Off));
}

/// Turned off while it carries a dialog: it stays as long as it is needed.
#[test]
fn it_is_not_left_while_it_carries_a_dialog() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back("SP2");
    rig.host(Command::Configure { options: Box::default() });
    assert!(!rig.guard_hung_up());
    rig.respond(None, accept());
    rig.guard_closed("P", true);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!((rig.guard_hung_up(), rig.stands()), (true, Stands::Off));
}

/// On a page endpoint the page's own session is the root, for the guard too.
#[test]
fn a_page_endpoint_is_guarded_at_its_root() {
    let mut rig = Rig::new(guarded());
    rig.host(Command::Start);
    let (epoch, endpoint) = (rig.epoch(), EndpointKind::Page("P".into()));
    rig.input(Input::Net(Net::Connected { epoch, endpoint: endpoint.clone() }));
    for method in ["Browser.getVersion", "Target.setDiscoverTargets"] {
        rig.answer_all(method, json!({"product": "Chrome/156"}));
    }
    let epoch = rig.guard_epoch();
    rig.guard_net(Net::Connected { epoch, endpoint });
    assert_eq!(rig.guard_command("Target.getTargetInfo")["params"]["targetId"], "P");
    rig.guard_reply("Target.getTargetInfo", json!({"targetInfo": {"targetId": "P", "type": "page"}}));
    assert!(rig.guard_command("Page.enable")["sessionId"].is_null());
    assert_eq!(rig.stands(), Stands::On);
}
