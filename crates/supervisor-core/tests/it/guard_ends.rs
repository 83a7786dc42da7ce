//! How dialogs end that only the guard is left for.

use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor_core::limits::GUARD_WAIT;
use supervisor_core::{Code, Command, Effect, Outcome, Status};

use crate::guard_rig::guarded;
use crate::rig::{Rig, accept};

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

/// The main connection comes back to another browser: what the guard carried is of the old one.
#[test]
fn another_browser_found_ends_what_is_carried_and_gets_a_guard_of_its_own() {
    let mut rig = Rig::guarded_page();
    rig.both_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back_to("SP2", "Chrome/157");
    let snapshot = rig.snapshot();
    assert!(snapshot.pending_dialogs.is_empty() && snapshot.recent_dialogs.is_empty(), "{snapshot:?}");
    assert_eq!((rig.guard_dials(), rig.guard_hung_up()), (2, true));
    rig.guard_connects();
    rig.guard_listens("P", "GP2");
    assert_eq!(rig.stands(), supervisor_core::guard::Stands::On);
    // Ids go on counting.
    rig.opening("SP2", "P", "alert", "new");
    assert_eq!(rig.snapshot().pending_dialogs[0].id.0, 2);
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

/// Found by the simulator: main never heard of the iframe, and the guard heard in any order that it asked and was removed.
#[test]
fn a_dialog_whose_iframe_was_removed_is_not_taken_up_from_the_guard() {
    for is_removed_first in [false, true] {
        let mut rig = Rig::guarded_page();
        rig.main_lost();
        let removed = json!({"frameId": "B", "reason": "remove"});
        if is_removed_first {
            rig.guard_event("GP", "Page.frameDetached", removed.clone());
        }
        rig.guard_opening("B", "confirm", "?");
        if !is_removed_first {
            rig.guard_event("GP", "Page.frameDetached", removed);
        }
        rig.guard_caught_up();
        let snapshot = rig.snapshot();
        assert!(snapshot.pending_dialogs.is_empty(), "{snapshot:?}");
        assert_eq!(snapshot.recent_dialogs.len(), 1, "it is told of once");
        assert_eq!(snapshot.recent_dialogs[0].reason, Some(Reason::TargetGone));
        rig.main_back("SP2");
        let blocked = rig.snapshot().pages[0].blocked.clone().unwrap();
        assert_eq!(blocked.reason, Unanswerable::FrameRemoved);
    }
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
