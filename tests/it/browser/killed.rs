//! The browser itself is killed, or stands still, while dialogs are open and calls in flight.

use std::time::Instant;

use integration_tests::{RawClient, Renderers, Stage};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, EvalOptions, Options, Place, Reconnect, Status, TargetId};

use crate::faults::stops::BOUND;

/// A page with an iframe in another process.
fn site() -> Site {
    Site::new()
        .page("/", "<h1>here</h1><iframe src='http://b.test:{PORT}/inner'></iframe>")
        .page("/inner", "inner")
}

async fn staged(options: Options) -> (Stage, RawClient) {
    let stage = Stage::with(site(), options).await;
    stage.open("a.test", "/").await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    (stage, client)
}

/// One dialog with a script that it holds, and on another page a script and a command that never end by themselves.
#[tokio::test(flavor = "multi_thread")]
async fn a_killed_browser_ends_every_call_and_every_dialog_and_the_task_once() {
    let mut options = Options::default();
    options.reconnect = Reconnect { tries: 2, ..Reconnect::default() };
    let (stage, client) = staged(options).await;
    let asking = stage.page().target_id;
    let other = stage.add_page("c.test", "/").await.target_id;
    let held = stage.task.eval(top(&stage, &asking), "confirm('Sure?')", EvalOptions::default()).await;
    let held = integration_tests::Held::from_failure(&held.unwrap_err());
    let forever = EvalOptions { await_promise: true, timeout: None };
    let script = stage.task.eval(top(&stage, &other), "new Promise(() => {})", forever);
    let waits = json!({ "expression": "new Promise(() => {})", "awaitPromise": true }).to_string();
    let command = stage.task.call(Place::Target(other.clone()), "Runtime.evaluate", waits, None);
    let kill = async {
        while stage.task.holdings().records.calls < 3 {
            tokio::task::yield_now().await;
        }
        Renderers::browser(&client).await.kill();
    };
    let (script, command, ()) = tokio::join!(script, command, kill);
    assert_eq!(script.unwrap_err().code, Code::Disconnected);
    assert_eq!(command.unwrap_err().code, Code::Disconnected);
    let late = stage.task.result(held.call, None).await.unwrap_err();
    assert_eq!(late.code, Code::Disconnected, "{late}");
    let ended = stage.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    let failed = stage.until(|it| it.status.status == Status::Failed).await;
    assert!(failed.pending_dialogs.is_empty() && failed.status.reason.is_some());
    assert_eq!(failed.recent_dialogs.len(), 1);
    // The browser has ended already.
    stage.supervisor.stop_all().await;
    let _ = stage.browser.stop().await;
}

fn top(stage: &Stage, page: &TargetId) -> Option<supervisor::FrameId> {
    stage.task.frame_tree(Some(page)).unwrap().top.map(|top| top.frame_id)
}

/// Its process is stopped, as by a debugger or a machine out of memory: the socket is open, and nobody reads it.
#[tokio::test(flavor = "multi_thread")]
async fn a_frozen_browser_with_a_dialog_open_is_left_within_a_second() {
    let (stage, client) = staged(Options::default()).await;
    stage.value(None, "void setTimeout(() => confirm('Sure?'))").await;
    let dialog = stage.dialog().await;
    let frozen = Renderers::browser(&client).await.freeze();
    let begun = Instant::now();
    assert!(stage.supervisor.stop("test").await);
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    let last = stage.task.snapshot();
    assert_eq!(last.status.status, Status::Stopped);
    assert_eq!(last.recent_dialogs.iter().map(|it| it.id).collect::<Vec<_>>(), [dialog.id]);
    assert!(last.pending_dialogs.is_empty());
    drop(frozen);
    drop(client);
    stage.end().await;
}

/// All renderers are stopped: the browser itself answers, and no page does.
#[tokio::test(flavor = "multi_thread")]
async fn frozen_pages_are_left_within_a_second() {
    let (stage, client) = staged(Options::default()).await;
    let frozen = Renderers::of(&client).await.freeze();
    let begun = Instant::now();
    assert!(stage.supervisor.stop("test").await);
    assert!(begun.elapsed() < BOUND, "{:?}", begun.elapsed());
    drop(frozen);
    drop(client);
    stage.end().await;
}
