//! Pages at which the wrong command ends the whole browser: they stay so when the connection that saw it is lost.

use integration_tests::{Proxy, Stage, is_headless_shell};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor::{Code, FrameId, Options, Remedy, Status};

const PARENT: &str = r#"<p>parent<iframe id="b" src="http://b.test:{PORT}/inner"></iframe>
<iframe id="c" src="http://c.test:{PORT}/inner"></iframe>"#;

/// A stage on a page with two iframes in processes of their own, reached through a proxy.
async fn stage_on_a_wire() -> (Stage, Proxy) {
    let site = Site::new().page("/parent", PARENT).page("/inner", "<p>inner").page("/next", "<p>next");
    let mut stage = Stage::new(site).await;
    let url = stage.browser.ws_url().to_owned();
    let port = url.split('/').nth(2).and_then(|host| host.rsplit_once(':')).unwrap().1.parse().unwrap();
    let proxy = Proxy::to(port).await;
    stage.rejoin(&proxy.through(&url), Options::default()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    stage.open("a.test", "/parent").await;
    (stage, proxy)
}

async fn raise(stage: &Stage, frame: &FrameId) {
    stage.value(Some(frame), "setTimeout(() => alert('left'))").await;
    stage.dialog_where(|dialog| stage.is_of_frame(dialog, frame)).await;
}

/// Cuts the wire, and waits until the page is there again with its iframes.
async fn cut_and_back(stage: &Stage, proxy: &Proxy) {
    proxy.cut();
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    stage.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
    stage.frame("c.test").await;
}

async fn is_shown(stage: &Stage, why: Unanswerable) {
    let is_so = |blocked: &supervisor::supervisor_core::snapshot::BlockedView| blocked.reason == why;
    stage.until(|it| it.pages[0].blocked.as_ref().is_some_and(is_so)).await;
}

async fn leave(stage: &Stage) {
    stage.open("a.test", "/next").await;
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("next"));
}

/// Two dialogs overlapped. Whoever closes the page ends the browser; leaving it is what helps.
#[tokio::test(flavor = "multi_thread")]
async fn an_overlap_is_known_after_a_reconnect() {
    let (stage, proxy) = stage_on_a_wire().await;
    let (b, c) = (stage.frame("b.test").await.frame_id, stage.frame("c.test").await.frame_id);
    raise(&stage, &b).await;
    raise(&stage, &c).await;
    if is_headless_shell() {
        // It shows the last one alone, and drops it with its last client.
        proxy.cut();
        stage.until(|it| it.status.status == Status::Reconnecting).await;
        stage.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
    } else {
        is_shown(&stage, Unanswerable::Overlap).await;
        cut_and_back(&stage, &proxy).await;
        is_shown(&stage, Unanswerable::Overlap).await;
        let close = stage.call("Page.close", json!({})).await.unwrap_err();
        assert_eq!(close.code, Code::Refused);
        let target = stage.page().target_id;
        let close = stage.task.recover(target.clone(), Remedy::Close).await.unwrap_err();
        assert_eq!(close.code, Code::Refused);
        stage.task.recover(target, Remedy::Reload).await.unwrap();
        stage.until(|it| it.pages[0].blocked.is_none()).await;
    }
    leave(&stage).await;
    stage.end().await;
}

/// An iframe was removed with its dialog open: leaving the page ends the browser, and so it does after a reconnect.
#[tokio::test(flavor = "multi_thread")]
async fn an_iframe_that_was_removed_with_its_dialog_is_known_after_a_reconnect() {
    let (stage, proxy) = stage_on_a_wire().await;
    let b = stage.frame("b.test").await.frame_id;
    raise(&stage, &b).await;
    stage.value(None, "document.getElementById('b').remove()").await;
    stage.without(&b).await;
    cut_and_back(&stage, &proxy).await;
    is_survived(&stage).await;
    stage.end().await;
}

/// The same when it is removed while nobody is connected.
#[tokio::test(flavor = "multi_thread")]
async fn an_iframe_that_was_removed_with_its_dialog_while_nobody_looked_is_missed() {
    let (stage, proxy) = stage_on_a_wire().await;
    let b = stage.frame("b.test").await.frame_id;
    raise(&stage, &b).await;
    // The page's own script waits for long enough to be overtaken by the cut.
    stage.value(None, "setTimeout(() => document.getElementById('b').remove(), 100)").await;
    cut_and_back(&stage, &proxy).await;
    is_survived(&stage).await;
    stage.end().await;
}

async fn is_survived(stage: &Stage) {
    let ended = &stage.task.snapshot().recent_dialogs[0];
    assert_eq!(ended.closed_by, Some(ClosedBy::Remote));
    assert!(matches!(ended.reason, Some(Reason::TargetGone | Reason::Disconnected)), "{ended:?}");
    if is_headless_shell() {
        return leave(stage).await;
    }
    is_shown(stage, Unanswerable::FrameRemoved).await;
    let leave = stage.call("Page.navigate", json!({ "url": "about:blank" })).await.unwrap_err();
    assert_eq!(leave.code, Code::Refused);
    assert_eq!(stage.call("Page.close", json!({})).await.unwrap_err().code, Code::Refused);
    // What is not dangerous works, and so does the browser.
    assert_eq!(stage.value(None, "1 + 1").await, json!(2));
}
