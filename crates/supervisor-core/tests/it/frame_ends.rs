//! What goes with a frame, a session or a document.

use serde_json::json;
use supervisor_core::{Code, Effect, Place, Route};

use crate::frame_rig::{attached, detached, session_detached, with_oopif};
use crate::rig::Rig;

#[test]
fn removing_an_outer_iframe_takes_the_inner_sessions_that_get_no_detach() {
    let mut rig = with_oopif();
    attached(&mut rig, "SB", "C", "B");
    rig.attach_iframe("SB", "C", "SC", "B");
    detached(&mut rig, "SP", "B", "remove");
    assert_eq!(rig.tree(), ["P<- "]);
    assert_eq!(rig.machine.state().sessions.len(), 1);
    // Their own late messages revive nothing.
    rig.navigated("SC", "C", Some("B"), "http://c.test/");
    session_detached(&mut rig, "SB", "SC");
    assert_eq!((rig.tree().len(), rig.machine.state().sessions.len()), (1, 1));
}

#[test]
fn a_top_navigation_clears_the_subtree_and_its_sessions() {
    let mut rig = with_oopif();
    attached(&mut rig, "SP", "local", "P");
    rig.attach_iframe("SB", "C", "SC", "B");
    session_detached(&mut rig, "SP", "SB");
    rig.navigated("SP", "P", None, "http://z.test/");
    assert_eq!(rig.tree(), ["P<- "]);
    assert_eq!(rig.machine.state().sessions.len(), 1);
}

#[test]
fn a_restore_keeps_what_was_attached_since_and_lists_again() {
    let mut rig = with_oopif();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    rig.event("SP", "Page.frameStartedLoading", json!({"frameId": "P"}));
    session_detached(&mut rig, "SP", "SB");
    rig.attach_iframe("SP", "OLD", "SO", "P");
    rig.context("SP", "kid", 3);
    rig.event(
        "SP",
        "Page.frameNavigated",
        json!({"type": "BackForwardCacheRestore", "frame": {"id": "P",
        "loaderId": "L-old", "url": "http://a.test/1", "securityOrigin": "http://a.test"}}),
    );
    assert_eq!(rig.tree(), ["OLD<P SO", "P<- "]);
    rig.answer_all("Page.getFrameTree", json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-old"},
        "childFrames": [{"frame": {"id": "kid", "parentId": "P", "loaderId": "L-k", "url": "http://a.test/i"}}]}}));
    assert_eq!(rig.tree(), ["OLD<P SO", "P<- ", "kid<P "]);
}

#[test]
fn a_prerendered_main_frame_takes_the_place_of_the_old_one() {
    let mut rig = with_oopif();
    rig.navigated("SP", "P2", None, "http://a.test/next");
    assert_eq!(rig.tree(), ["P2<- "]);
}

#[test]
fn what_is_under_way_below_a_main_frame_that_is_replaced_ends() {
    let mut rig = with_oopif();
    let below = rig.call(Place::Frame("B".into()), "DOM.getDocument");
    let on_page = rig.call(Place::Target("P".into()), "Page.navigate");
    rig.navigated("SP", "P2", None, "http://a.test/next");
    assert_eq!(rig.code(below), Code::FrameGone);
    assert_eq!(rig.outcome(on_page), None);
    assert!(
        rig.effects
            .iter()
            .any(|it| matches!(it, Effect::Retire { route } if *route == Route::Session("SB".into())))
    );
}

#[test]
fn a_child_of_the_next_document_may_attach_before_that_is_committed() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "N", "SN", "P");
    rig.navigated("SP", "P", None, "http://a.test/next");
    assert_eq!(rig.tree(), ["N<P SN", "P<- "]);
    attached(&mut rig, "SP", "N", "P");
    detached(&mut rig, "SP", "N", "swap");
    assert_eq!(rig.tree(), ["N<P SN", "P<- "]);
    rig.navigated("SP", "P", None, "http://a.test/after");
    assert_eq!(rig.tree(), ["P<- "], "its process had spoken of it: it was of that document");
}

#[test]
fn a_frame_whose_parent_is_not_known_yet_goes_with_its_session() {
    let mut rig = with_oopif();
    rig.attach_iframe("SB", "C", "SC", "not listed yet");
    session_detached(&mut rig, "SP", "SB");
    let state = rig.machine.state();
    assert!(state.frames.get(&"C".into()).is_none());
    assert_eq!(state.sessions.len(), 1);
}

#[test]
fn a_dialog_below_a_removed_iframe_is_not_answered_when_the_detach_comes_first() {
    let mut rig = with_oopif();
    attached(&mut rig, "SB", "C", "B");
    rig.opening("SP", "C", "confirm", "?");
    session_detached(&mut rig, "SP", "SB");
    detached(&mut rig, "SP", "B", "remove");
    let snapshot = rig.snapshot();
    assert!(snapshot.pending_dialogs.is_empty());
    let blocked =
        snapshot.pages[0].blocked.clone().expect("whatever is done to the page now kills the browser");
    assert!(blocked.remedies.is_empty());
}

#[test]
fn ten_thousand_frames_leave_nothing_behind() {
    let mut rig = Rig::with_page();
    let before = rig.machine.state().frames.len();
    for n in 0..10_000 {
        let frame = format!("F{n}");
        attached(&mut rig, "SP", &frame, "P");
        rig.navigated("SP", &frame, Some("P"), "http://a.test/x");
    }
    assert_eq!(rig.machine.state().frames.len(), before + 10_000);
    for n in 0..10_000 {
        detached(&mut rig, "SP", &format!("F{n}"), "remove");
    }
    let state = rig.machine.state();
    assert_eq!((state.frames.len(), state.frames.of_page(&"P".into()).count()), (before, before));
}
