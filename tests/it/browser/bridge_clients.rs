//! The bridge beside others who intercept requests, and when its own connection is lost.

use integration_tests::{Proxy, RawClient, Stage, accept, is_headless_shell};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor::{Code, Remedy, Status};

use super::bridge::{answer, answered, bridged, start};

/// "theirs"
const THEIRS: &str = "dGhlaXJz";

fn site() -> Site {
    Site::new().page("/", "<h1>page").page("/data", "ours").page("/plain", "plain")
}

/// Another client stops what it wants, for as long as it wants. The bridge asks meanwhile, and nothing else waits.
#[tokio::test(flavor = "multi_thread")]
async fn b9_another_clients_interception_goes_on_and_no_other_request_waits() {
    let stage = Stage::with(site(), bridged()).await;
    stage.open("a.test", "/").await;
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = other.attach(stage.page().target_id.as_str()).await;
    let patterns = json!({ "patterns": [{ "urlPattern": "*/data" }] });
    assert!(other.send("Fetch.enable", patterns, Some(&session)).await["result"].is_object());
    stage.value(None, "void (window.got = fetch('/data').then(reply => reply.text()))").await;
    let paused = other.event("Fetch.requestPaused").await;
    assert_eq!(answered(&stage, None, "confirm('meanwhile')", accept()).await, json!(true));
    let all = "Promise.all([...Array(50).keys()].map(n => fetch('/plain?' + n).then(reply => reply.text())))
        .then(texts => texts.filter(text => text.includes('plain')).length)";
    assert_eq!(stage.value(None, all).await, json!(50));
    let reply = json!({ "requestId": paused["params"]["requestId"], "responseCode": 200, "body": THEIRS });
    assert!(other.send("Fetch.fulfillRequest", reply, Some(&session)).await["result"].is_object());
    assert_eq!(stage.value(None, "got").await, json!("theirs"));
    assert_eq!(answered(&stage, None, "confirm('afterwards')", accept()).await, json!(true));
    other.close().await;
    stage.end().await;
}

/// The host's own patterns and the bridge's live together, and come and go apart from each other.
#[tokio::test(flavor = "multi_thread")]
async fn b9_the_hosts_own_interception_and_the_bridge_do_not_disturb_each_other() {
    let stage = Stage::with(site(), bridged()).await;
    stage.open("a.test", "/").await;
    let patterns = json!({ "patterns": [{ "urlPattern": "*/data" }] });
    stage.call("Fetch.enable", patterns).await.unwrap();
    assert_eq!(answered(&stage, None, "confirm('beside')", accept()).await, json!(true));
    assert_eq!(stage.value(None, "fetch('/plain').then(reply => reply.ok)").await, json!(true));
    stage.value(None, "void fetch('/data').then(() => window.got = true)").await;
    assert_eq!(answered(&stage, None, "confirm('while it waits')", accept()).await, json!(true));
    assert_eq!(stage.value(None, "window.got ?? null").await, json!(null), "it is the host's to let go");
    stage.call("Fetch.disable", json!({})).await.unwrap();
    assert_eq!(stage.value(None, "fetch('/data').then(reply => reply.ok)").await, json!(true));
    assert_eq!(answered(&stage, None, "confirm('afterwards')", accept()).await, json!(true));
    stage.end().await;
}

/// Nobody can answer the request any more: the script asks the browser itself, whose dialog nobody listens to then.
#[tokio::test(flavor = "multi_thread")]
async fn b5_a_lost_connection_ends_it_and_a_late_answer_is_told() {
    let mut stage = Stage::with(site(), bridged()).await;
    let url = stage.browser.ws_url().to_owned();
    let port = url.split('/').nth(2).and_then(|host| host.rsplit_once(':')).unwrap().1.parse().unwrap();
    let proxy = Proxy::to(port).await;
    stage.rejoin(&proxy.through(&url), bridged()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    stage.open("a.test", "/").await;
    start(&stage, None, "window.answer = confirm('asked')").await;
    let dialog = stage.dialog().await;
    assert_eq!(dialog.source, Source::Bridge);
    proxy.cut();
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    let late = stage.answer_to(dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, Code::AlreadyClosed);
    stage.until(|it| it.status.status == Status::Connected).await;
    if is_headless_shell() {
        stage.until(|it| it.frame_tree.top.is_some()).await;
        assert_eq!(stage.value(None, "answer").await, json!(false));
    } else {
        let snapshot = stage.until(|it| it.pages.iter().any(|page| page.blocked.is_some())).await;
        assert!(snapshot.pending_dialogs.is_empty(), "{snapshot:?}");
        stage.task.recover(snapshot.pages[0].target_id.clone(), Remedy::Reload).await.unwrap();
        stage.until(|it| it.pages[0].blocked.is_none() && it.frame_tree.top.is_some()).await;
    }
    stage.open("a.test", "/").await;
    start(&stage, None, "window.again = confirm('again')").await;
    answer(&stage, "again", accept()).await;
    assert_eq!(stage.value(None, "again").await, json!(true));
    stage.end().await;
}
