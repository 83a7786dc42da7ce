//! The guard: when there is one, and what it does for dialogs when the main connection is lost.

use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor_core::guard::{Stands, Why};
use supervisor_core::limits::{ANSWER_CONFIRM, GUARD_QUARRELS, GUARD_WAIT};
use supervisor_core::snapshot::GuardState;
use supervisor_core::{
    Action, Code, Command, DialogPolicy, Effect, EndpointKind, Input, Net, Outcome, Status,
};

use crate::guard_rig::guarded;
use crate::rig::{Rig, accept};

#[test]
fn a_dialog_that_both_saw_is_carried_and_its_answer_reaches_the_page_by_the_guard() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "Sure?");
    rig.main_lost();
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pending_dialogs.len(), snapshot.status.status), (1, Status::Reconnecting));
    assert!(snapshot.pending_dialogs[0].answerable && snapshot.recent_dialogs.is_empty());
    rig.guard_caught_up();
    let req = rig.respond(Some(1), accept());
    let answer = rig.guard_command("Page.handleJavaScriptDialog");
    assert_eq!((&answer["sessionId"], &answer["params"]["accept"]), (&json!("GP"), &json!(true)));
    rig.guard_closed("P", true);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { accepted: true, .. })));
    let ended = rig.snapshot().recent_dialogs[0].clone();
    assert_eq!((ended.closed_by, ended.accepted, ended.reason), (Some(ClosedBy::Agent), Some(true), None));
}

#[test]
fn a_carried_dialog_keeps_its_id_and_its_page_when_main_is_back() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "prompt", "Name?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back("SP2");
    // The new session is blocked by it and says nothing for long: that is no mystery.
    rig.advance(Duration::from_secs(5));
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.status.status, snapshot.pages[0].pending_dialogs), (Status::Connected, 1));
    assert!(snapshot.pages[0].blocked.is_none() && !snapshot.pages[0].unresponsive);
    let eval = rig.call(supervisor_core::Place::Active, "Runtime.evaluate");
    assert_eq!(rig.code(eval), Code::BlockedByDialog);
    let req = rig.respond(Some(1), accept());
    assert_eq!(rig.guard_command("Page.handleJavaScriptDialog")["params"]["promptText"], "dflt");
    // Both connections hear of its end, in any order.
    rig.closed("SP2", "P", true, "dflt");
    rig.guard_closed("P", true);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { .. })));
    assert_eq!(rig.snapshot().recent_dialogs.len(), 1);
    // The next one is main's again.
    rig.answer_all("Page.enable", json!({}));
    rig.opening("SP2", "P", "alert", "next");
    rig.guard_opening("P", "alert", "next");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    rig.respond(Some(2), accept());
    assert_eq!(rig.sent_as("Page.handleJavaScriptDialog").last().unwrap()["sessionId"], "SP2");
}

/// The guard hears of the end first, and main's new session after it.
#[test]
fn the_end_of_a_carried_dialog_counts_once() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back("SP2");
    rig.guard_closed("P", false);
    rig.closed("SP2", "P", false, "");
    let recent = rig.snapshot().recent_dialogs.clone();
    assert_eq!((recent.len(), recent[0].closed_by), (1, Some(ClosedBy::Remote)));
    assert_eq!(rig.machine.meters().protocol_violations, 0);
}

/// The guard's socket was slower than main's: whether it has the dialog is known when it has caught up.
#[test]
fn a_dialog_that_the_guard_has_not_heard_of_yet_waits_for_its_word() {
    let mut rig = Rig::guarded_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.main_lost();
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    let early = rig.respond(Some(1), accept());
    assert_eq!(rig.code(early), Code::Disconnected);
    rig.guard_opening("P", "confirm", "?");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1, "not a second one");
    rig.guard_caught_up();
    let req = rig.respond(Some(1), Action::Dismiss);
    assert_eq!(rig.outcome(req), None);
    rig.guard_closed("P", false);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Agent));
}

#[test]
fn what_the_guard_has_not_seen_ends_as_disconnected() {
    let mut rig = Rig::guarded_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    let ended = rig.snapshot().recent_dialogs[0].clone();
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    assert!(rig.snapshot().pending_dialogs.is_empty());
}

/// It ended between what main heard last and what the guard hears now.
#[test]
fn an_end_that_only_the_guard_hears_of_is_told_as_it_was() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_closed("P", true);
    rig.guard_caught_up();
    let ended = rig.snapshot().recent_dialogs[0].clone();
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(true)));
    assert_eq!(ended.reason, Some(Reason::Unknown));
    rig.advance(Duration::from_secs(2));
    assert_eq!(rig.snapshot().recent_dialogs[0].reason, Some(Reason::OtherClient));
}

/// Main's answer had arrived before main was lost.
#[test]
fn an_answer_that_main_had_sent_is_confirmed_by_what_the_guard_hears() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    let req = rig.respond(Some(1), accept());
    rig.main_lost();
    rig.guard_closed("P", true);
    rig.guard_caught_up();
    rig.advance(ANSWER_CONFIRM);
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { accepted: true, .. })));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Agent));
}

/// Main's answer was lost with main: the caller is told, and answers again.
#[test]
fn an_answer_that_was_lost_with_main_leaves_the_dialog_pending() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    let req = rig.respond(Some(1), accept());
    rig.main_lost();
    rig.guard_caught_up();
    assert_eq!(rig.outcome(req), None);
    rig.advance(ANSWER_CONFIRM);
    assert_eq!(rig.code(req), Code::Disconnected);
    assert_eq!(rig.failure(req).detail.dialog.as_ref().unwrap().id.0, 1);
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    let again = rig.respond(Some(1), accept());
    rig.guard_closed("P", true);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert!(matches!(rig.outcome(again), Some(Outcome::Answered { .. })));
}

/// Whoever answers by rule does so again.
#[test]
fn an_automatic_answer_that_was_lost_with_main_is_given_again() {
    let mut options = guarded();
    options.dialog_policy = DialogPolicy::AutoAccept;
    let mut rig = Rig::with_page_and(options);
    rig.guard_connects();
    rig.guard_listens("P", "GP");
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    assert!(rig.guard_sent().iter().all(|it| it["method"] != "Page.handleJavaScriptDialog"));
    rig.advance(ANSWER_CONFIRM);
    assert_eq!(rig.guard_command("Page.handleJavaScriptDialog")["params"]["accept"], true);
    rig.guard_closed("P", true);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::AutoPolicy));
}

#[test]
fn the_watchdog_answers_by_the_guard_while_main_is_gone() {
    let mut options = guarded();
    options.dialog_timeout = Duration::from_secs(3);
    let mut rig = Rig::with_page_and(options);
    rig.guard_connects();
    rig.guard_listens("P", "GP");
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.advance(Duration::from_secs(3));
    assert_eq!(rig.guard_command("Page.handleJavaScriptDialog")["params"]["accept"], false);
    rig.guard_closed("P", false);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Watchdog));
}

/// While main is gone, the guard alone hears of a new dialog: it is pending like any other.
#[test]
fn a_dialog_that_opens_while_main_is_gone_is_pending() {
    let mut rig = Rig::guarded_page();
    rig.main_lost();
    rig.guard_caught_up();
    rig.guard_opening("P", "confirm", "Now?");
    let pending = rig.snapshot().pending_dialogs.clone();
    assert_eq!((pending.len(), pending[0].id.0, &*pending[0].message), (1, 1, "Now?"));
    rig.main_back("SP2");
    assert_eq!(rig.snapshot().pages[0].pending_dialogs, 1);
    rig.respond(None, accept());
    rig.guard_closed("P", true);
    rig.closed("SP2", "P", true, "");
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Agent));
}

/// What opens before main's new session listens, main will never hear of; what opens after, both tell.
#[test]
fn a_dialog_that_opens_while_main_comes_back_is_there_once() {
    let mut rig = Rig::guarded_page();
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back("SP2");
    rig.guard_opening("P", "confirm", "?");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    rig.opening("SP2", "P", "confirm", "?");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    // Main has it after all, and answers it.
    rig.respond(None, accept());
    assert_eq!(rig.sent_as("Page.handleJavaScriptDialog").last().unwrap()["sessionId"], "SP2");
}

#[test]
fn both_lost_is_disconnected() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_lost();
    let ended = rig.snapshot().recent_dialogs[0].clone();
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    rig.main_back("SP2");
    rig.advance(Duration::from_secs(3));
    let blocked = rig.snapshot().pages[0].blocked.clone().unwrap();
    assert_eq!(blocked.reason, Unanswerable::Orphaned);
}

#[test]
fn a_guard_that_does_not_answer_when_it_is_needed_counts_as_lost() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.advance(GUARD_WAIT);
    assert_eq!(rig.snapshot().recent_dialogs[0].reason, Some(Reason::Disconnected));
    assert!(rig.guard_hung_up());
}

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

#[test]
fn stop_answers_by_the_guard_while_main_is_gone() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    let stop = rig.host(Command::Stop);
    assert_eq!(rig.guard_command("Page.handleJavaScriptDialog")["params"]["accept"], false);
    assert_eq!(rig.outcome(stop), None);
    rig.guard_closed("P", false);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.outcome(stop), Some(&Outcome::Done));
    assert!(rig.guard_hung_up());
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::AutoPolicy));
}

/// Main is lost while `stop` waits for its answer: the guard gives it.
#[test]
fn a_stop_that_loses_main_goes_on_by_the_guard() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    let stop = rig.host(Command::Stop);
    rig.main_lost();
    assert_eq!(rig.guard_command("Page.handleJavaScriptDialog")["params"]["accept"], false);
    rig.guard_caught_up();
    rig.guard_closed("P", false);
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.outcome(stop), Some(&Outcome::Done));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::AutoPolicy));
    assert!(rig.effects.iter().filter(|effect| matches!(effect, Effect::Dial { .. })).count() == 1);
}

#[test]
fn a_stop_is_bounded_when_the_guard_says_nothing() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    let stop = rig.host(Command::Stop);
    rig.advance(Duration::from_secs(1));
    assert_eq!(rig.outcome(stop), Some(&Outcome::Done));
}

/// The task is given up while the guard still carries: the page is let go before its last client leaves.
#[test]
fn a_task_that_fails_dismisses_what_the_guard_carries() {
    let mut options = guarded();
    options.reconnect.tries = 0;
    let mut rig = Rig::with_page_and(options);
    rig.guard_connects();
    rig.guard_listens("P", "GP");
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    assert_eq!(rig.snapshot().status.status, Status::Failed);
    assert_eq!(rig.guard_command("Page.handleJavaScriptDialog")["params"]["accept"], false);
    assert!(rig.guard_hung_up() && rig.snapshot().pending_dialogs.is_empty());
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

/// Its iframe is removed while main is gone: whatever is done to the page now kills the browser.
#[test]
fn an_iframe_removed_while_main_is_gone_is_not_answered_and_not_offered_later() {
    let mut rig = Rig::guarded_page();
    rig.event("SP", "Page.frameAttached", json!({"frameId": "B", "parentFrameId": "P"}));
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "swap"}));
    rig.both_opening("B", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.guard_event("GP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    assert_eq!(rig.snapshot().recent_dialogs[0].reason, Some(Reason::TargetGone));
    let late = rig.respond(Some(1), accept());
    assert_eq!(rig.code(late), Code::AlreadyClosed);
    rig.main_back("SP2");
    let blocked = rig.snapshot().pages[0].blocked.clone().unwrap();
    assert_eq!((blocked.reason, blocked.remedies.len()), (Unanswerable::FrameRemoved, 0));
    rig.answer_all("Page.enable", json!({}));
    assert!(rig.snapshot().pages[0].blocked.is_some(), "that it answers does not make it safe");
}

#[test]
fn a_page_that_closes_or_crashes_or_leaves_while_main_is_gone_ends_its_dialog() {
    let gone = |happen: fn(&mut Rig)| {
        let mut rig = Rig::guarded_page();
        rig.both_opening("P", "confirm", "?");
        rig.main_lost();
        rig.guard_caught_up();
        happen(&mut rig);
        rig.snapshot().recent_dialogs[0].reason
    };
    let closes = |rig: &mut Rig| rig.guard_event("", "Target.detachedFromTarget", json!({"sessionId": "GP"}));
    assert_eq!(gone(closes), Some(Reason::TargetGone));
    let crashes = |rig: &mut Rig| {
        rig.guard_closed("P", false);
        rig.guard_event("GP", "Inspector.targetCrashed", json!({}));
    };
    assert_eq!(gone(crashes), Some(Reason::Crash));
    let leaves = |rig: &mut Rig| {
        let params = json!({"frameId": "P", "url": "http://b.test/", "loaderId": "L2",
            "navigationType": "differentDocument"});
        rig.guard_event("GP", "Page.frameStartedNavigating", params);
        rig.guard_closed("P", false);
    };
    assert_eq!(gone(leaves), Some(Reason::Navigation));
}

/// Two dialogs of two processes, seen by the guard alone.
#[test]
fn an_overlap_while_main_is_gone_is_told_as_one() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "first");
    rig.main_lost();
    rig.guard_caught_up();
    rig.guard_opening("B", "confirm", "second");
    rig.guard_closed("P", false);
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.recent_dialogs[0].reason, Some(Reason::Overlap));
    assert_eq!((snapshot.pending_dialogs.len(), snapshot.pending_dialogs[0].answerable), (1, false));
    rig.main_back("SP2");
    let blocked = rig.snapshot().pages[0].blocked.clone().unwrap();
    assert_eq!(blocked.reason, Unanswerable::Overlap, "closing the page would crash the browser");
}

/// Without a guard too: what nobody can answer keeps its reason over a reconnect, so that no dangerous remedy is offered.
#[test]
fn an_overlap_that_outlives_its_connection_stays_one() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "first");
    rig.opening("SP", "B", "confirm", "second");
    rig.closed("SP", "P", false, "");
    rig.main_lost();
    rig.main_back("SP2");
    rig.advance(Duration::from_secs(3));
    assert_eq!(rig.snapshot().pages[0].blocked.clone().unwrap().reason, Unanswerable::Overlap);
}
