//! Workers: let go, running, and no part of the frame tree.

use integration_tests::{RawClient, Stage};
use page_server::Site;
use serde_json::json;

/// A worker that starts another one, and a page that waits for word from both.
const NESTED: &str = "<script>
const url = script => URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
const inner = url(`postMessage('inner')`);
const outer = url(`const inner = new Worker('${inner}');
  inner.onmessage = event => postMessage(['outer', event.data]);`);
window.heard = new Promise(done => new Worker(outer).onmessage = event => done(event.data));
</script>";

const SHARED: &str = "<script>
window.worker = new SharedWorker('/shared.js');
window.heard = new Promise(done => worker.port.onmessage = event => done(event.data));
</script>";

const JAVASCRIPT: &str = "text/javascript";

#[tokio::test(flavor = "multi_thread")]
async fn s090_dedicated_and_nested_workers_run_and_are_no_frames() {
    let framed = "<iframe src='http://b.test:{PORT}/nested'></iframe>";
    let stage = Stage::new(Site::new().page("/", framed).page("/nested", NESTED)).await;
    stage.open("a.test", "/nested").await;
    assert_eq!(stage.value(None, "heard").await, json!(["outer", "inner"]));
    assert_eq!(stage.frames().len(), 1);
    assert_eq!(stage.known_pages().len(), 1);

    stage.open("a.test", "/").await;
    let iframe = stage.frame("/nested").await;
    assert_eq!(stage.value(Some(&iframe.frame_id), "heard").await, json!(["outer", "inner"]));
    assert_eq!(stage.frames().len(), 2);
    assert_eq!(stage.task.snapshot().counts.meters.protocol_violations, 0);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s090_a_shared_worker_runs_too() {
    let script = "onconnect = event => event.ports[0].postMessage('shared')";
    let stage = Stage::new(Site::new().page("/", SHARED).file("/shared.js", JAVASCRIPT, script)).await;
    stage.open("a.test", "/").await;
    assert_eq!(stage.value(None, "heard").await, json!("shared"));
    assert_eq!((stage.frames().len(), stage.known_pages().len()), (1, 1));
    stage.end().await;
}

/// A page whose service worker answers for `/answered`, which the server does not have.
fn served() -> Site {
    let worker = "oninstall = () => skipWaiting();
        onactivate = event => event.waitUntil(clients.claim());
        onfetch = event => {
          if (event.request.url.endsWith('/answered')) event.respondWith(new Response('by the worker'));
        };";
    Site::new().page("/", "<h1>served</h1>").file("/worker.js", JAVASCRIPT, worker)
}

/// A secure context without a certificate, as service workers need one.
const LOCAL: &str = "127.0.0.1";

const REGISTER: &str = "navigator.serviceWorker.register('/worker.js').then(() => new Promise(done => {
    const look = () => navigator.serviceWorker.controller ? done(true) : 0;
    navigator.serviceWorker.oncontrollerchange = look; look(); }))";

const ASK: &str = "fetch('/answered').then(answer => answer.text())";

async fn service_workers(stage: &Stage) -> usize {
    let client = RawClient::connect(stage.browser.ws_url()).await;
    client.targets().await.iter().filter(|it| it["type"] == "service_worker").count()
}

#[tokio::test(flavor = "multi_thread")]
async fn s091_a_service_worker_that_starts_under_supervision_runs() {
    let stage = Stage::new(served()).await;
    stage.open(LOCAL, "/").await;
    assert_eq!(stage.value(None, REGISTER).await, json!(true));
    assert_eq!(stage.value(None, ASK).await, json!("by the worker"));
    assert_eq!(service_workers(&stage).await, 1);
    assert_eq!((stage.frames().len(), stage.known_pages().len()), (1, 1));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s091_a_service_worker_that_runs_already_holds_no_start_up() {
    let mut stage = Stage::new(served()).await;
    stage.open(LOCAL, "/").await;
    assert_eq!(stage.value(None, REGISTER).await, json!(true));
    assert_eq!(service_workers(&stage).await, 1);

    let url = stage.browser.ws_url().to_owned();
    stage.rejoin(&url, supervisor::Options::default()).await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url.contains(LOCAL))).await;
    assert_eq!(stage.value(None, ASK).await, json!("by the worker"));
    assert_eq!((stage.frames().len(), stage.known_pages().len()), (1, 1));
    assert!(stage.page().blocked.is_none() && !stage.page().unresponsive);
    stage.end().await;
}
