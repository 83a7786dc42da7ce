//! The main connection is back: what opens before its new session listens, it will never hear of; what opens after, both
//! connections tell, in any order.

use serde_json::json;
use supervisor_core::dialog::ClosedBy;
use supervisor_core::guard::Teller;

use crate::rig::{Rig, accept};

impl Rig {
    /// Main is back, has asked its session to listen, and was told that it does.
    fn coming_back() -> Self {
        let mut rig = Self::guarded_page();
        rig.main_lost();
        rig.guard_caught_up();
        rig.main_back("SP2");
        assert_eq!(rig.teller(), Teller::GuardFollows);
        rig
    }

    /// All signs that are still to be given are.
    fn handed_over(&mut self) {
        self.guard_caught_up();
        self.main_signs();
        self.guard_caught_up();
        assert_eq!(self.teller(), Teller::Main);
    }

    fn teller(&self) -> Teller {
        self.machine.state().guard.watches.values().next().unwrap().teller
    }

    /// The texts of what is pending.
    fn pending(&mut self) -> Vec<String> {
        self.snapshot().pending_dialogs.iter().map(|it| it.message.to_string()).collect()
    }
}

#[test]
fn what_opened_before_main_listened_is_the_guards_to_answer() {
    let mut rig = Rig::coming_back();
    rig.guard_opening("P", "confirm", "?");
    rig.handed_over();
    assert_eq!(rig.pending(), ["?"]);
    rig.respond(None, accept());
    rig.guard_closed("P", true);
    rig.closed("SP2", "P", true, "");
    rig.guard_reply("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(rig.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Agent));
}

#[test]
fn what_both_tell_is_there_once_and_main_answers_it() {
    for guard_first in [true, false] {
        let mut rig = Rig::coming_back();
        if guard_first {
            rig.guard_opening("P", "confirm", "?");
            assert!(rig.pending().is_empty(), "main may still tell it");
            rig.opening("SP2", "P", "confirm", "?");
        } else {
            rig.opening("SP2", "P", "confirm", "?");
            rig.guard_opening("P", "confirm", "?");
        }
        assert_eq!(rig.pending(), ["?"]);
        rig.handed_over();
        assert_eq!(rig.pending(), ["?"]);
        rig.respond(None, accept());
        assert_eq!(rig.sent_as("Page.handleJavaScriptDialog").last().unwrap()["sessionId"], "SP2");
    }
}

/// The guard may be late at any point: what main has seen to the end does not come up again.
#[test]
fn what_main_has_seen_end_does_not_come_back() {
    for late in 0..3 {
        let mut rig = Rig::coming_back();
        rig.opening("SP2", "P", "confirm", "?");
        rig.closed("SP2", "P", true, "");
        for step in 0..3 {
            if step == late {
                rig.guard_opening("P", "confirm", "?");
            }
            match step {
                0 => rig.guard_caught_up(),
                1 => rig.main_signs(),
                _ => {}
            }
        }
        rig.guard_closed("P", true);
        rig.guard_caught_up();
        assert!(rig.pending().is_empty(), "late by {late}");
        assert_eq!(rig.snapshot().recent_dialogs.len(), 1, "late by {late}");
    }
}

/// The page asks the same again: the guard's end of the first is still to come when main tells the second.
#[test]
fn the_same_text_again_is_another_dialog() {
    let mut rig = Rig::guarded_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.guard_opening("P", "confirm", "?");
    rig.main_lost();
    rig.guard_caught_up();
    rig.main_back("SP2");
    rig.opening("SP2", "P", "confirm", "?");
    assert_eq!(rig.pending(), ["?"]);
    assert_eq!(rig.snapshot().recent_dialogs.len(), 1);
    rig.guard_closed("P", true);
    rig.guard_opening("P", "confirm", "?");
    rig.handed_over();
    assert_eq!((rig.pending().len(), rig.snapshot().recent_dialogs.len()), (1, 1));
}

/// Main is lost in the middle of it, and a sign of the first time comes late.
#[test]
fn a_sign_of_an_earlier_attempt_says_nothing() {
    let mut rig = Rig::coming_back();
    rig.main_lost();
    assert_eq!(rig.teller(), Teller::Guard);
    rig.main_back("SP3");
    // The first is the sign of the attempt before; then the guard has caught up with the loss; then the one that counts.
    let sent = rig.guard_sent().into_iter().filter(|it| it["method"] == "Browser.getVersion");
    let ids: Vec<_> = sent.map(|it| it["id"].clone()).skip(1).collect();
    let then = [Teller::GuardFollows, Teller::GuardFollows, Teller::MainCompares];
    assert_eq!(ids.len(), then.len());
    for (id, teller) in ids.into_iter().zip(then) {
        rig.guard_recv(&json!({"id": id, "result": {"product": "Chrome/156"}}));
        assert_eq!(rig.teller(), teller);
    }
}
