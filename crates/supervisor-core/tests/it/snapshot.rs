use serde_json::json;
use supervisor_core::{Input, limits};

use crate::rig::Rig;

#[test]
fn its_shape_is_the_contract_with_hosts() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "https://ads.example/");
    rig.opening("SP", "B", "alert", "Hello");
    let json = serde_json::to_value(&*rig.snapshot()).unwrap();
    assert_eq!(json["status"], "connected");
    assert_eq!(json["pending_dialogs"][0]["id"], "d-1");
    assert_eq!(json["pending_dialogs"][0]["opened_at"], json!(1_000_000_000.0));
    assert_eq!(json["frame_tree"]["top"]["origin"], "http://a.test");
    let child = &json["frame_tree"]["children"][0];
    assert_eq!(
        (&child["is_oopif"], &child["session_id"], &child["parent_frame_id"]),
        (&json!(true), &json!("SB"), &json!("P"))
    );
    assert_eq!(json["frame_tree"]["truncated"], false);
    assert_eq!(json["pages"][0]["pending_dialogs"], 1);
}

#[test]
fn the_tree_is_cut_at_its_limits_and_says_so() {
    let mut rig = Rig::with_page();
    for n in 0..limits::MAX_TREE_CHILDREN {
        rig.event("SP", "Page.frameAttached", json!({"frameId": format!("F{n}"), "parentFrameId": "P"}));
    }
    let tree = rig.snapshot().frame_tree.clone();
    assert_eq!((tree.children.len(), tree.truncated), (limits::MAX_TREE_CHILDREN, false));
    rig.event("SP", "Page.frameAttached", json!({"frameId": "one more", "parentFrameId": "P"}));
    let tree = rig.snapshot().frame_tree.clone();
    assert_eq!((tree.children.len(), tree.truncated), (limits::MAX_TREE_CHILDREN, true));
    assert_eq!(rig.machine.frames(None).unwrap().len(), limits::MAX_TREE_CHILDREN + 2);
}

#[test]
fn iframes_of_iframes_of_iframes_are_left_out() {
    let mut rig = Rig::with_page();
    for (above, frame, parent, session) in
        [("P", "B", "SP", "SB"), ("B", "C", "SB", "SC"), ("C", "D", "SC", "SD")]
    {
        rig.attach_iframe(parent, frame, session, above);
    }
    let tree = rig.snapshot().frame_tree.clone();
    let shown: Vec<_> = tree.children.iter().map(|frame| frame.frame_id.as_str()).collect();
    assert_eq!((shown.len(), tree.truncated), (limits::MAX_TREE_OOPIF_DEPTH, true));
    assert_eq!(shown, ["B", "C"]);
}

#[test]
fn sections_that_did_not_change_are_shared() {
    let mut rig = Rig::with_page();
    let before = rig.snapshot();
    rig.opening("SP", "P", "alert", "x");
    let after = rig.snapshot();
    assert!(std::sync::Arc::ptr_eq(&before.frame_tree, &after.frame_tree));
    assert!(!std::sync::Arc::ptr_eq(&before.pending_dialogs, &after.pending_dialogs));
}

#[test]
fn garbage_is_counted_and_changes_nothing_else() {
    let mut rig = Rig::with_page();
    let before = rig.machine.state().clone();
    let epoch = rig.epoch();
    for text in [
        "",
        "nonsense",
        "{}",
        "[1]",
        r#"{"id":1}"#,
        r#"{"method":"Page.frameAttached","params":{},"sessionId":"SP"}"#,
    ] {
        rig.input(Input::Received { epoch, text });
    }
    assert_eq!(*rig.machine.state(), before);
    assert_eq!(rig.snapshot().counts.meters.protocol_violations, 6);
}
