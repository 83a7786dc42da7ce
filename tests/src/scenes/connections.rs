//! Connections that are lost, and the guard that listens beside them.

use std::time::Duration;

use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::supervisor_core::snapshot::GuardState;
use supervisor::{Options, Reconnect, Remedy, Snapshot, Status};

use super::{Scene, Set, Way};
use crate::talk::accept;

const OPENING: &str = "recv Page.javascriptDialogOpening";
const LOST: &str = "net lost";
const BACK: &str = "net connected";

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new("reconnect", "The connection is lost and made again: the page is there with its frames, and takes calls.", &[LOST, BACK], |set| {
            Box::pin(reconnect(set))
        })
        .by(Way::Wire),
        Scene::new(
            "reconnect-with-a-dialog",
            "The connection is lost with a dialog open, which nobody can answer then: it ends as disconnected, its page is blocked, and a reload frees it.",
            &[OPENING, LOST, BACK, "host recover"],
            |set| Box::pin(with_a_dialog(set)),
        )
        .by(Way::Wire),
        Scene::new("reconnect-given-up", "The connection is lost for good: after the tries that it has, the task fails.", &[LOST, "net dial_failed"], |set| {
            Box::pin(given_up(set))
        })
        .with(|options| options.reconnect = Reconnect { tries: 2, within: Duration::from_secs(20) })
        .by(Way::Wire),
        Scene::new(
            "guard-keeps-a-dialog",
            "With a guard a dialog outlives the main connection, and the page gets the answer.",
            &[OPENING, LOST, BACK, "host respond", "send Page.handleJavaScriptDialog"],
            |set| Box::pin(guarded(set)),
        )
        .with(guard)
        .by(Way::Wire),
        Scene::new(
            "guard-hears-alone",
            "A dialog opens while the main connection is gone: the guard alone hears of it, it is pending, and the page gets the answer.",
            &[LOST, OPENING, "host respond", "send Page.handleJavaScriptDialog"],
            |set| Box::pin(opened_meanwhile(set)),
        )
        .with(guard)
        .by(Way::Wire),
        Scene::new(
            "guard-lost",
            "The guard's connection is lost alone: it is made again, and the task goes on without a word.",
            &["net lost", "net connected", OPENING],
            |set| Box::pin(guard_lost(set)),
        )
        .with(guard)
        .by(Way::Wire),
        Scene::new(
            "browser-closed",
            "The browser is closed with a dialog open: the socket is gone, and what was open ends.",
            &[OPENING, LOST, "net dial_failed"],
            |set| Box::pin(browser_closed(set)),
        )
        .with(|options| options.reconnect = Reconnect { tries: 1, within: Duration::from_secs(20) }),
    ]
}

/// The task's connections, in the order in which they are made.
const MAIN: u64 = 1;
const GUARD: u64 = 2;

fn guard(options: &mut Options) {
    options.guard = true;
}

async fn is_back(set: &Set) {
    set.until(|it| it.status.status == Status::Reconnecting).await;
    set.until(|it| it.status.status == Status::Connected && it.pages.len() == 1).await;
}

async fn reconnect(set: &Set) {
    set.open("a.test", "/far").await;
    set.frame_loaded("far").await;
    set.wire().cut();
    is_back(set).await;
    let far = set.frame_loaded("far").await;
    assert_eq!(set.value(Some(&far.frame_id), "location.hostname").await, json!("b.test"));
    set.confirms(None).await;
}

async fn with_a_dialog(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "confirm('Sure?')").await;
    let dialog = set.dialog().await;
    set.wire().cut();
    is_back(set).await;
    let ended = set.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::Disconnected)));
    let snapshot = set.until(|it| it.pages[0].blocked.is_some()).await;
    set.task.recover(snapshot.pages[0].target_id.clone(), Remedy::Reload).await.unwrap();
    set.until(|it| it.pages[0].blocked.is_none() && !it.pages[0].unresponsive).await;
    assert_eq!(set.value(None, "document.title").await, json!("page"));
}

async fn given_up(set: &Set) {
    set.open("a.test", "/").await;
    set.wire().cut_for_good();
    set.task.wait_for_end().await;
    assert_eq!(set.task.snapshot().status.status, Status::Failed);
}

async fn listens(set: &Set) {
    let all =
        |it: &Snapshot| it.status.guard.state == GuardState::On && it.pages.iter().all(|page| page.guarded);
    set.until(all).await;
}

async fn guarded(set: &Set) {
    set.open("a.test", "/").await;
    listens(set).await;
    set.start(None, "window.answer = confirm('Sure?')").await;
    let dialog = set.dialog().await;
    set.wire().cut_one(MAIN);
    set.until(|it| it.status.status == Status::Reconnecting).await;
    set.until(|it| it.status.status == Status::Connected && it.pages[0].pending_dialogs == 1).await;
    set.answer_to(dialog.id, accept()).await.unwrap();
    assert_eq!(set.ended(dialog.id).await.accepted, Some(true));
    assert_eq!(set.value(None, "answer").await, json!(true));
}

async fn opened_meanwhile(set: &Set) {
    set.open("a.test", "/").await;
    listens(set).await;
    set.value(None, "void setTimeout(() => { window.answer = confirm('Sure?') }, 300)").await;
    set.wire().cut_one(MAIN);
    set.until(|it| it.status.status == Status::Reconnecting).await;
    let dialog = set.dialog().await;
    set.answer_to(dialog.id, accept()).await.unwrap();
    assert_eq!(set.ended(dialog.id).await.closed_by, Some(ClosedBy::Agent));
    set.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
    assert_eq!(set.value(None, "answer").await, json!(true));
}

async fn guard_lost(set: &Set) {
    set.open("a.test", "/").await;
    listens(set).await;
    let made = set.wire().connections();
    set.wire().cut_one(GUARD);
    set.until(|it| it.status.guard.state != GuardState::On).await;
    listens(set).await;
    assert_eq!(set.wire().connections(), made + 1);
    assert_eq!(set.task.snapshot().status.status, Status::Connected);
    set.confirms(None).await;
}

async fn browser_closed(set: &mut Set) {
    set.open("a.test", "/").await;
    set.start(None, "confirm('Sure?')").await;
    let dialog = set.dialog().await;
    set.other_client().await;
    set.other().post("Browser.close", json!({}), None);
    set.task.wait_for_end().await;
    let snapshot = set.task.snapshot();
    assert_eq!(snapshot.status.status, Status::Failed);
    assert!(snapshot.recent_dialogs.iter().any(|it| it.id == dialog.id), "{snapshot:?}");
}
