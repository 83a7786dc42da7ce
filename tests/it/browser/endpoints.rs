//! Every form of an endpoint leads to the browser, and each way to fail says where.

use std::time::Duration;

use integration_tests::{RawClient, Stage, accept, is_headless_shell, patience};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::ClosedBy;
use supervisor::{Code, Failure, Options, Remedy, Snapshot, Status, TargetId};

fn site() -> Site {
    let frames = "<h1>here</h1><iframe src='http://b.test:{PORT}/child'></iframe>";
    Site::new().page("/", frames).page("/child", "").page("/popup", "<script>alert('popup')</script>")
}

/// What must work whatever the endpoint was: a frame of another site, and a dialog.
async fn the_main_job(stage: &Stage) {
    stage.open("a.test", "/").await;
    let child = stage.frame("/child").await;
    assert!(child.is_oopif);
    assert_eq!(stage.value(Some(&child.frame_id), "location.hostname").await, json!("b.test"));
    stage.value(Some(&child.frame_id), "setTimeout(() => { window.answer = confirm('Sure?') })").await;
    let dialog = stage.dialog().await;
    assert!(stage.is_of_frame(&dialog, &child.frame_id));
    stage.answer(accept()).await;
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    assert_eq!(stage.value(Some(&child.frame_id), "answer").await, json!(true));
}

async fn works_at(endpoint: impl FnOnce(&Stage) -> String) {
    let mut stage = Stage::new(site()).await;
    let endpoint = endpoint(&stage);
    stage.rejoin(&endpoint, Options::default()).await;
    the_main_job(&stage).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browsers_socket_is_an_endpoint() {
    works_at(|stage| stage.browser.ws_url().to_owned()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browsers_http_server_is_an_endpoint() {
    works_at(|stage| stage.browser.http_url().to_owned()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_data_dir_is_an_endpoint() {
    works_at(|stage| stage.browser.profile().to_str().unwrap().to_owned()).await;
}

fn page_socket(stage: &Stage) -> String {
    let (server, _) = stage.browser.ws_url().split_once("/devtools/").unwrap();
    format!("{server}/devtools/page/{}", stage.page().target_id)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pages_socket_is_an_endpoint() {
    works_at(page_socket).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pages_socket_brings_its_popups_and_no_other_page() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    stage.add_page("b.test", "/child").await;
    let page = stage.page().target_id;
    let endpoint = page_socket(&stage);
    stage.rejoin(&endpoint, Options::default()).await;
    stage.frame("/child").await;
    let url = stage.pages.url("a.test", "/");
    stage.until(|it| it.pages.len() == 1 && it.pages[0].url == url && !it.pages[0].title.is_empty()).await;

    stage.value(None, "setTimeout(() => window.open('/popup'))").await;
    let snapshot = stage.until(|it| it.pages.len() == 2).await;
    let popup = snapshot.pages.iter().find(|it| it.target_id != page).unwrap();
    assert_eq!(popup.opener_target_id.as_ref(), Some(&page));
    asks_on_a_page_endpoint(&stage, &popup.target_id).await;
    stage.end().await;
}

/// A page endpoint cannot hold a popup back: it may have asked before anybody heard it. Then it is shown so, where the
/// browser keeps the dialog open.
async fn asks_on_a_page_endpoint(stage: &Stage, popup: &TargetId) {
    let is_told = |it: &Snapshot| {
        !it.pending_dialogs.is_empty()
            || it.pages.iter().any(|it| it.target_id == *popup && it.blocked.is_some())
    };
    if is_headless_shell() {
        return;
    }
    let snapshot = stage.until(is_told).await;
    if let Some(dialog) = snapshot.pending_dialogs.first() {
        assert_eq!((&dialog.target_id, &*dialog.message), (popup, "popup"));
        stage.answer(accept()).await;
    } else {
        stage.task.recover(popup.clone(), Remedy::Reload).await.unwrap();
        stage.answer_to(stage.dialog().await.id, accept()).await.unwrap();
    }
    stage.until(|it| !is_told(it)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_page_of_a_pages_socket_is_closed_and_the_task_is_over() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let endpoint = page_socket(&stage);
    let page = stage.page().target_id;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    client.send("Target.createTarget", json!({ "url": "about:blank" }), None).await;
    stage.rejoin(&endpoint, Options::default()).await;
    client.send("Target.closeTarget", json!({ "targetId": page }), None).await;
    let task = &stage.task;
    let over = task.wait_for(|it| it.status.status == Status::Failed, patience()).await.unwrap();
    assert!(over.status.reason.as_ref().is_some_and(|it| it.contains("page")), "{:?}", over.status.reason);
    assert_eq!(stage.eval(None, "1").await.unwrap_err().code, Code::NotConnected);
    stage.end().await;
}

async fn start_failure(stage: &Stage, endpoint: &str) -> Failure {
    let started = tokio::time::timeout(
        Duration::from_secs(30),
        stage.supervisor.get_or_start("other", endpoint, Options::default()),
    );
    let failure = started.await.expect("a start is bounded").unwrap_err();
    assert!(
        stage.supervisor.get("other").await.is_none_or(|it| it.snapshot().status.status == Status::Failed)
    );
    failure
}

#[tokio::test(flavor = "multi_thread")]
async fn each_way_to_fail_at_the_start_names_its_stage() {
    use supervisor::Stage::{Resolve, Tcp, Upgrade};
    let stage = Stage::new(site()).await;
    // A port that was free a moment ago is closed.
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (server, http) =
        (stage.browser.ws_url().split_once("/devtools/").unwrap().0, stage.browser.http_url());
    let no_profile = stage.browser.profile().join("no-such-profile");
    for (endpoint, at, status, says) in [
        (format!("ws://127.0.0.1:{closed}/devtools/browser/x"), Tcp, None, "--remote-debugging-port"),
        (format!("http://127.0.0.1:{closed}"), Tcp, None, "--remote-debugging-port"),
        (format!("{server}/devtools/browser/wrong"), Upgrade, Some(404), "no such browser"),
        (format!("{server}/devtools/page/wrong"), Upgrade, Some(500), "no such page"),
        (format!("{server}/no/such/path"), Upgrade, Some(404), "no such browser"),
        (no_profile.to_str().unwrap().to_owned(), Resolve, None, "DevToolsActivePort"),
        (format!("{http}/no/such/path"), Resolve, Some(404), "/json/version"),
        (stage.pages.url("127.0.0.1", ""), Resolve, Some(404), "/json/version"),
    ] {
        let failure = start_failure(&stage, &endpoint).await;
        let got = (failure.code, failure.detail.stage, failure.detail.http_status);
        assert_eq!(got, (Code::StartFailed, Some(at), status), "{endpoint}: {failure}");
        assert!(failure.message.contains(says), "{endpoint}: {failure}");
    }
    assert_eq!(stage.value(None, "1").await, json!(1), "the task that runs is untouched");
    stage.end().await;
}
