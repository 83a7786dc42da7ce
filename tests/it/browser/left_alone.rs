//! What belongs to the browser is left alone, in a tab too: DevTools, and pages of extensions.

use std::path::Path;

use chromium_launcher::Launch;
use integration_tests::{RawClient, Stage, browser, is_headless_shell, not_run, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::{Event, Options};

const DEVTOOLS: &str = "devtools://devtools/bundled/inspector.html";

const MANIFEST: &str = r#"{"manifest_version": 3, "name": "left alone", "version": "1"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn devtools_and_pages_of_extensions_run_and_are_no_pages_of_the_task() {
    if is_headless_shell() {
        return not_run("the headless shell has neither DevTools nor extensions");
    }
    let folder = tempfile::tempdir().unwrap();
    let mut stage = stage().await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    let extension = load_extension(&client, folder.path()).await;
    for url in [DEVTOOLS.to_owned(), format!("chrome-extension://{extension}/page.html")] {
        let mut events = stage.task.events();
        let created = client.send("Target.createTarget", json!({ "url": url }), None).await;
        let released = |event: &Event| matches!(event, Event::SessionReleased { kind, .. } if kind == "page");
        stage.happened(&mut events, released).await;
        let target = created["result"]["targetId"].as_str().unwrap_or_else(|| panic!("{created}"));
        is_let_go(&client, target).await;
        assert!(loaded(&client, target).await.starts_with(&url));
    }
    is_alone(&stage).await;
    // One who comes when they are there already leaves them alone, too.
    let url = stage.browser.ws_url().to_owned();
    stage.rejoin(&url, Options::default()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    is_alone(&stage).await;
    client.close().await;
    stage.end().await;
}

async fn stage() -> Stage {
    let launch = Launch::new(browser()).arg("--enable-unsafe-extension-debugging");
    let stage = Stage::launched(launch, Site::new().page("/", "<h1>ours</h1>"), Options::default()).await;
    stage.open("a.test", "/").await;
    stage
}

/// Gives its id.
async fn load_extension(client: &RawClient, folder: &Path) -> String {
    std::fs::write(folder.join("manifest.json"), MANIFEST).unwrap();
    std::fs::write(folder.join("page.html"), "<p>a page of an extension").unwrap();
    let loaded = client.send("Extensions.loadUnpacked", json!({ "path": folder }), None).await;
    loaded["result"]["id"].as_str().unwrap_or_else(|| panic!("{loaded}")).to_owned()
}

/// Nobody is attached to it any more.
async fn is_let_go(client: &RawClient, target: &str) {
    let attached = async || {
        let info = client.send("Target.getTargetInfo", json!({ "targetId": target }), None).await;
        info["result"]["targetInfo"]["attached"] != json!(false)
    };
    let wait = async { while attached().await {} };
    tokio::time::timeout(patience(), wait).await.unwrap_or_else(|_| panic!("{target} is held"));
}

/// It was resumed: it loads to the end. Gives its URL.
async fn loaded(client: &RawClient, target: &str) -> String {
    let session = client.attach(target).await;
    let script = "new Promise(done => {
        const look = () => document.readyState === 'complete' && done(location.href);
        addEventListener('load', look); look() })";
    let params = json!({ "expression": script, "awaitPromise": true });
    let answer: Value = client.send("Runtime.evaluate", params, Some(&session)).await;
    client.send("Target.detachFromTarget", json!({ "sessionId": session }), None).await;
    answer["result"]["result"]["value"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

/// The task has its own page alone, and works.
async fn is_alone(stage: &Stage) {
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("ours"));
    let snapshot = stage.task.snapshot();
    let urls: Vec<&str> = snapshot.pages.iter().map(|page| page.url.as_str()).collect();
    assert_eq!(urls, [stage.pages.url("a.test", "/")]);
}
