//! Dialogs that nobody need answer.

use std::time::Duration;

use serde_json::json;
use supervisor::DialogPolicy;
use supervisor::supervisor_core::dialog::ClosedBy;

use super::{Scene, Set};

const OPENING: &str = "recv Page.javascriptDialogOpening";
const ACCEPTS: &str = "send Page.handleJavaScriptDialog \"accept\":true";
const DISMISSES: &str = "send Page.handleJavaScriptDialog \"accept\":false";

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "auto-accept-ten",
            "Ten alerts without a pause between them are each accepted by the policy.",
            &[OPENING, ACCEPTS, OPENING, ACCEPTS, OPENING, ACCEPTS],
            |set| Box::pin(ten(set)),
        )
        .with(|options| options.dialog_policy = DialogPolicy::AutoAccept),
        Scene::new(
            "auto-dismiss",
            "Every kind of dialog is dismissed by the policy.",
            &[OPENING, DISMISSES, OPENING, DISMISSES],
            |set| Box::pin(dismissed(set)),
        )
        .with(|options| options.dialog_policy = DialogPolicy::AutoDismiss),
        Scene::new(
            "watchdog",
            "An alert that nobody answers is dismissed by the watchdog.",
            &[OPENING, DISMISSES, "recv Page.javascriptDialogClosed"],
            |set| Box::pin(watchdog(set)),
        )
        .with(|options| options.dialog_timeout = Duration::from_secs(1)),
        Scene::new(
            "answered-by-the-stop",
            "A task that is stopped answers first, so that the page goes on.",
            &[OPENING, "host stop", DISMISSES],
            |set| Box::pin(stopped(set)),
        ),
    ]
}

async fn ended(set: &Set, count: usize, by: ClosedBy) {
    let snapshot = set.until(|it| it.recent_dialogs.len() == count).await;
    assert!(
        snapshot.recent_dialogs.iter().all(|it| it.closed_by == Some(by)),
        "{:?}",
        snapshot.recent_dialogs
    );
}

async fn ten(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "for (let n = 1; n <= 10; n += 1) alert(`Alert ${n} of 10`); document.title = 'ten'")
        .await;
    ended(set, 10, ClosedBy::AutoPolicy).await;
    set.comes_true(None, "document.title === 'ten'").await;
}

async fn dismissed(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "window.answers = [typeof alert('a'), confirm('c'), prompt('p', 'd')]").await;
    ended(set, 3, ClosedBy::AutoPolicy).await;
    assert_eq!(set.value(None, "answers").await, json!(["undefined", false, null]));
}

async fn watchdog(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "alert('Anybody?'); document.title = 'closed'").await;
    ended(set, 1, ClosedBy::Watchdog).await;
    set.comes_true(None, "document.title === 'closed'").await;
}

async fn stopped(set: &Set) {
    set.open("a.test", "/").await;
    set.start(None, "confirm('At the end?')").await;
    set.dialog().await;
}
