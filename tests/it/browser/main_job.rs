//! The main job on a real Chromium: see, answer, call into frames, never hang.

use std::time::Instant;

use integration_tests::{Stage, accept, accept_with};
use page_server::Site;
use serde_json::json;
use supervisor::Code;
use supervisor::supervisor_core::dialog::ClosedBy;

#[tokio::test(flavor = "multi_thread")]
async fn nested_cross_site_frames_are_seen_evaluated_and_answered() {
    let stage = Stage::new(Site::demo()).await;
    stage.open("a.test", "/frames").await;
    let b = stage.frame("b.test").await;
    let c = stage.frame("c.test").await;
    let top = stage.task.snapshot().frame_tree.top.clone().unwrap();
    assert_eq!(b.parent_frame_id.as_ref(), Some(&top.frame_id));
    assert_eq!(c.parent_frame_id.as_ref(), Some(&b.frame_id));
    assert!(b.is_oopif && c.is_oopif && !top.is_oopif);
    assert!(b.session_id.is_some() && c.session_id.is_some() && b.session_id != c.session_id);
    let href = stage.value(Some(&c.frame_id), "location.href").await;
    assert_eq!(href, json!(c.url));

    stage.value(Some(&c.frame_id), "raise()").await;
    let dialog = stage.dialog().await;
    assert!(stage.is_of_frame(&dialog, &c.frame_id));
    stage.answer(accept()).await;
    let answer = "new Promise(r => { const t = setInterval(() => { if (window.answer !== undefined) { clearInterval(t); r(window.answer) } }, 5) })";
    assert_eq!(stage.value(Some(&c.frame_id), answer).await, json!(true));
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_dialog_open_the_snapshot_is_served_and_calls_say_why_at_once() {
    let stage = Stage::new(Site::demo()).await;
    stage.open("a.test", "/alert").await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    let before = Instant::now();
    let failure = stage.eval(None, "1").await.unwrap_err();
    assert_eq!(
        (failure.code, failure.detail.dialog.map(|it| it.id)),
        (Code::BlockedByDialog, Some(dialog.id))
    );
    assert!(before.elapsed() < std::time::Duration::from_secs(5), "it must not wait for a deadline");
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "1").await, json!(1));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_popups_first_script_prompts_on_its_own_page() {
    let stage = Stage::new(Site::demo()).await;
    stage.open("a.test", "/popup").await;
    stage.value(None, "setTimeout(() => raise())").await;
    let dialog = stage.dialog().await;
    assert_ne!(dialog.target_id, stage.page().target_id);
    let popup = stage.page_of(&dialog.target_id).unwrap();
    assert_eq!(popup.opener_target_id, Some(stage.page().target_id));
    let answered = stage.answer(accept_with("typed")).await;
    assert_eq!(answered.dialog.user_input.as_deref(), Some("typed"));
    stage.end().await;
}
