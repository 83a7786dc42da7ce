use std::time::Duration;

use serde_json::json;
use supervisor_core::limits::ORPHAN_WAIT;
use supervisor_core::{Code, Effect, Place, Route};

use crate::rig::Rig;

fn attached(rig: &mut Rig, session: &str, frame: &str, parent: &str) {
    rig.event(session, "Page.frameAttached", json!({"frameId": frame, "parentFrameId": parent}));
}

fn detached(rig: &mut Rig, session: &str, frame: &str, reason: &str) {
    rig.event(session, "Page.frameDetached", json!({"frameId": frame, "reason": reason}));
}

fn session_detached(rig: &mut Rig, parent: &str, session: &str) {
    rig.event(parent, "Target.detachedFromTarget", json!({"sessionId": session}));
}

/// a.test with an iframe that went to b.test, in the order that was measured.
fn with_oopif() -> Rig {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "B", "P");
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    detached(&mut rig, "SP", "B", "swap");
    rig
}

#[test]
fn a_local_iframe_belongs_to_its_pages_session() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "C", "P");
    rig.navigated("SP", "C", Some("P"), "about:srcdoc");
    assert_eq!(rig.tree(), ["C<P ", "P<- "]);
}

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

/// A page that has an orphan, and the command that asked for it.
fn with_orphan() -> (Rig, u64) {
    let mut rig = with_oopif();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    session_detached(&mut rig, "SP", "SB");
    let asked = rig.last_id("Page.getFrameTree");
    (rig, asked)
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
fn a_child_that_an_oopif_announces_after_its_own_end_is_dropped() {
    let mut rig = with_oopif();
    session_detached(&mut rig, "SP", "SB");
    detached(&mut rig, "SP", "B", "remove");
    attached(&mut rig, "SB", "C", "B");
    rig.navigated("SB", "C", Some("B"), "http://b.test/c");
    assert_eq!(rig.tree(), ["P<- "]);
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
fn events_about_frames_of_vanished_parents_and_unknown_frames_change_nothing() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "X", "vanished");
    detached(&mut rig, "SP", "nobody", "remove");
    rig.navigated("SP", "Y", Some("vanished"), "http://a.test/");
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn events_of_the_old_process_do_not_touch_a_frame_that_moved() {
    let mut rig = with_oopif();
    rig.navigated("SP", "B", Some("P"), "http://stale/");
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!(frames[1].url, "http://b.test/");
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

/// An iframe that says it is below one that was said to be below it.
#[test]
fn no_frame_becomes_its_own_ancestor() {
    for above in [json!({}), json!({"parentFrameId": "X"}), json!({"parentFrameId": "Y"})] {
        let mut rig = Rig::with_page();
        rig.attach_iframe("SP", "X", "SX", "Y");
        let mut info = json!({"targetId": "Y", "type": "iframe", "url": "", "title": "", "attached": true});
        info.as_object_mut().unwrap().extend(above.as_object().unwrap().clone());
        rig.event(
            "SX",
            "Target.attachedToTarget",
            json!({"sessionId": "SY", "targetInfo": info, "waitingForDebugger": true}),
        );
        attached(&mut rig, "SX", "X", "Y");
        rig.eval("Y");
        rig.event("SP", "Page.frameDetached", json!({"frameId": "X", "reason": "remove"}));
        assert!(rig.machine.state().frames.get(&"X".into()).is_none());
    }
    let mut rig = Rig::connected(supervisor_core::Options::default());
    rig.attach_page("P", "SP", json!({}));
    rig.attach_iframe("SP", "P", "SX", "P");
    rig.navigated("SP", "P", None, "http://a.test/");
    attached(&mut rig, "SP", "kid", "P");
    assert_eq!(rig.machine.state().frames.of_page(&"P".into()).count(), 2);
}

#[test]
fn no_frame_is_part_of_two_pages() {
    let mut rig = with_oopif();
    rig.attach_page("Q", "SQ", json!({}));
    rig.navigated("SQ", "Q", None, "http://a.test/");
    attached(&mut rig, "SP", "kid", "Q");
    attached(&mut rig, "SQ", "B", "Q");
    rig.attach_iframe("SQ", "B", "SB2", "Q");
    rig.attach_iframe("SQ", "new", "SN", "P");
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
    let of_q: Vec<_> = rig.machine.state().frames.of_page(&"Q".into()).cloned().collect();
    assert_eq!(of_q, ["Q".into()]);
    // Children that came before their parent tell whose it is.
    rig.attach_iframe("SP", "X", "SX", "later");
    attached(&mut rig, "SQ", "later", "Q");
    assert!(rig.machine.state().frames.get(&"later".into()).is_none());
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

/// An iframe of another process that was there before us: the parent's process has not spoken of it.
fn with_oopif_from_before() -> Rig {
    let mut rig = Rig::with_page();
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    let info = json!({"targetId": "B", "type": "iframe", "url": "http://b.test/", "parentFrameId": "P"});
    let params = json!({"sessionId": "SB", "targetInfo": info, "waitingForDebugger": false});
    rig.event("SP", "Target.attachedToTarget", params);
    rig
}

fn listing(frame: &str, url: &str, children: &serde_json::Value) -> serde_json::Value {
    let origin = url.trim_end_matches('/');
    json!({"frameTree": {"frame": {"id": frame, "loaderId": "L-http://a.test/", "url": url, "securityOrigin": origin},
        "childFrames": children}})
}

#[test]
fn the_listing_of_an_iframe_whose_url_its_target_told_still_tells_the_origin() {
    let mut rig = with_oopif_from_before();
    rig.answer_all("Page.getFrameTree", listing("B", "http://b.test/", &json!([])));
    let frames = rig.machine.frames(None).unwrap();
    assert_eq!((frames[1].url.as_str(), frames[1].origin.as_str()), ("http://b.test/", "http://b.test"));
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
fn a_child_that_may_be_of_either_document_goes_with_its_detach() {
    let mut rig = with_oopif_from_before();
    rig.navigated("SP", "P", None, "http://a.test/next");
    session_detached(&mut rig, "SP", "SB");
    rig.answer_all("Page.getFrameTree", listing("P", "http://a.test/next", &json!([])));
    assert_eq!(rig.tree(), ["P<- "]);
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

#[test]
fn a_listing_of_another_sessions_frames_makes_no_second_root() {
    let mut rig = with_oopif();
    rig.answer_all("Page.getFrameTree", listing("X", "http://x.test/", &json!([])));
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
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

#[test]
fn a_child_that_was_announced_before_its_parent_came_home_stays() {
    let mut rig = with_oopif();
    session_detached(&mut rig, "SP", "SB");
    rig.attach_iframe("SP", "early", "SE", "B");
    attached(&mut rig, "SP", "B", "P");
    assert_eq!(rig.tree(), ["B<P ", "P<- ", "early<B SE"]);
}

#[test]
fn a_process_speaks_of_children_only_where_it_has_the_parent() {
    let mut rig = with_oopif();
    rig.attach_page("Q", "SQ", json!({}));
    rig.navigated("SQ", "Q", None, "http://q.test/");
    let before = rig.machine.meters().protocol_violations;
    // Of another page, and of a frame in another process that this one never had.
    attached(&mut rig, "SP", "X", "Q");
    attached(&mut rig, "SB", "Y", "P");
    assert_eq!(rig.machine.meters().protocol_violations, before + 2);
    // In a listing it is left out.
    let id = rig.last_id("Page.getFrameTree");
    let frame = |id: &str, parent: Option<&str>| {
        json!({"id": id, "parentId": parent, "loaderId": "L", "url": "http://q.test/", "securityOrigin": "http://q.test",
            "mimeType": ""})
    };
    let child = json!({"frame": frame("Z", Some("P"))});
    rig.reply(id, json!({"frameTree": {"frame": frame("Q", None), "childFrames": [child]}}));
    assert_eq!(rig.tree(), ["B<P SB", "P<- "]);
    assert_eq!(rig.machine.state().frames.len(), 3);
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
