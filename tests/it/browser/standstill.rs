//! Nothing happens for a while: the browser stands still, or nobody says anything, while a dialog is open.

use std::time::Duration;

use integration_tests::{IdleProxy, RawClient, Renderers, Stage, accept, patience};
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, Options, Status};

use super::reconnect::{port_of, site, stage_on_a_wire, usable_again};

/// Longer than half a minute of silence, on a machine that does other things, too.
const LONG: Duration = Duration::from_secs(120);

/// As long as proxies that close idle sockets wait: 15 to 25 s.
const IDLE: Duration = Duration::from_secs(20);

/// For a while only: the answer that was given meanwhile arrives, and the task has not lost anything.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_stands_still_for_a_moment_takes_the_answer_afterwards() {
    let mut options = Options::default();
    options.call_timeout = Duration::from_secs(2);
    let (stage, _proxy) = stage_on_a_wire(options).await;
    let browser = Renderers::browser(&RawClient::connect(stage.browser.ws_url()).await).await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    let frozen = browser.freeze();
    let unsure = stage.answer_to(dialog.id, accept()).await.unwrap_err();
    assert_eq!(unsure.code, Code::Timeout, "{unsure}");
    assert_eq!(stage.task.snapshot().pending_dialogs[0].id, dialog.id);
    drop(frozen);
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Agent), Some(true)));
    stage.task.configure(Options::default()).await.unwrap();
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// For so long that it is given up: the dialog ends as disconnected. When the browser goes on, it is found again, and the
/// page is shown with what frees it.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_stands_still_for_half_a_minute_is_lost_and_found_again() {
    let (stage, proxy) = stage_on_a_wire(Options::default()).await;
    let browser = Renderers::browser(&RawClient::connect(stage.browser.ws_url()).await).await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    let connections = proxy.connections();
    let frozen = browser.freeze();
    let task = &stage.task;
    let lost = task.wait_for(|it| it.status.status == Status::Reconnecting, LONG).await.unwrap();
    assert!(lost.status.stale && lost.status.last_error.is_some(), "{:?}", lost.status);
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    drop(frozen);
    task.wait_for(|it| it.status.status == Status::Connected && it.pages.len() == 1, LONG).await.unwrap();
    assert!(proxy.connections() > connections);
    usable_again(&stage).await;
    stage.value(None, "raise()").await;
    assert!(stage.dialog().await.id > dialog.id);
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// Fault C11: the dialog is open for longer than a silent socket lives, and nobody says anything but our own pings.
#[tokio::test(flavor = "multi_thread")]
async fn c11_a_backend_that_closes_idle_sockets_closes_none_of_ours() {
    let mut stage = Stage::new(site()).await;
    let proxy = IdleProxy::to(port_of(stage.browser.ws_url()), IDLE).await;
    let url = proxy.through(stage.browser.ws_url());
    stage.rejoin(&url, Options::default()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    stage.open("a.test", "/").await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    proxy.hears(4, LONG).await;
    let snapshot = stage.task.snapshot();
    assert_eq!((proxy.connections(), snapshot.status.status), (1, Status::Connected));
    assert_eq!(snapshot.pending_dialogs[0].id, dialog.id);
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// Fault C14: the new time counts for the dialog that is open.
#[tokio::test(flavor = "multi_thread")]
async fn c14_a_changed_timeout_counts_for_the_dialog_that_is_open() {
    let (stage, _proxy) = stage_on_a_wire(Options::default()).await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    let mut options = Options::default();
    options.dialog_timeout = Duration::from_millis(500);
    stage.task.configure(options).await.unwrap();
    stage.task.wait_for(|it| it.pending_dialogs.is_empty(), patience()).await.unwrap();
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Watchdog), Some(false)));
    assert_eq!(stage.value(None, "answer").await, json!(false));
    stage.end().await;
}
