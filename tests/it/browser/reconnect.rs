//! The connection is lost, and made again: what is kept, what is told, and what ends.

use std::time::Duration;

use chromium_launcher::Launch;
use integration_tests::{Proxy, Stage, accept, browser, is_headless_shell, patience};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor::supervisor_core::snapshot::RemedyName;
use supervisor::{Code, Event, Observed, Options, Reconnect, Remedy, StartOptions, Status};

pub(super) fn site() -> Site {
    let asks = "<h1>asks</h1><script>function raise() { setTimeout(() => { window.answer = confirm('Sure?') }) }</script>";
    Site::new().page("/", asks)
}

pub(super) fn port_of(url: &str) -> u16 {
    let (_, rest) = url.split_once("://").unwrap();
    rest.split('/').next().unwrap().rsplit_once(':').unwrap().1.parse().unwrap()
}

/// A stage whose task reaches the browser's socket through a proxy.
pub(super) async fn stage_on_a_wire(options: impl Into<StartOptions>) -> (Stage, Proxy) {
    let mut stage = Stage::new(site()).await;
    let proxy = Proxy::to(port_of(stage.browser.ws_url())).await;
    let url = proxy.through(stage.browser.ws_url());
    stage.rejoin(&url, options).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    stage.open("a.test", "/").await;
    (stage, proxy)
}

/// Cuts the wire, and waits until the loss was seen and made good.
async fn cut_and_back(stage: &Stage, proxy: &Proxy) {
    let connections = proxy.connections();
    proxy.cut();
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    stage.until(|it| it.status.status == Status::Connected && it.pages.len() == 1).await;
    assert_eq!(proxy.connections(), connections + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn s096_a_dialog_that_is_open_when_the_socket_drops_ends_as_disconnected() {
    let (stage, proxy) = stage_on_a_wire(Options::default()).await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    cut_and_back(&stage, &proxy).await;
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    let late = stage.answer_to(dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, Code::AlreadyClosed);

    usable_again(&stage).await;
    assert!(stage.task.snapshot().pending_dialogs.is_empty());
    // The page is as usable as ever, and ids go on counting.
    stage.value(None, "raise()").await;
    let next = stage.dialog().await;
    assert!(next.id > dialog.id);
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// Fault D16: when the socket goes, a dialog ends before its watchdog would, and the next one has a watchdog of its own.
#[tokio::test(flavor = "multi_thread")]
async fn d16_the_watchdog_watches_on_after_a_lost_connection() {
    let mut options = Options::default();
    options.dialog_timeout = Duration::from_secs(20);
    let (stage, proxy) = stage_on_a_wire(options).await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    cut_and_back(&stage, &proxy).await;
    assert_eq!(stage.ended(dialog.id).await.reason, Some(Reason::Disconnected));
    usable_again(&stage).await;
    stage.value(None, "raise()").await;
    let next = stage.dialog().await;
    let ended = stage.ended(next.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Watchdog), Some(false)));
    assert_eq!(stage.value(None, "answer").await, json!(false));
    stage.end().await;
}

/// After a cut under a dialog: where the browser left it open, the page is freed.
pub(super) async fn usable_again(stage: &Stage) {
    if is_headless_shell() {
        // It dismisses what its last client leaves open.
        stage.until(|it| it.frame_tree.top.is_some()).await;
        assert_eq!(stage.value(None, "answer").await, json!(false));
    } else {
        orphaned(stage).await;
    }
}

/// The dialog is still open, and nobody can answer it any more: that is told, and the remedy that is named works.
async fn orphaned(stage: &Stage) {
    let snapshot = stage.until(|it| it.pages[0].blocked.is_some()).await;
    let blocked = snapshot.pages[0].blocked.clone().unwrap();
    assert_eq!((blocked.reason, blocked.suspected), (Unanswerable::Orphaned, false));
    assert!(blocked.remedies.contains(&RemedyName::Reload), "{blocked:?}");
    let failure = stage.call("DOM.getDocument", json!({})).await.unwrap_err();
    assert_eq!(failure.code, Code::TargetUnresponsive);
    stage.task.recover(snapshot.pages[0].target_id.clone(), Remedy::Reload).await.unwrap();
    stage.until(|it| it.pages[0].blocked.is_none() && it.frame_tree.top.is_some()).await;
    stage
        .value(None, "document.readyState === 'complete' || new Promise(done => onload = () => done(1))")
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cut_ends_calls_and_keeps_what_was_seen() {
    let (stage, proxy) = stage_on_a_wire(Options::default()).await;
    stage.value(None, "console.error('before the cut')").await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    stage.answer(accept()).await;
    stage.ended(dialog.id).await;
    let cut = async {
        let never = stage.eval(None, "new Promise(() => {})");
        let cut = async { cut_and_back(&stage, &proxy).await };
        tokio::join!(never, cut).0
    };
    assert_eq!(cut.await.unwrap_err().code, Code::Disconnected);
    stage.until(|it| it.frame_tree.top.is_some()).await;
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    assert!(stage.task.console(None).errors.iter().any(|it| it.text == "before the cut"));
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("asks"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_does_not_come_back_is_given_up_once() {
    let mut options = Options::default();
    options.reconnect = Reconnect { tries: 2, within: Duration::from_secs(60) };
    let (stage, proxy) = stage_on_a_wire(options).await;
    let mut events = stage.task.events();
    let connections = proxy.connections();
    proxy.cut_for_good();
    let task = &stage.task;
    let over = task.wait_for(|it| it.status.status == Status::Failed, patience()).await.unwrap();
    assert!(over.status.stale && over.status.reason.is_some());
    assert_eq!(proxy.connections(), connections + 2, "two tries, and no more");
    let mut failed = 0;
    while let Some(observed) = events.recv().await {
        failed +=
            usize::from(matches!(observed, Observed::Event(it) if matches!(it.event, Event::Failed { .. })));
    }
    assert_eq!(failed, 1);
    assert_eq!(stage.eval(None, "1").await.unwrap_err().code, Code::NotConnected);
    stage.end().await;
}

/// While nothing passes, calls end at their deadlines and snapshots are served; what was held arrives afterwards.
#[tokio::test(flavor = "multi_thread")]
async fn a_black_hole_that_ends_loses_nothing() {
    let (stage, proxy) = stage_on_a_wire(Options::default()).await;
    proxy.pause();
    let lost = stage.eval_within(None, "window.reached = 1", Duration::from_millis(200)).await;
    assert_eq!(lost.unwrap_err().code, Code::Timeout);
    assert_eq!(stage.task.snapshot().status.status, Status::Connected);
    proxy.resume();
    assert_eq!(stage.value(None, "reached").await, json!(1));
    stage.end().await;
}

/// A hung network is told from a quiet one: the browser is asked for a sign of life.
#[tokio::test(flavor = "multi_thread")]
async fn a_black_hole_that_lasts_is_a_lost_connection() {
    let (stage, proxy) = stage_on_a_wire(Options::default()).await;
    proxy.pause();
    let task = &stage.task;
    let limit = Duration::from_secs(90);
    task.wait_for(|it| it.status.status == Status::Reconnecting, limit).await.unwrap();
    proxy.cut();
    proxy.resume();
    task.wait_for(|it| it.status.status == Status::Connected, limit).await.unwrap();
    stage.until(|it| it.frame_tree.top.is_some()).await;
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("asks"));
    stage.end().await;
}

/// `stop` is bounded whatever becomes of the browser.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_is_bounded_when_nothing_passes() {
    let (stage, proxy) = stage_on_a_wire(Options::default()).await;
    stage.value(None, "raise()").await;
    stage.dialog().await;
    proxy.pause();
    let before = std::time::Instant::now();
    stage.supervisor.stop("test").await;
    assert!(before.elapsed() < Duration::from_secs(10), "{:?}", before.elapsed());
    stage.end().await;
}

/// Restarts the browser: another process, another port, another socket.
async fn restart(stage: &mut Stage) {
    let launch = Launch::new(browser()).site_per_process(true).map_test_hosts(true);
    let fresh = launch.start().await.unwrap_or_else(|error| panic!("{error}"));
    let old = std::mem::replace(&mut stage.browser, fresh);
    old.stop().await.unwrap();
}

/// The browser is another one: its pages are there, and calls succeed again.
async fn works_again(stage: &Stage) {
    stage.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
    stage.open("a.test", "/").await;
    stage.value(None, "raise()").await;
    let dialog = stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
}

/// The host gave an `http://` endpoint: it is asked again, and names the socket of the browser that is there now.
#[tokio::test(flavor = "multi_thread")]
async fn s097_a_browser_restarted_behind_an_http_endpoint_is_found_again() {
    let mut stage = Stage::new(site()).await;
    let proxy = Proxy::to(port_of(stage.browser.ws_url())).await;
    let url = proxy.through(stage.browser.http_url());
    stage.rejoin(&url, Options::default()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    stage.open("a.test", "/").await;
    let before = stage.page().target_id;
    stage.value(None, "console.error('of the old one')").await;
    stage.value(None, "raise()").await;
    let old = stage.dialog().await;
    stage.answer(accept()).await;
    stage.ended(old.id).await;
    stage.until(|it| it.recent_dialogs.len() == 1).await;

    proxy.cut_for_good();
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    assert_eq!(stage.eval(None, "1").await.unwrap_err().code, Code::Disconnected);
    assert!(stage.task.snapshot().status.stale);
    restart(&mut stage).await;
    proxy.lead_to(port_of(stage.browser.ws_url()));
    stage.until(|it| it.status.status == Status::Connected).await;
    assert!(stage.task.snapshot().recent_dialogs.is_empty(), "another browser is another binding");
    assert!(stage.task.console(None).errors.is_empty());
    works_again(&stage).await;
    assert_ne!(stage.page().target_id, before);
    let recent = &stage.task.snapshot().recent_dialogs;
    assert!(recent.len() == 1 && recent[0].id > old.id, "ids go on counting: {recent:?}");
    stage.end().await;
}

/// The host supplies a fresh URL.
#[tokio::test(flavor = "multi_thread")]
async fn s097_a_browser_restarted_elsewhere_is_found_by_the_hosts_word() {
    let mut stage = Stage::new(site()).await;
    let word = std::sync::Arc::new(std::sync::Mutex::new(None));
    let mut options = StartOptions::default();
    let told = std::sync::Arc::clone(&word);
    options.refresh = Some(std::sync::Arc::new(move || {
        let told = told.lock().unwrap().clone();
        Box::pin(async move { told })
    }));
    let url = stage.browser.ws_url().to_owned();
    stage.rejoin(&url, options).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;

    restart(&mut stage).await;
    *word.lock().unwrap() = Some(stage.browser.ws_url().to_owned());
    works_again(&stage).await;
    stage.end().await;
}
