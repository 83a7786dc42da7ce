//! Frames that go from process to process, in every order of what is said about it.

use serde_json::json;

use crate::frame_rig::{attached, detached, listing, session_detached, with_oopif, with_oopif_from_before};
use crate::rig::Rig;

#[test]
fn local_to_remote_in_both_orders_ends_the_same() {
    assert_eq!(with_oopif().tree(), ["B<P SB", "P<- "]);
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "B", "P");
    detached(&mut rig, "SP", "B", "swap");
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
}

#[test]
fn remote_to_local_in_both_orders_ends_the_same() {
    let mut measured = with_oopif();
    session_detached(&mut measured, "SP", "SB");
    attached(&mut measured, "SP", "B", "P");
    measured.navigated("SP", "B", Some("P"), "http://a.test/l");
    assert_eq!(measured.tree(), ["B<P ", "P<- "]);
    let mut other = with_oopif();
    attached(&mut other, "SP", "B", "P");
    session_detached(&mut other, "SP", "SB");
    assert_eq!(other.tree(), ["B<P ", "P<- "]);
}

#[test]
fn a_late_swap_does_not_take_the_grandchildren_of_the_new_process() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "B", "P");
    attached(&mut rig, "SP", "old", "B");
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    attached(&mut rig, "SB", "new", "B");
    detached(&mut rig, "SP", "B", "swap");
    assert_eq!(rig.tree(), ["B<P SB", "P<- ", "new<B "]);
}

#[test]
fn a_late_detach_of_an_old_session_leaves_the_new_one_alone() {
    let mut rig = with_oopif();
    rig.attach_iframe("SP", "B", "SB2", "P");
    session_detached(&mut rig, "SP", "SB");
    assert_eq!(rig.tree(), ["B<P SB2", "P<- "]);
}

#[test]
fn events_of_the_old_process_do_not_touch_a_frame_that_moved() {
    let mut rig = with_oopif();
    rig.navigated("SP", "B", Some("P"), "http://stale/");
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!(frames[1].url, "http://b.test/");
}

#[test]
fn a_document_that_came_home_while_its_frame_still_had_a_session_is_asked_for() {
    let mut rig = with_oopif_from_before();
    attached(&mut rig, "SP", "B", "P");
    rig.navigated("SP", "B", Some("P"), "http://a.test/home");
    session_detached(&mut rig, "SP", "SB");
    let child =
        json!([{"frame": {"id": "B", "parentId": "P", "loaderId": "H", "url": "http://a.test/home"}}]);
    rig.answer_all("Page.getFrameTree", listing("P", "http://a.test/", &child));
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!((frames[1].url.as_str(), frames[1].is_oopif), ("http://a.test/home", false));
}

#[test]
fn a_child_that_was_announced_before_its_parent_came_home_stays() {
    let mut rig = with_oopif();
    session_detached(&mut rig, "SP", "SB");
    rig.attach_iframe("SP", "early", "SE", "B");
    attached(&mut rig, "SP", "B", "P");
    assert_eq!(rig.tree(), ["B<P ", "P<- ", "early<B SE"]);
}

/// The same with the frame's way out heard of only after that.
#[test]
fn a_child_that_was_announced_before_its_parent_left_and_came_home_stays() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "early", "SE", "B");
    attached(&mut rig, "SP", "B", "P");
    detached(&mut rig, "SP", "B", "swap");
    attached(&mut rig, "SP", "B", "P");
    attached(&mut rig, "SP", "early", "B");
    assert_eq!(rig.tree(), ["B<P ", "P<- ", "early<B SE"]);
    detached(&mut rig, "SP", "B", "swap");
    assert_eq!(rig.tree(), ["B<P ", "P<- "], "it was of that document, and goes with it");
}

/// All that the browser process says comes before what the page's own has to say of the new document.
#[test]
fn a_child_of_the_next_document_may_have_come_home_before_that_is_committed() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    session_detached(&mut rig, "SP", "SB");
    rig.attach_iframe("SP", "inner", "SI", "B");
    rig.navigated("SP", "P", None, "http://a.test/next");
    attached(&mut rig, "SP", "B", "P");
    detached(&mut rig, "SP", "B", "swap");
    attached(&mut rig, "SP", "B", "P");
    attached(&mut rig, "SP", "inner", "B");
    detached(&mut rig, "SP", "inner", "swap");
    assert_eq!(rig.tree(), ["B<P ", "P<- ", "inner<B SI"]);
}
