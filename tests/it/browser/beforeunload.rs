//! Leaving a page that asks whether to leave.

use integration_tests::{Held, Stage, accept, dismiss};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::ClosedBy;
use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{DialogType, DialogView, Options};

use super::bridge::bridged;

const ASKING: &str = "<p>asking<script>addEventListener('beforeunload', event => { event.preventDefault(); event.returnValue = 'stay' })</script>";

const AROUND: &str = "<p>around<iframe src='http://b.test:{PORT}/asking'></iframe>";

async fn stage(options: Options) -> Stage {
    let site = Site::new().page("/asking", ASKING).page("/around", AROUND);
    Stage::with(site.page("/next", "<p>next").page("/data", "data"), options).await
}

/// On a page that the user has touched.
async fn touched() -> Stage {
    touched_with(Options::default()).await
}

async fn touched_with(options: Options) -> Stage {
    let stage = stage(options).await;
    stage.open("a.test", "/asking").await;
    stage.click(50, 50).await.unwrap();
    stage
}

async fn leave(stage: &Stage) -> Held {
    let url = stage.pages.url("a.test", "/next");
    let failure = stage.call("Page.navigate", json!({ "url": url })).await.unwrap_err();
    Held::from_failure(&failure)
}

async fn is_committed(stage: &Stage, path: &str) {
    stage.until(|snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url.ends_with(path))).await;
}

async fn is_at(stage: &Stage, path: &str) {
    is_committed(stage, path).await;
    assert_eq!(stage.value(None, "location.pathname").await, json!(path));
}

/// `Page.close` and `Page.reload` are answered before the dialog opens, or are held by it: both are seen.
async fn asked_by(stage: &Stage, method: &str) -> (DialogView, Result<Value, Held>) {
    let called = match stage.call(method, json!({})).await {
        Ok(result) => Ok(result.result.parse().unwrap()),
        Err(failure) => Err(Held::from_failure(&failure)),
    };
    (stage.dialog_where(|dialog| dialog.kind == DialogType::Beforeunload).await, called)
}

/// Row 44. An `eval` counts as a gesture of the user, so there is none here before the page is left.
#[tokio::test(flavor = "multi_thread")]
async fn s044_a_page_that_nobody_touched_may_be_left() {
    let stage = stage(Options::default()).await;
    let url = stage.pages.url("a.test", "/asking");
    stage.call("Page.navigate", json!({ "url": url })).await.unwrap();
    is_committed(&stage, "/asking").await;
    let loaded = "document.readyState === 'complete' || new Promise(done => addEventListener('load', done))";
    stage.call("Runtime.evaluate", json!({ "expression": loaded, "awaitPromise": true })).await.unwrap();
    let url = stage.pages.url("a.test", "/next");
    stage.call("Page.navigate", json!({ "url": url })).await.unwrap();
    is_at(&stage, "/next").await;
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 0);
    stage.end().await;
}

/// Rows 45 and 46.
// Fault D13
#[tokio::test(flavor = "multi_thread")]
async fn s045_s046_leaving_waits_for_the_answer_and_a_dismissal_keeps_the_page() {
    let stage = touched().await;
    let held = leave(&stage).await;
    assert_eq!((held.dialog.kind, &*held.dialog.message), (DialogType::Beforeunload, ""));
    assert_eq!(stage.task.snapshot().pending_dialogs.as_slice(), std::slice::from_ref(&held.dialog));
    let answered = stage.answer(dismiss()).await;
    assert_eq!((answered.accepted, answered.dialog.closed_by), (false, Some(ClosedBy::Agent)));
    assert_eq!(stage.late(held.call).await["errorText"], json!("net::ERR_ABORTED"));
    is_at(&stage, "/asking").await;
    assert!(stage.task.snapshot().pending_dialogs.is_empty());
    stage.end().await;
}

/// Row 47.
#[tokio::test(flavor = "multi_thread")]
async fn s047_an_accepted_one_lets_the_page_go() {
    let stage = touched().await;
    let held = leave(&stage).await;
    let answered = stage.answer(accept()).await;
    assert_eq!((answered.accepted, answered.dialog.accepted), (true, Some(true)));
    assert_eq!(answered.dialog.closed_by, Some(ClosedBy::Agent));
    let late = stage.late(held.call).await;
    assert!(late["loaderId"].is_string() && late["errorText"].is_null(), "{late}");
    is_at(&stage, "/next").await;
    stage.end().await;
}

/// Row 48.
#[tokio::test(flavor = "multi_thread")]
async fn s048_closing_can_be_refused_again_and_again() {
    let stage = touched().await;
    let mut ids = Vec::new();
    for _ in 0..2 {
        let (dialog, _) = asked_by(&stage, "Page.close").await;
        stage.answer_to(dialog.id, dismiss()).await.unwrap();
        is_at(&stage, "/asking").await;
        ids.push(dialog.id);
    }
    assert_ne!(ids[0], ids[1]);
    assert_eq!(stage.task.snapshot().recent_dialogs.len(), 2);
    stage.end().await;
}

/// Row 49.
#[tokio::test(flavor = "multi_thread")]
async fn s049_closing_that_is_accepted_ends_the_page_and_is_remembered() {
    let stage = touched().await;
    // Some browsers end with their last page.
    stage.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    stage.until(|snapshot| snapshot.pages.len() == 2).await;
    let (dialog, _) = asked_by(&stage, "Page.close").await;
    let answered = stage.answer_to(dialog.id, accept()).await.unwrap();
    assert_eq!(answered.dialog.closed_by, Some(ClosedBy::Agent));
    stage.until(|snapshot| snapshot.pages.iter().all(|page| page.target_id != dialog.target_id)).await;
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Agent), Some(true)));
    stage.end().await;
}

/// Row 50: with the bridge too, which stops requests of the page.
#[tokio::test(flavor = "multi_thread")]
async fn s050_a_page_that_stayed_can_still_fetch() {
    for (options, bridge) in [(Options::default(), BridgeView::Off), (bridged(), BridgeView::On)] {
        let stage = touched_with(options).await;
        assert_eq!(stage.page().bridge, bridge);
        let fetch = "fetch('/data').then(reply => reply.text())";
        assert_eq!(stage.value(None, fetch).await, json!("data"));
        let (dialog, _) = asked_by(&stage, "Page.close").await;
        stage.answer_to(dialog.id, dismiss()).await.unwrap();
        assert_eq!(stage.value(None, fetch).await, json!("data"));
        assert_eq!(stage.page().bridge, bridge);
        stage.end().await;
    }
}

/// The page itself has nothing against it; an iframe in another process has. It is asked by the page, each time.
#[tokio::test(flavor = "multi_thread")]
async fn an_iframe_of_another_site_is_asked_too() {
    let stage = stage(Options::default()).await;
    stage.open("a.test", "/around").await;
    let frame = stage.frame("b.test").await;
    assert!(frame.is_oopif);
    for (action, errors, path) in
        [(dismiss(), json!("net::ERR_ABORTED"), "/around"), (accept(), Value::Null, "/next")]
    {
        // An eval counts as a gesture of the user.
        assert_eq!(stage.value(Some(&frame.frame_id), "1").await, json!(1));
        let held = leave(&stage).await;
        assert_eq!((held.dialog.kind, &*held.dialog.message), (DialogType::Beforeunload, ""));
        assert!(stage.is_of_frame(&held.dialog, &frame.frame_id), "{:?}", held.dialog);
        assert_eq!(held.dialog.target_id, stage.page().target_id);
        let answered = stage.answer(action).await;
        assert_eq!(answered.dialog.closed_by, Some(ClosedBy::Agent));
        assert_eq!(stage.late(held.call).await["errorText"], errors);
        is_at(&stage, path).await;
    }
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 2);
    stage.end().await;
}

/// Row 51.
#[tokio::test(flavor = "multi_thread")]
async fn s051_a_reload_says_what_was_answered() {
    let stage = touched().await;
    for (action, accepted) in [(dismiss(), false), (accept(), true)] {
        stage.value(None, "window.old = true").await;
        let (dialog, _) = asked_by(&stage, "Page.reload").await;
        let answered = stage.answer_to(dialog.id, action).await.unwrap();
        assert_eq!((answered.accepted, answered.dialog.accepted), (accepted, Some(accepted)));
        assert!(stage.task.snapshot().pending_dialogs.is_empty());
        let is_new = "new Promise(done => setTimeout(() => done(window.old === undefined)))";
        while stage.value(None, is_new).await != json!(accepted) {}
    }
    stage.end().await;
}
