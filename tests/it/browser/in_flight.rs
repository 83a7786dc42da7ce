//! Calls that are in flight when their document goes: they end on the browser's word, not at their deadline.

use std::time::Duration;

use integration_tests::{RawClient, Renderers, Stage, patience, without_spare_renderers};
use page_server::Site;
use serde_json::json;
use supervisor::{CallResult, Code, Failure, FrameId, Options, Place};

/// The deadline of every call here. No test lives to see it.
const HOURS: Duration = Duration::from_secs(10 * 3600);

/// Says that it runs, and never ends.
const NEVER: &str = "(window.runs = true, new Promise(() => {}))";

fn site() -> Site {
    Site::new()
        .page("/empty", "<title>empty</title>")
        .page("/leaf", "<title>leaf</title>")
        .page("/next", "<title>next</title>")
        .page("/near", "<iframe name=frame src=/leaf></iframe>")
        .page("/far", "<iframe name=frame src=http://b.test:{PORT}/leaf></iframe>")
        .page("/deep", "<iframe name=outer src=http://b.test:{PORT}/middle></iframe>")
        .page("/middle", "<iframe name=frame src=http://c.test:{PORT}/leaf></iframe>")
}

async fn stage(path: &str) -> (Stage, FrameId) {
    let stage = Stage::launched(without_spare_renderers(), site(), Options::default()).await;
    stage.open("a.test", path).await;
    let frame = stage.frame_named("frame").await.frame_id;
    (stage, frame)
}

/// How an expression that never ends does end when this happens to its frame.
async fn eval_ends(stage: &Stage, frame: &FrameId, happens: impl Future<Output = ()>) -> Failure {
    let call = stage.eval_within(Some(frame), NEVER, HOURS);
    let both = async {
        tokio::join!(call, async {
            stage.comes_true(Some(frame), "window.runs").await;
            happens.await
        })
    };
    let (ended, ()) = tokio::time::timeout(patience(), both).await.expect("the browser's word");
    let failure = ended.unwrap_err();
    assert_eq!(failure.detail.frame_id.as_ref(), Some(frame));
    failure
}

/// The same for a raw call, which is bound to a session and not to a document.
async fn call_ends(
    stage: &Stage,
    frame: &FrameId,
    happens: impl Future<Output = ()>,
) -> Result<CallResult, Failure> {
    let params = json!({ "expression": NEVER, "awaitPromise": true }).to_string();
    let call = stage.task.call(Place::Frame(frame.clone()), "Runtime.evaluate", params, Some(HOURS));
    let both = async {
        tokio::join!(call, async {
            stage.comes_true(Some(frame), "window.runs").await;
            happens.await
        })
    };
    tokio::time::timeout(patience(), both).await.expect("the browser's word").0
}

async fn remove(stage: &Stage) {
    stage.value(None, "document.querySelector('iframe').remove()").await;
}

async fn send_to(stage: &Stage, host: &str, path: &str) {
    let url = stage.pages.url(host, path);
    stage.value(None, &format!("void (document.querySelector('iframe').src = '{url}')")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s075_a_frame_that_is_removed_ends_its_calls() {
    for path in ["/near", "/far", "/deep"] {
        let (stage, frame) = stage(path).await;
        let failure = eval_ends(&stage, &frame, remove(&stage)).await;
        assert_eq!(failure.code, Code::FrameGone, "{path}");
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn s075_a_removed_oopif_ends_its_raw_calls() {
    for path in ["/far", "/deep"] {
        let (stage, frame) = stage(path).await;
        let failure = call_ends(&stage, &frame, remove(&stage)).await.unwrap_err();
        assert_eq!(failure.code, Code::FrameGone, "{path}");
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_that_is_navigated_ends_its_calls_wherever_it_goes() {
    for path in ["/near", "/far"] {
        for host in ["a.test", "b.test", "c.test"] {
            let (stage, frame) = stage(path).await;
            let failure = eval_ends(&stage, &frame, send_to(&stage, host, "/next")).await;
            assert_eq!(failure.code, Code::Navigated, "{path} to {host}");
            stage.comes_true(Some(&frame), "document.title === 'next'").await;
            stage.end().await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_navigated_oopif_ends_its_raw_calls() {
    for host in ["a.test", "b.test", "c.test"] {
        let (stage, frame) = stage("/far").await;
        let failure = call_ends(&stage, &frame, send_to(&stage, host, "/next")).await.unwrap_err();
        assert_eq!(failure.code, Code::Navigated, "to {host}");
        stage.end().await;
    }
}

/// Within a site the old document may be kept, and the browser then answers such a call never.
#[tokio::test(flavor = "multi_thread")]
async fn s083_a_page_that_is_navigated_ends_its_raw_calls_that_wait_for_a_promise() {
    for host in ["a.test", "b.test"] {
        let (stage, _) = stage("/near").await;
        let page = stage.top().frame_id;
        let failure = call_ends(&stage, &page, stage.open(host, "/next")).await.unwrap_err();
        assert_eq!(failure.code, Code::Navigated, "to {host}");
        assert_eq!(stage.value(None, "document.title").await, json!("next"));
        stage.end().await;
    }
}

/// The same below another process, and by a script of the page instead of a command.
#[tokio::test(flavor = "multi_thread")]
async fn s083_a_page_that_leaves_by_itself_ends_raw_calls_that_wait_for_a_promise() {
    for path in ["/far", "/deep"] {
        let (stage, frame) = stage(path).await;
        let leave = async { stage.value(None, "void setTimeout(() => { location = '/next' })").await };
        let failure = call_ends(&stage, &frame, async { drop(leave.await) }).await.unwrap_err();
        assert!(matches!(failure.code, Code::FrameGone | Code::Navigated), "{path}: {failure:?}");
        stage.comes_true(None, "document.title === 'next'").await;
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_navigated_ends_the_calls_of_its_frames() {
    for path in ["/near", "/far", "/deep"] {
        let (stage, frame) = stage(path).await;
        let failure = eval_ends(&stage, &frame, stage.open("d.test", "/empty")).await;
        // In the page's own process the document is reported gone before its frame is.
        let is_right =
            failure.code == Code::FrameGone || (path == "/near" && failure.code == Code::Navigated);
        assert!(is_right, "{path}: {failure:?}");
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_closed_ends_the_calls_of_its_frames() {
    for path in ["/near", "/far", "/deep"] {
        let (stage, frame) = stage(path).await;
        let close = async { drop(stage.call("Page.close", json!({})).await) };
        let failure = eval_ends(&stage, &frame, close).await;
        // Whether the frame goes first or the page with all its frames, is the browser's choice.
        assert!(matches!(failure.code, Code::FrameGone | Code::PageGone), "{path}: {failure:?}");
        stage.end().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crash_on_command_ends_the_oopifs_calls_and_itself() {
    let (stage, frame) = stage("/far").await;
    let crash = async {
        let crash = stage.task.call(Place::Frame(frame.clone()), "Page.crash", "{}", Some(HOURS)).await;
        assert_eq!(crash.unwrap_err().code, Code::TargetCrashed);
    };
    assert_eq!(eval_ends(&stage, &frame, crash).await.code, Code::TargetCrashed);
    is_crashed_and_comes_back(&stage, &frame).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_renderer_ends_the_oopifs_calls() {
    let stage = Stage::launched(without_spare_renderers(), site(), Options::default()).await;
    stage.open("a.test", "/near").await;
    let frame = stage.frame_named("frame").await.frame_id;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    let before = Renderers::of(&client).await;
    send_to(&stage, "b.test", "/leaf").await;
    stage
        .until(|snapshot| {
            snapshot.frame_tree.children.iter().any(|it| it.is_oopif && it.url.contains("b.test"))
        })
        .await;
    let renderer = Renderers::since(&client, &before).await;
    let failure = eval_ends(&stage, &frame, async { renderer.kill() }).await;
    assert_eq!(failure.code, Code::TargetCrashed);
    is_crashed_and_comes_back(&stage, &frame).await;
    stage.end().await;
}

/// The rest of the page lives on, the frame fails at once, and a new document mends it.
async fn is_crashed_and_comes_back(stage: &Stage, frame: &FrameId) {
    let shown = stage.frame_where(|it| it.frame_id == *frame && it.crashed).await;
    assert!(shown.is_oopif);
    let again = stage.eval_within(Some(frame), "1", HOURS).await.unwrap_err();
    assert_eq!(again.code, Code::TargetCrashed);
    assert_eq!(stage.value(None, "1 + 1").await, json!(2));
    assert!(!stage.page().crashed);
    send_to(stage, "b.test", "/next").await;
    stage.frame_where(|it| it.frame_id == *frame && !it.crashed && it.url.contains("/next")).await;
    assert_eq!(stage.value(Some(frame), "document.title").await, json!("next"));
}
