//! Frames that lost their session and whose fate a round trip decides.

use std::time::Duration;

use serde_json::json;
use supervisor_core::limits::ORPHAN_WAIT;

use crate::frame_rig::{
    attached, listing, session_detached, with_oopif, with_oopif_from_before, with_orphan,
};
use crate::rig::Rig;

#[test]
fn a_detach_that_is_a_removal_is_decided_by_a_round_trip() {
    let mut rig = with_oopif();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    session_detached(&mut rig, "SP", "SB");
    assert_eq!(rig.tree().len(), 2, "it may come back: a detach is no removal");
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn a_listing_that_was_asked_for_before_the_detach_decides_nothing() {
    let mut rig = with_oopif();
    session_detached(&mut rig, "SP", "SB");
    let before =
        rig.sent_as("Page.getFrameTree").iter().find(|sent| sent["sessionId"] == "SP").unwrap()["id"].clone();
    let listing = json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}});
    rig.reply(before.as_u64().unwrap(), listing.clone());
    assert_eq!(rig.tree().len(), 2);
    let after = rig.last_id("Page.getFrameTree");
    assert_ne!(Some(after), before.as_u64());
    rig.reply(after, listing);
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn an_error_is_no_proof_that_an_orphan_is_gone() {
    let (mut rig, asked) = with_orphan();
    rig.reply_error(asked, -32000, "Not attached to an active page");
    assert_eq!(rig.tree().len(), 2, "that its parent cannot list its frames says nothing of them");
    attached(&mut rig, "SP", "B", "P");
    assert_eq!(rig.tree(), ["B<P ", "P<- "]);

    let (mut rig, asked) = with_orphan();
    rig.reply_error(asked, -32000, "Not attached to an active page");
    rig.advance(Duration::from_secs(6));
    assert_eq!(rig.tree(), ["P<- "], "the deadline decides");
}

#[test]
fn an_orphan_that_came_after_a_question_that_failed_gets_one_of_its_own() {
    let mut rig = with_oopif();
    let before = rig.last_id("Page.getFrameTree");
    let asked = rig.sent_as("Page.getFrameTree")[0]["id"].as_u64().unwrap();
    session_detached(&mut rig, "SP", "SB");
    assert_eq!(rig.last_id("Page.getFrameTree"), before, "one question at a time");
    rig.reply_error(asked, -32000, "Not attached to an active page");
    let after = rig.last_id("Page.getFrameTree");
    assert_ne!(after, before);
    rig.reply(after, json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}));
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn an_orphan_that_nobody_decides_is_gone_after_its_deadline() {
    let mut rig = with_oopif();
    session_detached(&mut rig, "SP", "SB");
    rig.advance(ORPHAN_WAIT - Duration::from_millis(1));
    assert_eq!(rig.tree().len(), 2);
    rig.advance(Duration::from_millis(1));
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn a_child_that_may_be_of_either_document_goes_with_its_detach() {
    let mut rig = with_oopif_from_before();
    rig.navigated("SP", "P", None, "http://a.test/next");
    session_detached(&mut rig, "SP", "SB");
    rig.answer_all("Page.getFrameTree", listing("P", "http://a.test/next", &json!([])));
    assert_eq!(rig.tree(), ["P<- "]);
}

/// What a session takes up ends with it; what was none of its own would be left to a dead one.
#[test]
fn an_orphan_is_not_taken_by_a_session_that_has_nothing_to_do_with_it() {
    let (mut rig, _) = with_orphan();
    rig.attach_iframe("SP", "X", "SX", "P");
    rig.navigated("SX", "B", Some("P"), "http://b.test/");
    attached(&mut rig, "SX", "B", "P");
    let id = rig.last_id("Page.getFrameTree");
    rig.reply(id, json!({"frameTree": {"frame": {"id": "B", "parentId": "P", "loaderId": "L", "url": "http://b.test/"}}}));
    let frames = &rig.machine.state().frames;
    assert_eq!(frames.get(&"B".into()).unwrap().owner, None);
    session_detached(&mut rig, "SP", "SX");
    attached(&mut rig, "SP", "B", "P");
    assert!(rig.tree().contains(&"B<P ".to_owned()), "its parent's process still can: {:?}", rig.tree());
}

#[test]
fn a_child_that_nobody_spoke_of_and_that_is_of_neither_document_is_gone_after_the_round_trip() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    session_detached(&mut rig, "SP", "SB");
    rig.navigated("SP", "P", None, "http://a.test/next");
    assert_eq!(rig.tree().len(), 2);
    for _ in 0..2 {
        let asked = rig.sent_as("Page.getFrameTree");
        let asked = asked.iter().rfind(|sent| sent["sessionId"] == "SP").unwrap()["id"].as_u64().unwrap();
        rig.reply(asked, json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/next"}}}));
    }
    assert_eq!(rig.tree(), ["P<- "]);
}
