//! What a peer says of frames that cannot be: the tree stays one.

use serde_json::json;

use crate::frame_rig::{attached, detached, session_detached, with_oopif};
use crate::rig::Rig;

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
fn events_about_frames_of_vanished_parents_and_unknown_frames_change_nothing() {
    let mut rig = Rig::with_page();
    attached(&mut rig, "SP", "X", "vanished");
    detached(&mut rig, "SP", "nobody", "remove");
    rig.navigated("SP", "Y", Some("vanished"), "http://a.test/");
    assert_eq!(rig.tree(), ["P<- "]);
}

/// The page's process claimed it; a process of its own announced it, and takes it along.
#[test]
fn a_frame_goes_with_the_session_that_its_own_was_announced_on_wherever_it_is_said_to_be() {
    let mut rig = with_oopif();
    attached(&mut rig, "SP", "C", "P");
    rig.attach_iframe("SB", "C", "SC", "B");
    assert_eq!(rig.tree(), ["B<P SB", "C<P SC", "P<- "]);
    session_detached(&mut rig, "SP", "SB");
    let state = rig.machine.state();
    assert!(state.frames.get(&"C".into()).is_none(), "its session is gone, and nothing would tell its end");
    assert_eq!(state.sessions.len(), 1);
}
