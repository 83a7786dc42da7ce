//! Every other way in which a dialog can end: the page goes, somebody navigates, the task stops.

use integration_tests::{Held, RawClient, Stage, accept, dismiss, is_headless_shell};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, Options, Status};

async fn stage() -> Stage {
    let stage = Stage::new(Site::new().page("/", "<p>page").page("/next", "<p>next")).await;
    stage.open("a.test", "/").await;
    stage
}

/// Row 12.
// Fault D6
#[tokio::test(flavor = "multi_thread")]
async fn s012_a_page_that_is_closed_takes_its_dialog_with_it() {
    let stage = stage().await;
    // Some browsers end with their last page.
    stage.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    stage.until(|snapshot| snapshot.pages.len() == 2).await;
    stage.value(None, "setTimeout(() => alert('open'))").await;
    let (dialog, page) = (stage.dialog().await, stage.page().target_id);
    stage.call("Target.closeTarget", json!({ "targetId": page })).await.unwrap();
    let snapshot = stage.until(|snapshot| snapshot.pages.len() == 1).await;
    assert!(snapshot.pending_dialogs.is_empty());
    let is_explained = |reason| reason == Some(Reason::TargetGone);
    let snapshot = stage.until(|it| it.recent_dialogs.iter().any(|it| is_explained(it.reason))).await;
    let [ended] = snapshot.recent_dialogs.as_slice() else { panic!("{:?}", snapshot.recent_dialogs) };
    assert_eq!((ended.id, ended.closed_by), (dialog.id, Some(ClosedBy::Remote)));
    let late = stage.answer_to(dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, Code::AlreadyClosed);
    assert!(stage.supervisor.stop("test").await);
    assert_eq!(stage.task.snapshot().status.status, Status::Stopped);
    stage.end().await;
}

/// Row 25. The headless shell does not close dialogs for a navigation: the page would be stuck.
// Fault D6
#[tokio::test(flavor = "multi_thread")]
async fn s025_a_navigation_closes_the_dialog_and_goes_on() {
    let stage = stage().await;
    let held = stage.ask(None, "confirm('stay?')").await;
    let next = stage.pages.url("a.test", "/next");
    let navigated = stage.call("Page.navigate", json!({ "url": next })).await;
    if is_headless_shell() {
        assert_eq!(navigated.unwrap_err().code, Code::BlockedByDialog);
        stage.answer(accept()).await;
        assert_eq!(stage.late(held.call).await, json!(true));
    } else {
        navigated.unwrap();
        let ended = stage.ended(held.dialog.id).await;
        assert_eq!(ended.accepted, Some(false));
        is_left(&stage, &held, &next).await;
        // The script that asked went on with false for a moment, or went with its document.
        match stage.task.result(held.call, None).await {
            Ok(value) => assert!(format!("{value:?}").contains("false"), "{value:?}"),
            Err(failure) => assert_eq!(failure.code, Code::Navigated, "{failure:?}"),
        }
    }
    stage.end().await;
}

/// Row 25, by another client and to another site. The headless shell says nothing of the dialog's end, and dies of an
/// answer that comes after it.
// Fault D6
#[tokio::test(flavor = "multi_thread")]
async fn s025_a_navigation_by_another_client_leaves_no_dialog_behind() {
    let stage = stage().await;
    let held = stage.ask(None, "confirm('stay?')").await;
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = other.attach(held.dialog.target_id.as_str()).await;
    let next = stage.pages.url("b.test", "/next");
    other.send("Page.navigate", json!({ "url": next }), Some(&session)).await;
    is_left(&stage, &held, &next).await;
    let late = stage.answer_to(held.dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, Code::AlreadyClosed);
    assert_eq!(stage.task.respond(Default::default(), accept()).await.unwrap_err().code, Code::NoDialog);
    other.close().await;
    stage.end().await;
}

/// The dialog went with its document, and the page works.
async fn is_left(stage: &Stage, held: &Held, next: &str) {
    let ended = stage.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Navigation)));
    stage.until(|snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == next)).await;
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("next"));
}

/// Row 26.
#[tokio::test(flavor = "multi_thread")]
async fn s026_stop_loading_leaves_the_dialog_open() {
    let stage = stage().await;
    let held = stage.ask(None, "confirm('still?')").await;
    stage.call("Page.stopLoading", json!({})).await.unwrap();
    assert_eq!(stage.eval(None, "1").await.unwrap_err().code, Code::BlockedByDialog);
    let answered = stage.answer(accept()).await;
    assert_eq!((answered.dialog.id, answered.dialog.closed_by), (held.dialog.id, Some(ClosedBy::Agent)));
    assert_eq!(stage.late(held.call).await, json!(true));
    stage.end().await;
}

/// A dialog that outlives its last client could never be answered again.
// Fault D18
#[tokio::test(flavor = "multi_thread")]
async fn stop_answers_first_so_that_the_page_goes_on() {
    let stage = stage().await;
    let target = stage.page().target_id;
    stage.value(None, "setTimeout(() => { window.answer = confirm('stop?') })").await;
    let dialog = stage.dialog().await;
    assert!(stage.supervisor.stop("test").await);
    let snapshot = stage.task.snapshot();
    let [ended] = snapshot.recent_dialogs.as_slice() else { panic!("{:?}", snapshot.recent_dialogs) };
    assert_eq!((ended.id, ended.closed_by), (dialog.id, Some(ClosedBy::AutoPolicy)));
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = other.attach(target.as_str()).await;
    let reply = other.send("Runtime.evaluate", json!({ "expression": "answer" }), Some(&session)).await;
    assert_eq!(reply["result"]["result"]["value"], json!(false), "{reply}");
    other.close().await;
    stage.end().await;
}

/// An id of an earlier binding never means a later dialog.
// Fault D17
#[tokio::test(flavor = "multi_thread")]
async fn ids_go_on_counting_when_the_task_is_started_again() {
    let mut stage = stage().await;
    let first = stage.ask(None, "alert('one')").await.dialog;
    stage.answer(accept()).await;
    assert!(stage.supervisor.stop("test").await);
    let again = stage.supervisor.get_or_start("test", stage.browser.ws_url(), Options::default()).await;
    stage.task = again.unwrap();
    stage.until(|snapshot| snapshot.frame_tree.top.is_some()).await;
    let second = stage.ask(None, "confirm('two')").await;
    assert!(second.dialog.id > first.id, "{:?} after {:?}", second.dialog.id, first.id);
    let old = stage.answer_to(first.id, accept()).await.unwrap_err();
    assert_eq!(old.code, Code::UnknownDialog);
    stage.answer_to(second.dialog.id, dismiss()).await.unwrap();
    assert_eq!(stage.late(second.call).await, json!(false));
    stage.end().await;
}
