//! Browsers whose native dialogs somebody else closes: a proxy in the path, and a driver beside us. `bridge: auto` finds out.

use std::process::Stdio;
use std::time::Instant;

use integration_tests::{DismissingProxy, Stage, accept};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Source};
use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{Bridge, DialogView, Event, Options};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::bridge::{answered, start};

/// The stage, its task behind a backend that dismisses.
pub(super) async fn behind(site: Site, options: Options) -> (Stage, DismissingProxy) {
    let mut off = Options::default();
    off.bridge = Bridge::Off;
    let mut stage = Stage::with(site, off).await;
    let proxy = DismissingProxy::to(stage.browser.ws_url()).await;
    let started = stage.supervisor.get_or_start("test", proxy.url(), options).await;
    stage.task = started.unwrap_or_else(|error| panic!("{error:?}"));
    stage.until(|snapshot| snapshot.frame_tree.top.is_some()).await;
    (stage, proxy)
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
pub(super) async fn playwright(ws_url: &str) -> Child {
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
