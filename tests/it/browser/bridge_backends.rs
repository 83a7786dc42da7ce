//! Browsers whose native dialogs somebody else closes: a proxy in the path, and a driver beside us.

use std::process::Stdio;
use std::time::Instant;

use integration_tests::{DismissingProxy, InventedHosts, Stage, accept, accept_with, dismiss};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{Bridge, DialogView, Event, FrameId, Options, Place, TargetId};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::bridge::{answer, answered, bridged, go, start};

/// Asks all there is, in its first script and whenever it is told to.
const ASKS: &str = "<script>
    const name = location.search.slice(1);
    const ask = when => [typeof alert(`alert ${name} ${when}`), confirm(`accepted ${name} ${when}`),
        confirm(`dismissed ${name} ${when}`), prompt(`prompt ${name} ${when}`, 'dflt')];
    window.first = ask('first');
    const add = src => { const f = document.createElement('iframe'); f.src = src; document.body.append(f) };
    </script><body>";

/// The stage, its task behind a backend that dismisses.
async fn behind(site: Site, options: Options) -> (Stage, DismissingProxy) {
    let mut off = Options::default();
    off.bridge = Bridge::Off;
    let mut stage = Stage::with(site, off).await;
    let proxy = DismissingProxy::to(stage.browser.ws_url()).await;
    let started = stage.supervisor.get_or_start("test", proxy.url(), options).await;
    stage.task = started.unwrap_or_else(|error| panic!("{error:?}"));
    stage.until(|snapshot| snapshot.frame_tree.top.is_some()).await;
    (stage, proxy)
}

/// Answers all that a page asks.
async fn answer_all(stage: &Stage, name: &str, when: &str) {
    let message = |what: &str| format!("{what} {name} {when}");
    answer(stage, &message("alert"), accept()).await;
    answer(stage, &message("accepted"), accept()).await;
    answer(stage, &message("dismissed"), dismiss()).await;
    answer(stage, &message("prompt"), accept_with(name)).await;
}

fn all_answers(name: &str) -> Value {
    json!(["undefined", true, false, name])
}

/// A document that asks in its first script gets every answer, then and later.
async fn asks(stage: &Stage, frame: Option<&FrameId>, name: &str) {
    let wait = "new Promise(done => { const look = () => window.first ? done(first) : setTimeout(look, 5); look() })";
    assert_eq!(stage.value(frame, wait).await, all_answers(name), "{name}, first script");
    start(stage, frame, "window.later = ask('later')").await;
    answer_all(stage, name, "later").await;
    let wait = wait.replace("first", "later");
    assert_eq!(stage.value(frame, &wait).await, all_answers(name), "{name}, later");
}

async fn every_place_asks(stage: &Stage, scheme: &str, port: &str) {
    go(stage, &format!("{scheme}://a.test{port}/asks?main")).await;
    answer_all(stage, "main", "first").await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url.ends_with("?main"))).await;
    asks(stage, None, "main").await;
    for (name, host) in [("child", "a.test"), ("oopif", "b.test")] {
        start(stage, None, &format!("add('{scheme}://{host}{port}/asks?{name}')")).await;
        answer_all(stage, name, "first").await;
        let frame = stage.frame(&format!("?{name}")).await;
        assert_eq!(frame.is_oopif, name == "oopif");
        asks(stage, Some(&frame.frame_id), name).await;
    }
    let popup = popup_at(stage, &format!("{scheme}://a.test{port}/asks?popup")).await;
    asks(stage, Some(&stage.main_frame(&popup).await), "popup").await;
    let ended = stage.task.snapshot();
    assert!(ended.recent_dialogs.iter().all(|it| it.closed_by == Some(ClosedBy::Agent)), "{ended:?}");
    assert!(ended.pages.iter().all(|page| page.bridge == BridgeView::On));
    assert_eq!(ended.counts.dialogs_seen, 32);
}

/// A popup that is sent to a page which asks. Who answers on invented hosts may come a moment after the popup.
async fn popup_at(stage: &Stage, url: &str) -> TargetId {
    stage.value(None, "void window.open('about:blank')").await;
    let snapshot = stage.until(|snapshot| snapshot.pages.len() == 2).await;
    let popup = snapshot.pages.iter().find(|page| !page.active).unwrap().target_id.clone();
    loop {
        let params = json!({ "url": url }).to_string();
        match stage.task.call(Place::Target(popup.clone()), "Page.navigate", params, None).await {
            Ok(reply) if reply.result.get().contains("errorText") => tokio::task::yield_now().await,
            _ => break,
        }
    }
    answer_all(stage, "popup", "first").await;
    popup
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_that_dismisses_every_place_gets_its_answers_on_http() {
    let (stage, _proxy) = behind(Site::new().page("/asks", ASKS), bridged()).await;
    every_place_asks(&stage, "http", &format!(":{}", stage.pages.port())).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn behind_a_proxy_that_dismisses_every_place_gets_its_answers_on_https() {
    let (stage, _proxy) = behind(Site::new(), bridged()).await;
    let _hosts = InventedHosts::serve(stage.browser.ws_url(), &[("/asks", ASKS)]).await;
    every_place_asks(&stage, "https", "").await;
    stage.end().await;
}

/// Two dialogs that are closed at once tell; on a busy machine some take longer, which tells nothing. From then on the agent
/// answers, on the page that was there already.
async fn auto_finds_out(stage: &Stage) {
    assert_eq!(stage.page().bridge, BridgeView::Off);
    let mut events = stage.task.events();
    let give_up = Instant::now() + integration_tests::patience();
    while stage.page().bridge == BridgeView::Off {
        assert!(Instant::now() < give_up, "{:?}", stage.task.snapshot().recent_dialogs);
        lose_one(stage).await;
    }
    let told = |event: &Event| matches!(event, Event::BridgeTurnedOn { detected: true });
    stage.happened(&mut events, told).await;
    let recent = stage.task.snapshot().recent_dialogs.clone();
    assert!(recent.iter().all(|it| it.closed_by == Some(ClosedBy::Remote)), "{recent:?}");
    // Half a microsecond for what a double makes of the moments.
    let at_once = |it: &&DialogView| it.closed_at.unwrap() - it.opened_at <= 0.100_000_5;
    assert_eq!(recent.iter().filter(at_once).count(), 2, "{recent:?}");
    if !stage.runs_scripts_immediately() {
        // Documents that are loaded stay without the script there.
        stage.open("a.test", "/").await;
    }
    assert_eq!(answered(stage, None, "confirm('kept')", accept()).await, json!(true));
    let child = stage.frame("/child").await.frame_id;
    assert_eq!(answered(stage, Some(&child), "prompt('kept', 'd')", accept()).await, json!("d"));
}

async fn lose_one(stage: &Stage) {
    let seen = stage.task.snapshot().counts.dialogs_seen;
    start(stage, None, "window.lost = confirm('lost')").await;
    let is_known = |it: &DialogView| it.reason == Some(Reason::OtherClient) && it.source == Source::Native;
    stage
        .until(|it| {
            it.counts.dialogs_seen > seen
                && it.pending_dialogs.is_empty()
                && it.recent_dialogs.last().is_some_and(is_known)
        })
        .await;
}

fn with_child() -> Site {
    Site::new().page("/", "<iframe src='http://b.test:{PORT}/child'></iframe>").page("/child", "<p>child")
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_finds_out_that_a_proxy_dismisses_and_bridges_what_is_loaded() {
    let (stage, _proxy) = behind(with_child(), Options::default()).await;
    stage.open("a.test", "/").await;
    auto_finds_out(&stage).await;
    stage.end().await;
}

/// Playwright on the same browser, until it is dropped.
async fn playwright(ws_url: &str) -> Child {
    let folder = tokio::task::spawn_blocking(|| integration_tests::node_project("playwright")).await.unwrap();
    let mut command = Command::new("node");
    command
        .arg(folder.join("beside.mjs"))
        .arg(ws_url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    let mut driver = command.spawn().unwrap();
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let first =
        tokio::time::timeout(integration_tests::patience(), lines.next_line()).await.unwrap().unwrap();
    assert_eq!(first.as_deref(), Some("ready"));
    driver
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_finds_out_that_playwright_beside_us_dismisses() {
    let stage = Stage::new(with_child()).await;
    let _driver = playwright(stage.browser.ws_url()).await;
    stage.open("a.test", "/").await;
    auto_finds_out(&stage).await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn beside_playwright_every_place_gets_its_answers() {
    let stage = Stage::with(Site::new().page("/asks", ASKS), bridged()).await;
    let _driver = playwright(stage.browser.ws_url()).await;
    every_place_asks(&stage, "http", &format!(":{}", stage.pages.port())).await;
    stage.end().await;
}
