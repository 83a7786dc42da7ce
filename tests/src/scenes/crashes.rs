//! Renderers that crash.

use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, FrameView};

use super::{Scene, Set};
use crate::raw_client::RawClient;
use crate::renderers::Renderers;
use crate::talk::accept;

const OPENING: &str = "recv Page.javascriptDialogOpening";
const CRASHED: &str = "recv Inspector.targetCrashed";

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "page-crash",
            "A page crashes while a call is in flight, and comes back in the same session when it is navigated.",
            &["host eval", CRASHED, "recv Page.frameNavigated"],
            |set| Box::pin(page_crash(set)),
        ),
        Scene::new(
            "page-killed-with-a-dialog",
            "The renderer of a page is killed with its dialog open: the browser closes the dialog, then tells of the crash.",
            &[OPENING, "recv Page.javascriptDialogClosed \"result\":false", CRASHED],
            |set| Box::pin(page_killed(set)),
        ),
        Scene::new(
            "oopif-killed-with-a-dialog",
            "The renderer of an iframe is killed with its dialog open: nobody closes it, and an answer clears it.",
            &[OPENING, CRASHED, "send Page.handleJavaScriptDialog"],
            |set| Box::pin(oopif_killed(set)),
        ),
        Scene::new(
            "oopif-killed",
            "The renderer of an iframe is killed: its calls end, the page lives on, and a navigation brings it back.",
            &["host eval", CRASHED, "recv Page.frameNavigated again"],
            |set| Box::pin(oopif_back(set)),
        ),
    ]
}

/// An expression that is never answered by itself.
const FOREVER: &str = "new Promise(() => {})";

async fn page_crash(set: &Set) {
    set.open("a.test", "/").await;
    let (flying, crash) = tokio::join!(set.eval(None, FOREVER), set.call("Page.crash", json!({})));
    assert_eq!(flying.unwrap_err().code, Code::TargetCrashed);
    assert!(!matches!(&crash, Err(failure) if failure.code != Code::TargetCrashed), "{crash:?}");
    set.until(|it| it.pages[0].crashed).await;
    set.open("a.test", "/next").await;
    assert!(!set.page().crashed);
    set.confirms(None).await;
}

/// A tab whose renderer nobody else uses.
async fn page_of_its_own(set: &Set) -> (supervisor::TargetId, Renderers) {
    let client = RawClient::connect(set.browser.ws_url()).await;
    let before = Renderers::of(&client).await;
    let page = set.add_page("c.test", "/leaf").await.target_id;
    (page, Renderers::since(&client, &before).await)
}

async fn page_killed(set: &Set) {
    set.open("a.test", "/").await;
    let (page, renderers) = page_of_its_own(set).await;
    let top = set.main_frame(&page).await;
    set.start(Some(&top), "confirm('Kill?')").await;
    let dialog = set.dialog().await;
    renderers.kill();
    let ended = set.ended(dialog.id).await;
    assert_eq!(ended.closed_by, Some(ClosedBy::Remote));
    set.until(|it| it.recent_dialogs.iter().all(|it| it.reason == Some(Reason::Crash))).await;
    set.until(|it| it.pages.iter().any(|it| it.target_id == page && it.crashed)).await;
}

/// An iframe of another site, and its renderers.
async fn iframe_of_its_own(set: &Set) -> (FrameView, Renderers) {
    set.open("a.test", "/").await;
    let client = RawClient::connect(set.browser.ws_url()).await;
    let before = Renderers::of(&client).await;
    set.add_iframe("far", &set.pages.url("b.test", "/leaf")).await;
    let frame = set.frame_loaded("far").await;
    assert!(frame.is_oopif);
    set.comes_true(Some(&frame.frame_id), "document.readyState === 'complete'").await;
    (frame, Renderers::since(&client, &before).await)
}

async fn oopif_killed(set: &Set) {
    let (frame, renderers) = iframe_of_its_own(set).await;
    set.start(Some(&frame.frame_id), "confirm('Kill?')").await;
    let dialog = set.dialog().await;
    renderers.kill();
    set.frame_where(|it| it.frame_id == frame.frame_id && it.crashed).await;
    assert_eq!(set.value(None, "document.title").await, json!("page"));
    set.answer_to(dialog.id, accept()).await.unwrap();
    set.ended(dialog.id).await;
}

async fn oopif_back(set: &Set) {
    let (frame, renderers) = iframe_of_its_own(set).await;
    let kill = async { renderers.kill() };
    let (flying, ()) = tokio::join!(set.eval(Some(&frame.frame_id), FOREVER), kill);
    assert_eq!(flying.unwrap_err().code, Code::TargetCrashed);
    set.frame_where(|it| it.frame_id == frame.frame_id && it.crashed).await;
    set.value(None, "void (document.querySelector('iframe').src += '?again')").await;
    set.frame_where(|it| it.url.ends_with("?again") && !it.crashed).await;
    assert_eq!(set.value(Some(&frame.frame_id), "location.search").await, json!("?again"));
}
