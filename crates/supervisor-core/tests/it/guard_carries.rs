//! What the guard does for dialogs when the main connection is lost.

use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::{ClosedBy, Reason};
use supervisor_core::limits::ANSWER_CONFIRM;
use supervisor_core::{Action, Code, DialogPolicy, Outcome, Status};

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
    assert_eq!(rig.outcome(req), None);
    rig.guard_caught_up();
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
    assert!(rig.guard_sent().iter().all(|it| it["method"] != "Page.handleJavaScriptDialog"));
    rig.guard_caught_up();
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
