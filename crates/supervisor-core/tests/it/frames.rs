//! Frames as they are shown: their places, URLs and origins.

use serde_json::json;

use crate::frame_rig::{attached, detached};
use crate::rig::Rig;

#[test]
fn a_local_iframe_belongs_to_its_pages_session() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "C", "P");
    rig.navigated("SP", "C", Some("P"), "about:srcdoc");
    assert_eq!(rig.tree(), ["C<P ", "P<- "]);
}

#[test]
fn a_frame_has_the_origin_of_its_document_not_of_its_url() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "blank", "P");
    rig.event(
        "SP",
        "Page.frameNavigated",
        json!({"frame": {"id": "blank", "parentId": "P", "loaderId": "1",
        "url": "about:blank", "securityOrigin": "://", "mimeType": "text/html"}, "type": "Navigation"}),
    );
    rig.context_of("SP", "blank", 2, "http://a.test");
    attached(&mut rig, "SP", "boxed", "P");
    rig.attach_iframe("SP", "boxed", "SX", "P");
    // The context may be announced before the document.
    rig.context_of("SX", "boxed", 1, "://");
    rig.navigated("SX", "boxed", Some("P"), "http://a.test/boxed");
    let origins = |rig: &mut Rig| {
        let tree = rig.snapshot().frame_tree.clone();
        tree.children.iter().map(|frame| frame.origin.clone()).collect::<Vec<_>>()
    };
    assert_eq!(origins(&mut rig), ["http://a.test", "null"]);
    rig.event("SX", "Runtime.executionContextsCleared", json!({}));
    assert_eq!(origins(&mut rig), ["http://a.test", "http://a.test"], "all that is known is the URL's");
}

#[test]
fn a_guessed_parent_makes_way_for_the_real_one() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "L", "P");
    let info = json!({"targetId": "B", "type": "iframe", "url": ""});
    let params = json!({"sessionId": "SB", "targetInfo": info, "waitingForDebugger": true});
    rig.event("SP", "Target.attachedToTarget", params);
    assert_eq!(rig.tree(), ["B<P SB", "L<P ", "P<- "]);
    rig.navigated("SB", "B", Some("L"), "http://b.test/");
    assert_eq!(rig.tree(), ["B<L SB", "L<P ", "P<- "]);
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    assert_eq!(rig.tree(), ["B<L SB", "L<P ", "P<- "], "a known parent is for life");
}

/// Older browsers have a word for no URL.
#[test]
fn a_frame_that_has_no_document_yet_has_no_url() {
    let mut rig = Rig::with_page();
    let info = json!({"targetId": "B", "type": "iframe", "url": ":", "title": "", "attached": true,
        "parentFrameId": "P"});
    let params = json!({"sessionId": "SB", "targetInfo": info, "waitingForDebugger": true});
    rig.event("SP", "Target.attachedToTarget", params);
    let described = json!({"id": "B", "parentId": "P", "loaderId": "L", "url": ":", "securityOrigin": "://",
        "mimeType": ""});
    let id = rig.last_id("Page.getFrameTree");
    rig.reply(id, json!({"frameTree": {"frame": described}}));
    assert_eq!(rig.snapshot().frame_tree.children[0].url, "");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    assert_eq!(rig.snapshot().frame_tree.children[0].url, "http://b.test/");
}

/// Fault F8 of the scenarios.
#[test]
fn frames_of_the_same_url_are_told_apart_by_their_ids_alone() {
    let mut rig = Rig::with_page();
    for (frame, context) in [("twin1", 11), ("twin2", 12)] {
        attached(&mut rig, "SP", frame, "P");
        rig.navigated("SP", frame, Some("P"), "http://a.test/same");
        rig.context("SP", frame, context);
    }
    for (frame, context) in [("twin2", "U-SP-12"), ("twin1", "U-SP-11")] {
        rig.eval(frame);
        assert_eq!(rig.sent.last().unwrap()["params"]["uniqueContextId"], context);
    }
    detached(&mut rig, "SP", "twin1", "remove");
    assert_eq!(rig.tree(), ["P<- ", "twin2<P "]);
}

/// Fault F12 of the scenarios.
#[test]
fn a_paused_target_was_resumed_in_the_same_write_whatever_fails_of_its_set_up() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    let set_up: Vec<(String, u64)> = rig
        .sent
        .iter()
        .filter(|it| it["sessionId"] == "SB")
        .map(|it| (it["method"].as_str().unwrap().to_owned(), it["id"].as_u64().unwrap()))
        .collect();
    assert_eq!(set_up.last().unwrap().0, "Runtime.runIfWaitingForDebugger");
    for (_, id) in &set_up {
        rig.reply_error(*id, -32000, "it fails");
    }
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
}

/// Fault F14 of the scenarios.
#[test]
fn the_cost_of_the_tree_in_a_snapshot_is_bounded_by_what_it_may_look_at() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.attach_iframe("SB", "C", "SC", "B");
    // Deeper ones are left out one by one; after so many the view stops looking.
    for n in 0..2 * supervisor_core::limits::MAX_TREE_VISITS {
        rig.attach_iframe("SC", &format!("D{n}"), &format!("SD{n}"), "C");
    }
    let tree = rig.snapshot().frame_tree.clone();
    assert_eq!((tree.children.len(), tree.truncated), (2, true));
    assert_eq!(rig.tree().len(), 3 + 2 * supervisor_core::limits::MAX_TREE_VISITS);
}
