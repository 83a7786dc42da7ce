//! Where dialogs come from: frames, pages, and places whose dialogs no browser shows.

use integration_tests::{Stage, accept, dismiss};
use page_server::Site;
use serde_json::json;
use supervisor::{Code, ConsoleView, EvalOptions, FrameId};

const PARENT: &str = r#"<iframe src="/inner" name="same"></iframe><iframe src="http://b.test:{PORT}/inner"></iframe>
<iframe sandbox="allow-scripts" src="/inner?sandboxed"></iframe>"#;

async fn stage() -> Stage {
    let warner = "<script>addEventListener('beforeunload', () => alert('do not leave'))</script>";
    let site = Site::new().page("/", PARENT).page("/inner", "<p>inner").page("/warner", warner);
    Stage::new(site.page("/blank", "<p>blank")).await
}

/// Row 28.
#[tokio::test(flavor = "multi_thread")]
async fn s028_a_same_origin_iframes_dialog_names_the_iframe_and_is_answered_on_the_page() {
    let stage = stage().await;
    stage.open("a.test", "/").await;
    let frame = stage.frame_where(|frame| frame.name == "same").await;
    assert!(!frame.is_oopif);
    let held = stage.ask(Some(&frame.frame_id), "confirm('inside')").await;
    assert!(stage.is_of_frame(&held.dialog, &frame.frame_id));
    assert_eq!((&held.dialog.url, &held.dialog.target_id), (&frame.url, &stage.page().target_id));
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!(true));
    stage.end().await;
}

/// Row 29. The browser takes answers on the page's session only: an answer that succeeds went there.
#[tokio::test(flavor = "multi_thread")]
async fn s029_an_oopifs_dialog_names_the_oopif_and_is_answered_on_the_page() {
    let stage = stage().await;
    stage.open("a.test", "/").await;
    let frame = stage.frame("b.test").await;
    assert!(frame.is_oopif);
    let held = stage.ask(Some(&frame.frame_id), "confirm('far away')").await;
    assert!(stage.is_of_frame(&held.dialog, &frame.frame_id));
    assert_eq!((&held.dialog.url, &held.dialog.target_id), (&frame.url, &stage.page().target_id));
    assert_ne!(held.dialog.session_id, frame.session_id);
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!(true));
    stage.end().await;
}

async fn console_says(stage: &Stage, frame: Option<&FrameId>, text: &str) -> ConsoleView {
    stage.until(|_| stage.task.console(frame).errors.iter().any(|entry| entry.text.contains(text))).await;
    stage.task.console(frame)
}

/// Row 35.
#[tokio::test(flavor = "multi_thread")]
async fn s035_a_sandboxed_frame_gets_no_dialog_and_the_console_says_why() {
    let stage = stage().await;
    stage.open("a.test", "/").await;
    let frame = stage.frame("sandboxed").await;
    assert_eq!(stage.value(Some(&frame.frame_id), "confirm('may I?')").await, json!(false));
    console_says(&stage, None, "Ignored call to 'confirm()'").await;
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 0);
    stage.end().await;
}

/// Row 36.
#[tokio::test(flavor = "multi_thread")]
async fn s036_an_alert_while_leaving_is_no_dialog_and_the_console_says_so() {
    let stage = stage().await;
    stage.open("a.test", "/warner").await;
    stage.open("a.test", "/blank").await;
    console_says(&stage, None, "Blocked alert('do not leave') during beforeunload.").await;
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 0);
    stage.end().await;
}

/// Rows 37 and 41.
// Fault D6
#[tokio::test(flavor = "multi_thread")]
async fn s037_s041_pages_have_their_own_dialogs_in_the_background_too() {
    let stage = stage().await;
    stage.open("a.test", "/blank").await;
    let url = stage.pages.url("b.test", "/blank");
    stage.call("Target.createTarget", json!({ "url": url, "background": true })).await.unwrap();
    let is_other = |page: &supervisor::PageView| page.url == url;
    let snapshot = stage.until(|snapshot| snapshot.pages.iter().any(is_other)).await;
    let other = snapshot.pages.iter().find(|page| is_other(page)).unwrap().target_id.clone();
    let front = stage.ask(None, "confirm('in front')").await;
    let behind = in_page(&stage, &other, "confirm('behind')").await;
    assert_eq!((&front.dialog.target_id, &behind.dialog.target_id), (&stage.page().target_id, &other));

    let unnamed = stage.task.respond(Default::default(), accept()).await.unwrap_err();
    assert_eq!((unnamed.code, unnamed.detail.candidates.len()), (Code::AmbiguousDialog, 2));
    let answered = stage.answer_on(&other, dismiss()).await.unwrap();
    assert_eq!(answered.dialog.id, behind.dialog.id);
    assert_eq!(stage.late(behind.call).await, json!(false));
    assert_eq!(stage.task.snapshot().pending_dialogs.as_slice(), [front.dialog]);
    stage.answer(accept()).await;
    assert_eq!(stage.late(front.call).await, json!(true));
    stage.end().await;
}

/// Evaluates what opens a dialog in the top frame of a page that is not the active one.
async fn in_page(stage: &Stage, page: &supervisor::TargetId, expression: &str) -> integration_tests::Held {
    let top = || stage.task.frame_tree(Some(page)).ok().and_then(|tree| tree.top);
    stage.until(|_| top().is_some_and(|top| top.url.contains("/blank"))).await;
    let frame = top().map(|top| top.frame_id);
    let failure = stage.task.eval(frame, expression, EvalOptions::default()).await.unwrap_err();
    integration_tests::Held::from_failure(&failure)
}
