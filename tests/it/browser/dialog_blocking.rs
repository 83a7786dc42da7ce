//! No call hangs: what an open dialog blocks is refused at once, what it does not block works, and an answer waits for nobody.

use std::time::{Duration, Instant};

use integration_tests::{Held, Stage, accept, accept_with, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::{Code, DialogView, Failure};
use tokio::time::timeout;

const PARENT: &str = r#"<p>parent<iframe src="http://b.test:{PORT}/inner"></iframe>
<iframe src="http://c.test:{PORT}/inner"></iframe>"#;
const BUTTON: &str = r#"<button style="position:fixed;left:0;top:0;width:200px;height:200px"
onclick="window.clicked = confirm('clicked')">button</button>"#;

async fn stage() -> Stage {
    let site = Site::new().page("/parent", PARENT).page("/inner", "<p>inner").page("/button", BUTTON);
    let site = site.page("/loading", "<script>alert('while loading')</script><p>loaded");
    let site = site.page("/popup", "<script>window.typed = prompt('popup')</script>");
    Stage::new(site).await
}

fn assert_blocked(failure: Failure, by: &DialogView) {
    let blocker = failure.detail.dialog.as_ref().map(|dialog| dialog.id);
    assert_eq!((failure.code, blocker), (Code::BlockedByDialog, Some(by.id)), "{failure:?}");
}

/// Row 15.
#[tokio::test(flavor = "multi_thread")]
async fn s015_a_click_that_opens_a_dialog_returns_with_it() {
    let stage = stage().await;
    stage.open("a.test", "/button").await;
    let held = Held::from_failure(&stage.click(50, 50).await.unwrap_err());
    assert_eq!(held.dialog.message, "clicked");
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!({}));
    assert_eq!(stage.value(None, "clicked").await, json!(true));
    stage.end().await;
}

/// Rows 16, 32 and 33: what would hang, and what would be acknowledged and do nothing.
// Fault D1 D2
#[tokio::test(flavor = "multi_thread")]
async fn s016_s032_s033_what_the_dialog_blocks_is_refused_at_once_and_the_snapshot_is_served() {
    let stage = stage().await;
    stage.open("a.test", "/button").await;
    let held = stage.ask(None, "confirm('open')").await;
    let began = Instant::now();
    assert_blocked(stage.eval(None, "1").await.unwrap_err(), &held.dialog);
    let click = json!({ "type": "mousePressed", "x": 50, "y": 50, "button": "left", "clickCount": 1 });
    let calls = [
        ("Page.captureScreenshot", json!({})),
        ("Page.getFrameTree", json!({})),
        ("DOM.getDocument", json!({})),
        ("Accessibility.getFullAXTree", json!({})),
        ("Network.enable", json!({})),
        ("Runtime.evaluate", json!({ "expression": "1" })),
        ("Input.dispatchMouseEvent", click),
        ("Input.insertText", json!({ "text": "a" })),
    ];
    for (method, params) in calls {
        assert_blocked(stage.call(method, params).await.unwrap_err(), &held.dialog);
    }
    let attach = json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true });
    assert_eq!(stage.call("Target.setAutoAttach", attach).await.unwrap_err().code, Code::Refused);
    let snapshot = stage.task.snapshot();
    assert_eq!(snapshot.pending_dialogs.as_slice(), [held.dialog]);
    assert!(snapshot.frame_tree.top.as_ref().unwrap().url.ends_with("/button"));
    assert!(began.elapsed() < Duration::from_secs(15), "one of them waited for its deadline of 30 s");
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!(true));
    assert_eq!(stage.value(None, "window.clicked === undefined").await, json!(true));
    stage.end().await;
}

/// Row 34.
#[tokio::test(flavor = "multi_thread")]
async fn s034_what_the_browser_itself_answers_works_beside_a_dialog() {
    let stage = stage().await;
    stage.open("a.test", "/button").await;
    let held = stage.ask(None, "confirm('open')").await;
    for method in ["Target.getTargets", "Browser.getVersion", "Page.getNavigationHistory"] {
        let result: Value = stage.call(method, json!({})).await.unwrap().result.parse().unwrap();
        assert!(result.as_object().is_some_and(|it| !it.is_empty()), "{method}: {result}");
    }
    stage.call("Target.createTarget", json!({ "url": "about:blank" })).await.unwrap();
    stage.until(|snapshot| snapshot.pages.len() == 2).await;
    assert_eq!(stage.task.snapshot().pending_dialogs.as_slice(), [held.dialog]);
    stage.answer(accept()).await;
    stage.end().await;
}

/// Row 30.
#[tokio::test(flavor = "multi_thread")]
async fn s030_an_oopifs_dialog_blocks_its_own_process_only() {
    let stage = stage().await;
    stage.open("a.test", "/parent").await;
    let (b, c) = (stage.frame("b.test").await.frame_id, stage.frame("c.test").await.frame_id);
    let held = stage.ask(Some(&b), "confirm('in b')").await;
    assert_eq!(stage.value(None, "1 + 1").await, json!(2));
    assert_eq!(stage.value(Some(&c), "location.hostname").await, json!("c.test"));
    assert_blocked(stage.eval(Some(&b), "1").await.unwrap_err(), &held.dialog);
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!(true));
    assert_eq!(stage.value(Some(&b), "location.hostname").await, json!("b.test"));
    stage.end().await;
}

/// Two iframes on two hosts of one site share a process, which nobody tells: the silence of that process does.
#[tokio::test(flavor = "multi_thread")]
async fn an_oopif_on_another_host_of_the_dialogs_site_is_told_that_it_is_held() {
    let siblings = r#"<iframe src="http://b.test:{PORT}/inner"></iframe><iframe src="http://www.b.test:{PORT}/inner"></iframe>"#;
    let stage = Stage::new(Site::new().page("/parent", siblings).page("/inner", "<p>inner")).await;
    stage.open("a.test", "/parent").await;
    let one = stage.frame("//b.test").await.frame_id;
    let other = stage.frame("//www.b.test").await.frame_id;
    let asking = stage.ask(Some(&one), "confirm('in b')").await;
    let call = stage.eval_within(Some(&other), "location.hostname", Duration::from_secs(10 * 3600));
    let held = timeout(patience(), call).await.expect("why there is no value").unwrap_err();
    let held = Held::from_failure(&held);
    assert_eq!(held.dialog.id, asking.dialog.id);
    assert_blocked(stage.eval(Some(&other), "1").await.unwrap_err(), &asking.dialog);
    assert_eq!(
        stage.value(None, "location.hostname").await,
        json!("a.test"),
        "the page has a process of its own"
    );
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!("www.b.test"));
    assert_eq!(stage.late(asking.call).await, json!(true));
    stage.end().await;
}

/// Row 31.
#[tokio::test(flavor = "multi_thread")]
async fn s031_the_main_frames_dialog_does_not_block_an_oopif() {
    let stage = stage().await;
    stage.open("a.test", "/parent").await;
    let b = stage.frame("b.test").await.frame_id;
    let held = stage.ask(None, "confirm('in the page')").await;
    assert_eq!(stage.value(Some(&b), "location.hostname").await, json!("b.test"));
    assert_blocked(stage.eval(None, "1").await.unwrap_err(), &held.dialog);
    stage.answer(accept()).await;
    stage.end().await;
}

/// A dialog stops its whole process: a popup's stops the page that opened it.
// Fault D12
#[tokio::test(flavor = "multi_thread")]
async fn an_opener_that_its_popups_dialog_blocks_is_told_which_one() {
    let stage = stage().await;
    stage.open("a.test", "/button").await;
    stage.value(None, "setTimeout(() => { window.popup = open('/popup') })").await;
    let dialog = stage.dialog().await;
    assert_ne!(dialog.target_id, stage.page().target_id);
    assert_blocked(stage.eval(None, "1").await.unwrap_err(), &dialog);
    stage.answer(accept_with("free")).await;
    let typed = "new Promise(r => { const t = setInterval(() => popup.typed && r(popup.typed, clearInterval(t)), 5) })";
    assert_eq!(stage.value(None, typed).await, json!("free"));
    stage.end().await;
}

/// Row 39.
// Fault D3
#[tokio::test(flavor = "multi_thread")]
async fn s039_an_answer_queues_behind_no_call() {
    let stage = stage().await;
    stage.open("a.test", "/button").await;
    let waiting: Vec<_> = (0..50)
        .map(|_| {
            let task = stage.task.clone();
            let options = supervisor::EvalOptions { await_promise: true, timeout: None };
            tokio::spawn(async move { task.eval(None, "new Promise(() => {})", options).await })
        })
        .collect();
    let held = stage.ask(None, "confirm('who waits?')").await;
    let task = stage.task.clone();
    let answer = tokio::spawn(async move { task.respond(Default::default(), accept()).await });
    let answered = tokio::time::timeout(patience(), answer).await.unwrap().unwrap().unwrap();
    assert_eq!(answered.dialog.id, held.dialog.id);
    assert_eq!(stage.late(held.call).await, json!(true));
    for call in waiting {
        call.abort();
    }
    stage.end().await;
}

/// Row 43.
// Fault D4
#[tokio::test(flavor = "multi_thread")]
async fn s043_a_navigation_to_a_page_that_alerts_at_once_does_not_wait_for_it_to_load() {
    let stage = stage().await;
    stage.open("a.test", "/button").await;
    let url = stage.pages.url("b.test", "/loading");
    let navigated = stage.call("Page.navigate", json!({ "url": url })).await;
    let dialog = stage.dialog().await;
    assert_eq!(dialog.message, "while loading");
    // The browser answers when the document is committed, which may be before its first script runs.
    if let Err(failure) = &navigated {
        assert_eq!(Held::from_failure(failure).dialog.id, dialog.id);
    }
    assert_blocked(stage.eval(None, "1").await.unwrap_err(), &dialog);
    stage.answer(accept()).await;
    if let Err(failure) = navigated {
        let late = stage.late(Held::from_failure(&failure).call).await;
        assert!(late["frameId"].is_string(), "{late}");
    }
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("loaded"));
    stage.end().await;
}
