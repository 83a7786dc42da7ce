//! Several parties answer one dialog: one wins, and whoever asked is told which.

use std::time::Duration;

use serde_json::json;
use supervisor_core::limits::MAX_ANSWER_WAITERS;
use supervisor_core::{Action, Code, Command, Options, Req};

use crate::rig::{Rig, accept};

/// The watchdog's answer is on its way, and the host's comes too late.
fn watchdog_first() -> (Rig, Req) {
    let mut options = Options::default();
    options.dialog_timeout = Duration::from_secs(1);
    let mut rig = Rig::with_page_and(options);
    rig.opening("SP", "P", "confirm", "?");
    rig.advance(Duration::from_secs(1));
    let req = rig.respond(Some(1), accept());
    assert_eq!((rig.outcome(req), rig.sent_as("Page.handleJavaScriptDialog").len()), (None, 1));
    (rig, req)
}

fn won_by(rig: &Rig, req: Req) -> (Code, Option<&str>) {
    (rig.code(req), rig.failure(req).detail.won_by.as_deref())
}

// Fault D10
#[test]
fn a_host_that_comes_after_the_watchdog_is_told_that_it_won() {
    let (mut rig, req) = watchdog_first();
    rig.closed("SP", "P", false, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(won_by(&rig, req), (Code::AlreadyClosed, Some("watchdog")));
}

// Fault D10
#[test]
fn a_host_that_comes_after_the_watchdog_is_told_when_both_lost() {
    let (mut rig, req) = watchdog_first();
    rig.closed("SP", "P", true, "");
    assert_eq!(won_by(&rig, req), (Code::AlreadyClosed, Some("remote")));
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply_error(id, -32602, "No dialog is showing");
    assert_eq!(rig.snapshot().recent_dialogs.len(), 1);
}

#[test]
fn whoever_waits_is_told_when_nobody_can_answer_any_more() {
    let (mut rig, req) = watchdog_first();
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply_error(id, -32602, "No dialog is showing");
    assert_eq!(rig.code(req), Code::Unanswerable);
}

#[test]
fn whoever_waits_for_a_browser_that_says_nothing_waits_no_longer_than_for_a_call() {
    let (mut rig, req) = watchdog_first();
    let limit = rig.machine.state().options.call_timeout;
    rig.advance(limit - Duration::from_millis(1));
    assert_eq!(rig.outcome(req), None);
    rig.advance(Duration::from_millis(1));
    assert_eq!(rig.code(req), Code::Timeout);
    // What comes of it later is told to nobody twice.
    rig.closed("SP", "P", false, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.code(req), Code::Timeout);
}

#[test]
fn those_who_wait_are_bounded_and_a_further_one_is_told_at_once() {
    let (mut rig, _) = watchdog_first();
    let more: Vec<Req> = (1..MAX_ANSWER_WAITERS).map(|_| rig.respond(Some(1), Action::Dismiss)).collect();
    assert!(more.iter().all(|req| rig.outcome(*req).is_none()));
    let beyond = rig.respond(Some(1), Action::Dismiss);
    assert_eq!(won_by(&rig, beyond), (Code::AlreadyClosed, Some("watchdog")));
    rig.closed("SP", "P", false, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    assert!(more.iter().all(|req| rig.code(*req) == Code::AlreadyClosed));
}

#[test]
fn whoever_waits_is_told_when_the_task_stops_or_loses_its_browser() {
    let (mut rig, req) = watchdog_first();
    rig.host(Command::Stop);
    rig.advance(Duration::from_secs(1));
    assert_eq!(won_by(&rig, req), (Code::AlreadyClosed, Some("remote")));
    let (mut rig, req) = watchdog_first();
    rig.main_lost();
    assert_eq!(won_by(&rig, req), (Code::AlreadyClosed, Some("remote")));
}
