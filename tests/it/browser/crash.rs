//! Crashed renderers: told at once, and usable again after a navigation.

use integration_tests::{RawClient, Renderers, Stage, accept, without_spare_renderers};
use page_server::Site;
use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, Event, EventStream, Observed, Options, TargetId};

fn site() -> Site {
    let frames = "<iframe src='http://b.test:{PORT}/child'></iframe>";
    Site::new()
        .page("/", "<h1>here</h1>")
        .page("/framed", frames)
        .page("/child", "<iframe src=/grand></iframe>")
        .page("/grand", "")
}

/// An expression that is never answered by itself.
const FOREVER: &str = "new Promise(() => {})";

/// Waits until this page is crashed, and checks what a crash always means.
async fn crashed(stage: &Stage, page: &TargetId) {
    stage.until(|it| it.pages.iter().any(|it| it.target_id == *page && it.crashed)).await;
    let failure = stage.eval_on(page, "1").await.unwrap_err();
    assert_eq!(failure.code, Code::TargetCrashed, "{failure:?}");
    let view = stage.page_of(page).unwrap();
    assert!(view.blocked.is_none() && view.pending_dialogs == 0, "{view:?}");
}

/// Crashes the active page by this command while another call is in flight.
async fn crash_in_flight(stage: &Stage, method: &str, params: serde_json::Value) {
    let page = stage.page().target_id;
    let (flying, crashing) = tokio::join!(stage.eval(None, FOREVER), stage.call(method, params));
    assert_eq!(flying.unwrap_err().code, Code::TargetCrashed);
    if let Err(failure) = crashing {
        assert_eq!(failure.code, Code::TargetCrashed, "{failure:?}");
    }
    crashed(stage, &page).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s092_page_crash_ends_all_that_is_in_flight() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    crash_in_flight(&stage, "Page.crash", json!({})).await;
    assert!(stage.task.snapshot().recent_dialogs.is_empty());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s092_a_crash_by_url_ends_all_that_is_in_flight() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    crash_in_flight(&stage, "Page.navigate", json!({ "url": "chrome://crash" })).await;
    stage.end().await;
}

/// A page in a tab of its own, with its renderer processes.
async fn page_with_its_renderers(stage: &Stage, client: &RawClient, path: &str) -> (TargetId, Renderers) {
    let before = Renderers::of(client).await;
    let page = stage.add_page("c.test", path).await.target_id;
    (page, Renderers::since(client, &before).await)
}

async fn stage_of_processes() -> (Stage, RawClient) {
    let stage = Stage::launched(without_spare_renderers(), site(), Options::default()).await;
    stage.open("a.test", "/").await;
    let client = RawClient::connect(stage.browser.ws_url()).await;
    (stage, client)
}

/// Also row 95: another page than the active one.
#[tokio::test(flavor = "multi_thread")]
async fn s092_s095_a_killed_renderer_is_told_on_its_own_page_only() {
    let (stage, client) = stage_of_processes().await;
    let active = stage.page().target_id;
    let (page, renderers) = page_with_its_renderers(&stage, &client, "/").await;
    let kill = async { renderers.kill() };
    let (flying, ()) = tokio::join!(stage.eval_on(&page, FOREVER), kill);
    assert_eq!(flying.unwrap_err().code, Code::TargetCrashed);
    crashed(&stage, &page).await;
    let other = stage.page();
    assert_eq!((other.target_id, other.crashed), (active, false));
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("here"));
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s092_a_renderer_killed_with_a_dialog_open_ends_the_dialog_and_the_call_that_it_holds() {
    let (stage, client) = stage_of_processes().await;
    let (page, renderers) = page_with_its_renderers(&stage, &client, "/").await;
    // The call in flight is told of the dialog; what became of it then is that it crashed.
    let asks = format!("setTimeout(() => confirm('Kill?')); {FOREVER}");
    let held = stage.eval_on(&page, &asks).await.unwrap_err();
    assert_eq!(held.code, Code::DialogOpened, "{held:?}");
    let dialog = stage.dialog().await;
    assert_eq!(dialog.target_id, page);
    renderers.kill();
    let ended = stage.ended(dialog.id).await;
    assert_eq!(ended.closed_by, Some(ClosedBy::Remote));
    crashed(&stage, &page).await;
    let snapshot =
        stage.until(|it| it.recent_dialogs.iter().all(|it| it.reason == Some(Reason::Crash))).await;
    assert_eq!((snapshot.pending_dialogs.len(), snapshot.recent_dialogs.len()), (0, 1));
    let late = stage.answer_to(dialog.id, accept()).await.unwrap_err();
    assert_eq!(late.code, Code::AlreadyClosed);
    let late = stage.task.result(held.detail.call_id.unwrap(), None).await.unwrap_err();
    assert_eq!(late.code, Code::TargetCrashed);
    stage.end().await;
}

/// How many sessions of pages came and went.
fn sessions(events: &mut EventStream) -> usize {
    let observed = std::iter::from_fn(|| events.try_recv());
    let is_session = |observed: &Observed| match observed {
        Observed::Event(it) => matches!(it.event, Event::PageAttached { .. } | Event::SessionGone { .. }),
        Observed::Lagged(missed) => panic!("{missed} events were missed"),
    };
    observed.filter(is_session).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn s093_a_crashed_page_comes_back_in_the_same_session() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let page = stage.page().target_id;
    let mut events = stage.task.events();
    crash_in_flight(&stage, "Page.crash", json!({})).await;
    stage.open("a.test", "/").await;
    let back = stage.page_of(&page).unwrap();
    assert!(back.active && !back.crashed && !back.unresponsive, "{back:?}");
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("here"));
    assert_eq!(sessions(&mut events), 0, "the session goes on");

    stage.value(None, "setTimeout(() => alert('alive'))").await;
    let dialog = stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    stage.end().await;
}

/// Whoever comes to a page that has crashed before is told neither of the crash nor of the reload.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_crashed_before_we_came_is_supervised_once_it_is_back() {
    let mut stage = Stage::new(site()).await;
    stage.open("a.test", "/").await;
    let page = stage.page().target_id;
    let driver = RawClient::connect(stage.browser.ws_url()).await;
    let session = driver.attach(page.as_str()).await;
    stage.supervisor.stop("test").await;
    driver.post("Page.crash", json!({}), Some(&session));
    driver.event("Inspector.targetCrashed").await;

    let again = stage.supervisor.get_or_start("test", stage.browser.ws_url(), Options::default()).await;
    stage.task = again.unwrap();
    let url = stage.pages.url("a.test", "/");
    driver.send("Page.navigate", json!({"url": url}), Some(&session)).await;
    stage.until(|it| it.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
    stage.value(None, "setTimeout(() => alert('alive'))").await;
    let dialog = stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    driver.close().await;
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn s094_a_crashed_main_frame_has_no_frames_below_it() {
    let stage = Stage::new(site()).await;
    stage.open("a.test", "/framed").await;
    let child = stage.frame("/child").await;
    let grand = stage.frame("/grand").await;
    assert!(child.is_oopif);
    crash_in_flight(&stage, "Page.crash", json!({})).await;
    let snapshot = stage.until(|it| it.frame_tree.children.is_empty()).await;
    let top = snapshot.frame_tree.top.clone().unwrap();
    assert!(top.crashed && top.url.ends_with("/framed"), "{top:?}");
    for gone in [child, grand] {
        let failure = stage.eval(Some(&gone.frame_id), "1").await.unwrap_err();
        assert_eq!(failure.code, Code::FrameGone, "{failure:?}");
    }

    stage.open("a.test", "/framed").await;
    let child = stage.frame("/child").await;
    assert_eq!(stage.value(Some(&child.frame_id), "location.pathname").await, json!("/child"));
    stage.end().await;
}

/// A page whose iframe is in another process, which alone is killed.
async fn stage_of_framed() -> (Stage, supervisor::FrameView, Renderers) {
    let (stage, client) = stage_of_processes().await;
    let before = Renderers::of(&client).await;
    let url = json!(stage.pages.url("b.test", "/child"));
    stage
        .value(
            None,
            &format!("void (document.body.appendChild(document.createElement('iframe')).src = {url})"),
        )
        .await;
    let child = stage.frame("/child").await;
    stage.frame("/grand").await;
    let renderers = Renderers::since(&client, &before).await;
    (stage, child, renderers)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_iframes_crash_is_its_own() {
    let (stage, child, renderers) = stage_of_framed().await;
    let kill = async { renderers.kill() };
    let (flying, ()) = tokio::join!(stage.eval(Some(&child.frame_id), FOREVER), kill);
    assert_eq!(flying.unwrap_err().code, Code::TargetCrashed);
    let crashed = stage.frame_where(|frame| frame.frame_id == child.frame_id && frame.crashed).await;
    assert!(crashed.is_oopif);
    assert_eq!(stage.frames().len(), 2, "what was below it is gone");
    assert_eq!(stage.eval(Some(&child.frame_id), "1").await.unwrap_err().code, Code::TargetCrashed);
    assert!(!stage.page().crashed);

    // A navigation brings it back.
    stage.value(None, "void (document.querySelector('iframe').src += '?again')").await;
    let back = stage.frame_where(|frame| frame.url.ends_with("?again") && !frame.crashed).await;
    assert_eq!(back.frame_id, child.frame_id);
    assert_eq!(stage.value(Some(&back.frame_id), "location.search").await, json!("?again"));
    stage.end().await;
}

/// The browser goes on showing the dialog of a renderer that is gone, and an answer clears it.
#[tokio::test(flavor = "multi_thread")]
async fn an_iframe_killed_with_its_dialog_open_leaves_a_dialog_that_can_be_answered() {
    let (stage, child, renderers) = stage_of_framed().await;
    stage.value(Some(&child.frame_id), "setTimeout(() => confirm('Kill?'))").await;
    let dialog = stage.dialog().await;
    assert!(stage.is_of_frame(&dialog, &child.frame_id));
    renderers.kill();
    stage.frame_where(|frame| frame.frame_id == child.frame_id && frame.crashed).await;
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("here"), "the page is not blocked");
    stage.answer_to(dialog.id, accept()).await.unwrap();
    let ended = stage.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Agent), Some(true)));
    stage.value(None, "setTimeout(() => alert('next'))").await;
    let next = stage.dialog().await;
    stage.answer(accept()).await;
    assert_eq!(stage.ended(next.id).await.closed_by, Some(ClosedBy::Agent));
    stage.end().await;
}
