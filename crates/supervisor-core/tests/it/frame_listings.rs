//! What a process's own list of its frames adds to what events said.

use serde_json::json;

use crate::frame_rig::{attached, detached, listing, with_oopif, with_oopif_from_before};
use crate::rig::Rig;

#[test]
fn attaching_to_a_loaded_page_lists_its_frames_and_events_win_over_the_list() {
    let mut rig = Rig::connected(supervisor_core::Options::default());
    rig.attach_page("P", "SP", json!({}));
    rig.attach_iframe("SP", "B", "SB", "kid");
    rig.answer_all("Page.getFrameTree", json!({"frameTree": {"frame": {"id": "P", "loaderId": "L", "url": "http://a.test/"},
        "childFrames": [{"frame": {"id": "kid", "parentId": "P", "loaderId": "K", "url": "http://a.test/k"}}]}}));
    assert_eq!(rig.tree(), ["B<kid SB", "P<- ", "kid<P "]);
}

#[test]
fn a_listing_that_comes_after_a_commit_changes_nothing_of_it() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "C", "P");
    rig.navigated("SP", "C", Some("P"), "http://a.test/new");
    rig.answer_all("Page.getFrameTree", json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/", "url": "http://a.test/"},
        "childFrames": [{"frame": {"id": "C", "parentId": "P", "loaderId": "old", "url": "http://a.test/old", "name": "c"}}]}}));
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!((frames[1].url.as_str(), frames[1].name.as_str()), ("http://a.test/new", "c"));
}

#[test]
fn a_frame_that_only_a_listing_told_of_is_followed_like_any_other() {
    let mut rig = Rig::with_page();
    rig.answer_all("Page.getFrameTree", json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/", "url": "http://a.test/"},
        "childFrames": [{"frame": {"id": "C", "parentId": "P", "loaderId": "K", "url": "http://a.test/k"}}]}}));
    rig.navigated("SP", "C", Some("P"), "http://a.test/next");
    assert_eq!(rig.machine.frames(None).unwrap()[1].url, "http://a.test/next");
    assert_eq!(rig.tree(), ["C<P ", "P<- "]);
    detached(&mut rig, "SP", "C", "remove");
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn a_document_that_is_not_announced_is_listed() {
    let mut rig = Rig::with_page();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/", "url": "http://a.test/"}}}),
    );
    attached(&mut rig, "SP", "js", "P");
    rig.context("SP", "js", 2);
    rig.answer_all("Page.getFrameTree", json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/", "url": "http://a.test/"},
        "childFrames": [{"frame": {"id": "js", "parentId": "P", "loaderId": "J", "url": "about:blank", "name": "js"}}]}}));
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!((frames[1].url.as_str(), frames[1].name.as_str()), ("about:blank", "js"));
    rig.context("SP", "js", 3);
    assert!(rig.sent_as("Page.getFrameTree").is_empty(), "once is enough");
}

#[test]
fn a_listing_of_the_document_before_is_asked_for_again() {
    let mut rig = Rig::with_page();
    let listing = json!({"frameTree": {"frame": {"id": "P", "loaderId": "before", "url": "http://old/"},
        "childFrames": [{"frame": {"id": "ghost", "parentId": "P", "loaderId": "K"}}]}});
    rig.answer_all("Page.getFrameTree", listing);
    assert_eq!(rig.tree(), ["P<- "]);
    assert_eq!(rig.sent_as("Page.getFrameTree").len(), 1);
}

#[test]
fn the_listing_of_an_iframe_whose_url_its_target_told_still_tells_the_origin() {
    let mut rig = with_oopif_from_before();
    rig.answer_all("Page.getFrameTree", listing("B", "http://b.test/", &json!([])));
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!((frames[1].url.as_str(), frames[1].origin.as_str()), ("http://b.test/", "http://b.test"));
}

#[test]
fn a_listing_of_another_sessions_frames_makes_no_second_root() {
    let mut rig = with_oopif();
    rig.answer_all("Page.getFrameTree", listing("X", "http://x.test/", &json!([])));
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
}

/// Fault F6 of the scenarios.
#[test]
fn a_known_parent_is_not_lost_to_a_listing_that_names_none() {
    let mut rig = with_oopif();
    let ids: Vec<u64> = rig
        .sent
        .iter()
        .filter(|it| it["method"] == "Page.getFrameTree" && it["sessionId"] == "SB")
        .map(|it| it["id"].as_u64().unwrap())
        .collect();
    assert!(!ids.is_empty());
    for id in ids {
        rig.reply(id, json!({"frameTree": {"frame": {"id": "B", "loaderId": "L-http://b.test/", "url": "http://b.test/"}}}));
    }
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
}
