//! Dialogs that nobody can answer: they are shown as such, with what does help.

use std::time::Duration;

use integration_tests::{Held, RawClient, Stage, accept, is_headless_shell};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor::supervisor_core::snapshot::{BlockedView, RemedyName};
use supervisor::{Code, FrameId, Options, PageView, Remedy, TargetId};
use tokio::time::timeout;

const PARENT: &str = r#"<p>parent<iframe src="http://b.test:{PORT}/inner"></iframe>
<iframe src="http://c.test:{PORT}/inner"></iframe>"#;

async fn stage(path: &str) -> Stage {
    let site = Site::new().page("/", "<p>page").page("/parent", PARENT).page("/inner", "<p>inner");
    let stage = Stage::new(site).await;
    stage.open("a.test", path).await;
    stage
}

/// A task of the same name, after the one that was stopped.
async fn start_again(stage: &mut Stage) {
    let again = stage.supervisor.get_or_start("test", stage.browser.ws_url(), Options::default()).await;
    stage.task = again.unwrap_or_else(|failure| panic!("{failure:?}"));
}

fn page_of(stage: &Stage, target: &TargetId) -> PageView {
    stage.page_of(target).unwrap_or_else(|| panic!("no page {target}"))
}

/// Waits until the supervisor shows the page as blocked.
async fn blocked(stage: &Stage, target: &TargetId) -> BlockedView {
    let is_blocked = |page: &PageView| page.target_id == *target && page.blocked.is_some();
    stage.until(|snapshot| snapshot.pages.iter().any(is_blocked)).await;
    page_of(stage, target).blocked.unwrap()
}

/// Opens a confirm while nobody listens for dialogs: the other client attaches, and enables nothing of `Page`.
async fn confirm_before_anybody_listens(other: &RawClient, target: &TargetId) -> String {
    let session = other.attach(target.as_str()).await;
    other.send("Runtime.enable", json!({}), Some(&session)).await;
    let script = "setTimeout(() => { console.log('now'); window.answer = confirm('early') })";
    other.send("Runtime.evaluate", json!({ "expression": script }), Some(&session)).await;
    other.event("Runtime.consoleAPICalled").await;
    session
}

/// Whether the page answers nothing. Silence cannot be waited for, so this is the one look at a clock.
async fn is_stuck(other: &RawClient, session: &str) -> bool {
    let answer = other.send("Runtime.evaluate", json!({ "expression": "1" }), Some(session));
    timeout(Duration::from_secs(1), answer).await.is_err()
}

/// Rows 22 to 24. Where the browser has nobody to show a dialog to, it dismisses it, and nothing is blocked.
// Fault D5
#[tokio::test(flavor = "multi_thread")]
async fn s022_to_s024_a_dialog_from_before_we_came_is_shown_with_what_helps() {
    let mut stage = stage("/").await;
    let target = stage.page().target_id;
    stage.supervisor.stop("test").await;
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = confirm_before_anybody_listens(&other, &target).await;
    assert_eq!(is_stuck(&other, &session).await, !is_headless_shell());
    start_again(&mut stage).await;
    if is_headless_shell() {
        stage.until(|snapshot| snapshot.frame_tree.top.is_some()).await;
        assert_eq!(stage.value(None, "answer").await, json!(false));
        assert_eq!(page_of(&stage, &target).blocked, None);
    } else {
        an_early_dialog_is_told_and_reload_helps(&stage, &target).await;
    }
    other.close().await;
    stage.end().await;
}

async fn an_early_dialog_is_told_and_reload_helps(stage: &Stage, target: &TargetId) {
    let blocked = blocked(stage, target).await;
    assert_eq!((blocked.reason, blocked.dialog_id), (Unanswerable::Unresponsive, None));
    assert_may_help(&blocked, RemedyName::Reload);
    assert!(stage.task.snapshot().pending_dialogs.is_empty());
    assert!(page_of(stage, target).unresponsive);
    for answered in
        [stage.task.respond(Default::default(), accept()).await, stage.answer_on(target, accept()).await]
    {
        assert_eq!(answered.unwrap_err().code, Code::Unanswerable);
    }
    assert_eq!(stage.eval(None, "1").await.unwrap_err().code, Code::TargetUnresponsive);

    stage.task.recover(target.clone(), Remedy::Reload).await.unwrap();
    free_again(stage, target).await;
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("page"));
    assert!(stage.task.snapshot().recent_dialogs.is_empty());
}

/// What nobody saw can only be guessed: had an iframe been removed with its dialog open, the same remedy would end the browser.
fn assert_may_help(blocked: &BlockedView, remedy: RemedyName) {
    assert!(blocked.suspected, "{blocked:?}");
    assert!(blocked.remedies.is_empty() && blocked.risky_remedies.contains(&remedy), "{blocked:?}");
}

async fn free_again(stage: &Stage, target: &TargetId) {
    let is_free = |page: &PageView| page.target_id == *target && page.blocked.is_none() && !page.unresponsive;
    stage.until(|snapshot| snapshot.pages.iter().any(is_free)).await;
}

/// The same after the last client that could have answered has left without doing so.
// Fault D5
#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_that_its_last_client_left_behind_is_shown_with_what_helps() {
    let mut stage = stage("/").await;
    let target = stage.page().target_id;
    stage.supervisor.stop("test").await;
    let left = RawClient::connect(stage.browser.ws_url()).await;
    let session = left.attach(target.as_str()).await;
    left.send("Page.enable", json!({}), Some(&session)).await;
    left.post("Runtime.evaluate", json!({ "expression": "answer = confirm('left')" }), Some(&session));
    left.event("Page.javascriptDialogOpening").await;
    left.close().await;
    start_again(&mut stage).await;
    if is_headless_shell() {
        stage.until(|snapshot| snapshot.frame_tree.top.is_some()).await;
        assert_eq!(stage.value(None, "answer").await, json!(false));
    } else {
        let blocked = blocked(&stage, &target).await;
        assert_may_help(&blocked, RemedyName::Navigate);
        let url = stage.pages.url("a.test", "/inner");
        stage.task.recover(target.clone(), Remedy::Navigate { url }).await.unwrap();
        free_again(&stage, &target).await;
        assert_eq!(stage.value(None, "document.body.innerText").await, json!("inner"));
    }
    stage.end().await;
}

/// Row 27. Browsers that keep dialogs open lose track of both; the headless shell forgets the first.
#[tokio::test(flavor = "multi_thread")]
async fn s027_of_two_dialogs_in_two_processes_the_first_is_gone_and_the_page_can_be_freed() {
    let stage = stage("/parent").await;
    let (b, c) = (stage.frame("b.test").await.frame_id, stage.frame("c.test").await.frame_id);
    let first = stage.ask(Some(&b), "confirm('in b')").await;
    let second = stage.ask(Some(&c), "confirm('in c')").await;
    let ended = stage.ended(first.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Overlap)));
    let snapshot = stage.task.snapshot();
    let [pending] = snapshot.pending_dialogs.as_slice() else { panic!("{:?}", snapshot.pending_dialogs) };
    assert_eq!(pending.id, second.dialog.id);
    if is_headless_shell() {
        stage.answer(accept()).await;
        assert_eq!(stage.late(second.call).await, json!(true));
    } else {
        assert_eq!(stage.late(first.call).await, json!(false));
        an_overlapped_dialog_is_told_and_reload_helps(&stage, &c, &second).await;
    }
    stage.end().await;
}

async fn an_overlapped_dialog_is_told_and_reload_helps(stage: &Stage, frame: &FrameId, second: &Held) {
    let target = stage.page().target_id;
    let blocked = blocked(stage, &target).await;
    assert_eq!((blocked.reason, blocked.dialog_id), (Unanswerable::Overlap, Some(second.dialog.id)));
    assert!(blocked.remedies.contains(&RemedyName::Reload), "{blocked:?}");
    assert!(!blocked.remedies.contains(&RemedyName::Close), "it would end the browser: {blocked:?}");
    assert!(!stage.task.snapshot().pending_dialogs[0].answerable);
    let answered = stage.answer_to(second.dialog.id, accept()).await.unwrap_err();
    assert_eq!(answered.code, Code::Unanswerable);
    assert_eq!(stage.eval(Some(frame), "1").await.unwrap_err().code, Code::BlockedByDialog);

    let close = stage.task.recover(target.clone(), Remedy::Close).await.unwrap_err();
    assert_eq!(close.code, Code::Refused);
    for (method, params) in [("Page.close", json!({})), ("Target.closeTarget", json!({ "targetId": target }))]
    {
        assert_eq!(stage.call(method, params).await.unwrap_err().code, Code::Refused, "{method}");
    }
    stage.task.recover(target.clone(), Remedy::Reload).await.unwrap();
    free_again(stage, &target).await;
    stage.ended(second.dialog.id).await;
    assert_eq!(stage.value(None, "document.readyState.length > 0").await, json!(true));
    let c = stage.frame("c.test").await.frame_id;
    assert_eq!(stage.value(Some(&c), "location.hostname").await, json!("c.test"));
}

/// Somebody else navigates within the site. The headless shell then takes no answer any more, and the new document waits for
/// the old one's script: only closing helps. Other browsers close the dialog.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_was_left_under_its_dialog_can_be_closed() {
    let stage = stage("/").await;
    stage.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    stage.until(|snapshot| snapshot.pages.len() == 2).await;
    let held = stage.ask(None, "confirm('left')").await;
    let target = held.dialog.target_id.clone();
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = other.attach(target.as_str()).await;
    let url = stage.pages.url("a.test", "/inner");
    other.send("Page.navigate", json!({ "url": &url }), Some(&session)).await;
    if is_headless_shell() && stage.major_version() <= 138 {
        // Older ones still take the answer, and then show the new document.
        stage.answer_to(held.dialog.id, accept()).await.unwrap();
        assert_eq!(stage.ended(held.dialog.id).await.accepted, Some(true));
        stage.until(|it| it.pages.iter().any(|page| page.url == url)).await;
    } else if is_headless_shell() {
        let answered = stage.answer_to(held.dialog.id, accept()).await.unwrap_err();
        assert_eq!(answered.code, Code::Unanswerable);
        assert_eq!(blocked(&stage, &target).await.remedies, [RemedyName::Close]);
        stage.task.recover(target.clone(), Remedy::Close).await.unwrap();
        stage.until(|snapshot| snapshot.pages.iter().all(|page| page.target_id != target)).await;
        assert_eq!(stage.ended(held.dialog.id).await.reason, Some(Reason::TargetGone));
    } else {
        assert_eq!(stage.ended(held.dialog.id).await.reason, Some(Reason::Navigation));
    }
    other.close().await;
    stage.end().await;
}

/// Measured on Chromium 156: closing a page crashes it while the dialog of a frame in another process is open there. A headless
/// shell closes both.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_not_closed_under_the_dialog_of_another_process() {
    let stage = stage("/parent").await;
    stage.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    stage.until(|snapshot| snapshot.pages.len() == 2).await;
    let frame = stage.frame("b.test").await.frame_id;
    let held = stage.ask(Some(&frame), "confirm('in b')").await;
    let target = held.dialog.target_id.clone();
    let close = ("Target.closeTarget", json!({ "targetId": target }));
    if !is_headless_shell() {
        for (method, params) in [("Page.close", json!({})), close.clone()] {
            assert_eq!(stage.call(method, params).await.unwrap_err().code, Code::Refused, "{method}");
        }
        stage.answer_to(held.dialog.id, accept()).await.unwrap();
        assert_eq!(stage.late(held.call).await, json!(true));
    }
    stage.call(close.0, close.1).await.unwrap();
    stage.until(|snapshot| snapshot.pages.iter().all(|page| page.target_id != target)).await;
    stage.ended(held.dialog.id).await;
    assert_eq!(stage.value(None, "1").await, json!(1), "the browser lives");
    stage.end().await;
}
