//! The guard: a second connection by which an open dialog outlives the loss of the first.
//!
//! A headless shell dismisses its dialogs when any of its clients leaves. There no guard is made, and that is told.

use chromium_launcher::Launch;
use integration_tests::{
    PerConnection, Proxy, RawClient, Stage, accept, accept_with, browser, is_headless_shell, not_run,
};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::supervisor_core::guard::Why;
use supervisor::supervisor_core::snapshot::GuardState;
use supervisor::{Code, DialogView, Options, StartOptions, Status};

/// The connections of a task, in the order in which they are made.
const MAIN: u64 = 1;
const GUARD: u64 = 2;

fn site() -> Site {
    let asks =
        "<h1>asks</h1><script>function ask(how) { setTimeout(() => { window.answer = how() }) }</script>";
    let frames = format!("{asks}<iframe src='http://b.test:{{PORT}}/'></iframe>");
    Site::new().page("/", asks).page("/frames", &frames)
}

fn options() -> Options {
    let mut options = Options::default();
    options.guard = true;
    options
}

fn port_of(url: &str) -> u16 {
    let (_, rest) = url.split_once("://").unwrap();
    rest.split('/').next().unwrap().rsplit_once(':').unwrap().1.parse().unwrap()
}

/// A stage whose task reaches the browser through a proxy, with a guard that listens. `None` on a headless shell, after
/// it was seen that none is claimed there.
async fn guarded(path: &str, options: impl Into<StartOptions>) -> Option<(Stage, Proxy)> {
    let mut stage = Stage::new(site()).await;
    let proxy = Proxy::to(port_of(stage.browser.ws_url())).await;
    let url = proxy.through(stage.browser.ws_url());
    stage.rejoin(&url, options).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    stage.open("a.test", path).await;
    if is_headless_shell() {
        let guard = stage.task.snapshot().status.guard.clone();
        assert_eq!((guard.state, guard.reason), (GuardState::Unavailable, Some(Why::ClosesDialogs)));
        assert_eq!(proxy.connections(), 1);
        stage.end().await;
        not_run(
            "the guard says that it is of no use here: the browser closes what its last client leaves open",
        );
        return None;
    }
    listens(&stage).await;
    Some((stage, proxy))
}

/// The guard is there, and hears of what opens from now on.
async fn listens(stage: &Stage) {
    let all = |it: &supervisor::Snapshot| {
        it.status.guard.state == GuardState::On
            && !it.pages.is_empty()
            && it.pages.iter().all(|page| page.guarded)
    };
    stage.until(all).await;
}

/// Cuts the main connection with this dialog open: it stays pending all the time.
async fn cut_main(stage: &Stage, proxy: &Proxy, dialog: &DialogView) {
    proxy.cut_one(MAIN);
    let lost = stage.until(|it| it.status.status == Status::Reconnecting).await;
    assert_eq!(lost.pending_dialogs[0].id, dialog.id);
    stage.until(|it| it.status.status == Status::Connected && it.pages[0].pending_dialogs == 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_confirm_outlives_the_main_connection_and_the_page_gets_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = StartOptions::from(options());
    let recording = folder.path().join("guarded.cdp.jsonl");
    options.recording = Some(recording.clone().into());
    let Some((stage, proxy)) = guarded("/", options).await else { return };
    stage.value(None, "ask(() => confirm('Sure?'))").await;
    let dialog = stage.dialog().await;
    cut_main(&stage, &proxy, &dialog).await;
    // It blocks the page for the new connection too, and that is known.
    let blocked = stage.eval(None, "1").await.unwrap_err();
    assert_eq!(blocked.code, Code::BlockedByDialog, "{blocked:?}");
    stage.answer_to(dialog.id, accept()).await.unwrap();
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted, ended.reason), (Some(ClosedBy::Agent), Some(true), None));
    assert_eq!(stage.value(None, "answer").await, json!(true));
    // The next one is as usual.
    stage.value(None, "ask(() => confirm('Again?'))").await;
    let next = stage.dialog().await;
    assert!(next.id > dialog.id);
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    let task = stage.task.clone();
    stage.end().await;

    let replayed = supervisor_transcript::check(&std::fs::read(recording).unwrap()).unwrap();
    assert_eq!(*replayed.snapshot, *task.snapshot());
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_of_any_frame_and_popup_outlive_it() {
    let Some((stage, proxy)) = guarded("/frames", options()).await else { return };
    let child = stage.frame("b.test").await;
    stage.value(Some(&child.frame_id), "ask(() => prompt('Name?', 'nobody'))").await;
    let dialog = stage.dialog().await;
    proxy.cut_one(MAIN);
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    stage.until(|it| it.status.status == Status::Connected && it.pages[0].pending_dialogs == 1).await;
    stage.answer_to(dialog.id, accept_with("somebody")).await.unwrap();
    let child = stage.frame("b.test").await;
    assert_eq!(stage.value(Some(&child.frame_id), "answer").await, json!("somebody"));

    // The main connection is another one now.
    let popup = "setTimeout(() => { window.popup = open('/') })";
    stage.value(None, popup).await;
    let snapshot = stage.until(|it| it.pages.len() == 2).await;
    listens(&stage).await;
    let target =
        snapshot.pages.iter().find(|page| page.opener_target_id.is_some()).unwrap().target_id.clone();
    stage.until(|_| stage.page_of(&target).is_some_and(|page| page.url.ends_with('/'))).await;
    stage.value_on(&target, "typeof ask === 'function' || new Promise(done => onload = () => done(1))").await;
    stage.value_on(&target, "ask(() => prompt('Name?', 'default'))").await;
    let dialog = stage.dialog().await;
    assert_eq!(dialog.target_id, target);
    proxy.cut_one(proxy.connections());
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    stage.until(|it| it.status.status == Status::Connected && it.pending_dialogs.len() == 1).await;
    stage.answer_to(dialog.id, accept()).await.unwrap();
    assert_eq!(stage.value_on(&target, "answer").await, json!("default"), "its default text");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_guard_alone_lost_is_told_and_made_again() {
    let Some((stage, proxy)) = guarded("/", options()).await else { return };
    stage.value(None, "ask(() => confirm('Sure?'))").await;
    let first = stage.dialog().await;
    proxy.refuse();
    proxy.cut_one(GUARD);
    let lost = stage.until(|it| it.status.guard.reason == Some(Why::Lost)).await;
    assert_eq!((lost.status.status, lost.pending_dialogs.len()), (Status::Connected, 1));
    assert!(!lost.pages[0].guarded);
    proxy.lead_to(port_of(stage.browser.ws_url()));
    stage.until(|it| it.status.guard.state == GuardState::On).await;
    stage.answer_to(first.id, accept()).await.unwrap();
    assert_eq!(stage.value(None, "answer").await, json!(true));

    // It is as good as the one before.
    listens(&stage).await;
    stage.value(None, "ask(() => confirm('Again?'))").await;
    let second = stage.dialog().await;
    cut_main(&stage, &proxy, &second).await;
    stage.answer_to(second.id, accept()).await.unwrap();
    assert_eq!(stage.ended(second.id).await.closed_by, Some(ClosedBy::Agent));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn both_lost_is_disconnected() {
    let Some((stage, proxy)) = guarded("/", options()).await else { return };
    stage.value(None, "ask(() => confirm('Sure?'))").await;
    let dialog = stage.dialog().await;
    proxy.cut();
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    stage.until(|it| it.status.status == Status::Connected && it.pages[0].blocked.is_some()).await;
    stage.end().await;
}

/// While the main connection cannot be made, the guard hears of a new dialog.
#[tokio::test(flavor = "multi_thread")]
async fn a_dialog_that_opens_meanwhile_is_pending_and_answered() {
    let Some((stage, proxy)) = guarded("/", options()).await else { return };
    let page = stage.page().target_id;
    let raw = RawClient::connect(stage.browser.ws_url()).await;
    let session = raw.attach(page.as_str()).await;
    proxy.refuse();
    proxy.cut_one(MAIN);
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    raw.post("Runtime.evaluate", json!({"expression": "ask(() => confirm('Now?'))"}), Some(&session));
    let dialog = stage.dialog().await;
    assert_eq!((&*dialog.message, &dialog.target_id), ("Now?", &page));
    stage.answer_to(dialog.id, accept()).await.unwrap();
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    proxy.lead_to(port_of(stage.browser.ws_url()));
    stage.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// `stop` without a main connection lets the page go all the same.
#[tokio::test(flavor = "multi_thread")]
async fn a_stop_while_the_main_connection_is_gone_frees_the_page() {
    let Some((stage, proxy)) = guarded("/", options()).await else { return };
    stage.value(None, "ask(() => confirm('Sure?'))").await;
    let dialog = stage.dialog().await;
    let page = stage.page().target_id;
    proxy.refuse();
    proxy.cut_one(MAIN);
    stage.until(|it| it.status.status == Status::Reconnecting).await;
    stage.supervisor.stop("test").await;
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::AutoPolicy));
    let raw = RawClient::connect(stage.browser.ws_url()).await;
    let session = raw.attach(page.as_str()).await;
    let value = raw.send("Runtime.evaluate", json!({"expression": "String(answer)"}), Some(&session)).await;
    assert_eq!(value["result"]["result"]["value"], "false");
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_endpoint_is_guarded() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let (server, _) = stage.browser.ws_url().split_once("/devtools/").unwrap();
    let socket = format!("{server}/devtools/page/{}", stage.page().target_id);
    let proxy = Proxy::to(port_of(&socket)).await;
    stage.rejoin(&proxy.through(&socket), options()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    if is_headless_shell() {
        stage.until(|it| it.status.guard.reason == Some(Why::ClosesDialogs)).await;
        return stage.end().await;
    }
    listens(&stage).await;
    stage.value(None, "ask(() => confirm('Sure?'))").await;
    let dialog = stage.dialog().await;
    cut_main(&stage, &proxy, &dialog).await;
    stage.answer_to(dialog.id, accept()).await.unwrap();
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    assert_eq!(stage.value(None, "answer").await, json!(true));
    stage.end().await;
}

/// A backend with a browser for each connection: the second one shows other pages, and guards nothing.
#[tokio::test(flavor = "multi_thread")]
async fn another_browser_is_no_guard() {
    let mut stage = Stage::new(site()).await;
    let other = Launch::new(browser()).map_test_hosts(true).start().await.unwrap_or_else(|it| panic!("{it}"));
    let backend = PerConnection::to(&[stage.browser.ws_url(), other.ws_url()]).await;
    stage.rejoin(backend.url(), options()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    let why = if is_headless_shell() { Why::ClosesDialogs } else { Why::AnotherBrowser };
    let guard = stage.until(|it| it.status.guard.reason == Some(why)).await.status.guard.clone();
    assert_eq!(guard.state, GuardState::Unavailable);
    assert!(!stage.page().guarded);
    // The task itself is none the worse for it.
    stage.open("a.test", "/").await;
    stage.value(None, "ask(() => confirm('Sure?'))").await;
    stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.value(None, "answer").await, json!(true));
    other.stop().await.unwrap();
    stage.end().await;
}

/// The option is applied to a task that runs.
#[tokio::test(flavor = "multi_thread")]
async fn it_is_turned_on_and_off_while_the_task_runs() {
    let stage = Stage::new(site()).await;
    assert_eq!(stage.task.snapshot().status.guard.state, GuardState::Off);
    let again = |options: Options| stage.supervisor.get_or_start("test", stage.browser.ws_url(), options);
    again(options()).await.unwrap();
    if is_headless_shell() {
        stage.until(|it| it.status.guard.reason == Some(Why::ClosesDialogs)).await;
    } else {
        listens(&stage).await;
    }
    again(Options::default()).await.unwrap();
    stage.until(|it| it.status.guard.state == GuardState::Off && !it.pages[0].guarded).await;
    stage.end().await;
}
