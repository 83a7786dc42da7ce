//! Dialogs that nobody can answer, and what helps.

use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor::{Code, Remedy};

use super::{Scene, Set, set::plain};
use crate::raw_client::RawClient;
use crate::talk::{Held, accept};

const OPENING: &str = "recv Page.javascriptDialogOpening";

fn two_processes() -> page_server::Site {
    plain().page(
        "/parent",
        "<iframe src=http://b.test:{PORT}/leaf></iframe><iframe src=http://c.test:{PORT}/leaf></iframe>",
    )
}

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "dialog-before-us",
            "A confirm was open before we came: its page answers nothing, is shown as blocked, and a reload frees it.",
            &["host recover", "send Page.reload", "recv Page.javascriptDialogClosed"],
            |set| Box::pin(recovered(set)),
        )
        .after(|set| Box::pin(asks_early(set))),
        Scene::new(
            "dialogs-in-two-processes",
            "A second process asks while the first one's dialog is open: the first is dropped with false, the second cannot be answered, and a reload frees the page.",
            &[OPENING, OPENING, "recv Page.javascriptDialogClosed \"result\":false", "host recover", "send Page.reload"],
            |set| Box::pin(overlap(set)),
        )
        .on(two_processes),
        Scene::new(
            "headless-shell-two-processes",
            "In a headless shell the second dialog takes the place of the first and can be answered.",
            &[OPENING, OPENING, "send Page.handleJavaScriptDialog"],
            |set| Box::pin(overlap_on_headless_shell(set)),
        )
        .on(two_processes)
        .on_headless_shell(),
    ]
}

/// The other client listens for no dialogs, so the browser tells nobody.
async fn asks_early(set: &mut Set) {
    set.open("a.test", "/").await;
    let session = set.other_client().await;
    set.stage.supervisor.stop("test").await;
    let other: &RawClient = set.other();
    other.send("Runtime.enable", json!({}), Some(&session)).await;
    let script = "setTimeout(() => { console.log('now'); confirm('early') })";
    other.send("Runtime.evaluate", json!({ "expression": script }), Some(&session)).await;
    other.event("Runtime.consoleAPICalled").await;
}

async fn recovered(set: &Set) {
    let snapshot = set.until(|it| it.pages.first().is_some_and(|page| page.blocked.is_some())).await;
    let page = &snapshot.pages[0];
    assert_eq!(page.blocked.as_ref().map(|it| it.reason), Some(Unanswerable::Unresponsive));
    let answered = set.answer_on(&page.target_id, accept()).await.unwrap_err();
    assert_eq!(answered.code, Code::Unanswerable);
    set.task.recover(page.target_id.clone(), Remedy::Reload).await.unwrap();
    set.until(|it| it.pages.iter().all(|page| page.blocked.is_none() && !page.unresponsive)).await;
    assert_eq!(set.value(None, "document.body.innerText").await, json!("page"));
}

async fn two_ask(set: &Set) -> (Held, Held) {
    set.open("a.test", "/parent").await;
    let (b, c) = (set.frame("b.test").await.frame_id, set.frame("c.test").await.frame_id);
    let first = set.ask(Some(&b), "confirm('in b')").await;
    let second = set.ask(Some(&c), "confirm('in c')").await;
    let ended = set.ended(first.dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Overlap)));
    (first, second)
}

async fn overlap(set: &Set) {
    let (first, second) = two_ask(set).await;
    assert_eq!(set.late(first.call).await, json!(false));
    set.until(|it| it.pages[0].blocked.is_some()).await;
    let answered = set.answer_to(second.dialog.id, accept()).await.unwrap_err();
    assert_eq!(answered.code, Code::Unanswerable);
    set.task.recover(set.page().target_id, Remedy::Reload).await.unwrap();
    set.until(|it| it.pages[0].blocked.is_none()).await;
    set.ended(second.dialog.id).await;
    assert_eq!(set.value(None, "location.pathname").await, json!("/parent"));
}

async fn overlap_on_headless_shell(set: &Set) {
    let (_, second) = two_ask(set).await;
    set.answer_to(second.dialog.id, accept()).await.unwrap();
    assert_eq!(set.late(second.call).await, json!(true));
}
