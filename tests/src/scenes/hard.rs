//! Dialogs that others hit, that come in floods or of great length, and the one that must not be touched.

use serde_json::json;
use supervisor::supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor::supervisor_core::limits::{FLOOD_DIALOGS, MAX_SHOWN_TEXT};
use supervisor::{Code, DialogChoice, DialogPolicy, Event, Snapshot};

use super::{Scene, Set, Way};
use crate::talk::accept;

const OPENING: &str = "recv Page.javascriptDialogOpening";
const CLOSED: &str = "recv Page.javascriptDialogClosed";
const ANSWER: &str = "send Page.handleJavaScriptDialog";

pub(super) fn scenes() -> Vec<Scene> {
    vec![
        Scene::new(
            "answer-astray",
            "Another client closes the dialog while our answer is on its way: that hits the next one, and both say so.",
            &[OPENING, "host respond", ANSWER, CLOSED, OPENING, CLOSED],
            |set| Box::pin(astray(set)),
        )
        .by(Way::Wire),
        Scene::new(
            "flood-of-alerts",
            "A page opens more dialogs than anybody would: it is shown as flooding, and each is on record or counted.",
            &[OPENING, ANSWER, CLOSED],
            |set| Box::pin(flood(set)),
        )
        .with(|options| options.dialog_policy = DialogPolicy::AutoDismiss),
        Scene::new(
            "long-texts",
            "A long message and a long default text: both are shown cut, and the default goes back whole.",
            &[OPENING, "host respond", ANSWER],
            |set| Box::pin(long_texts(set)),
        ),
        Scene::new(
            "oopif-removed-with-a-dialog",
            "An iframe of another process is removed with its dialog open: whatever is done to the page now ends the browser, so nothing is offered and nothing sent.",
            &[OPENING, "recv Page.frameDetached remove"],
            |set| Box::pin(removed(set)),
        ),
    ]
}

async fn astray(set: &mut Set) {
    set.open("a.test", "/").await;
    let session = set.other_client().await;
    let other = set.other();
    other.send("Page.enable", json!({}), Some(&session)).await;
    set.start(None, "window.answers = [confirm('first'), confirm('second')]").await;
    let first = set.dialog_where(|it| it.message == "first").await.id;
    let mut events = set.task.events();
    set.wire().pause();
    let (task, choice) = (set.task.clone(), DialogChoice { dialog_id: Some(first), target_id: None });
    let ours = tokio::spawn(async move { task.respond(choice, accept()).await });
    set.happened(&mut events, |it| matches!(it, Event::DialogAnswering { .. })).await;
    let theirs = json!({ "accept": false });
    other.send("Page.handleJavaScriptDialog", theirs, Some(&session)).await;
    other.event_where("Page.javascriptDialogOpening", |it| it["params"]["message"] == "second").await;
    set.wire().resume();
    let failure = ours.await.unwrap().unwrap_err();
    let second = failure.detail.misdirected_to.unwrap();
    assert_eq!(failure.code, Code::AlreadyClosed);
    assert_eq!(set.ended(second).await.reason, Some(Reason::StrayAnswer));
    assert_eq!(set.value(None, "answers").await, json!([false, true]));
}

async fn flood(set: &Set) {
    set.open("a.test", "/").await;
    let count = FLOOD_DIALOGS + 1;
    set.start(None, &format!("for (let n = 0; n < {count}; n++) alert(n)")).await;
    let floods = |it: &Snapshot| it.pages[0].flooding && it.counts.dialogs_seen == u64::from(count);
    set.until(floods).await;
    set.until(|it| it.pending_dialogs.is_empty()).await;
}

async fn long_texts(set: &Set) {
    set.open("a.test", "/").await;
    let held = set.ask(None, "prompt('m'.repeat(20000), 'd'.repeat(20000)).length").await;
    assert_eq!((held.dialog.message.len(), held.dialog.full_length), (MAX_SHOWN_TEXT, Some(10_240)));
    set.answer_to(held.dialog.id, accept()).await.unwrap();
    assert_eq!(set.late(held.call).await, json!(20_000));
}

async fn removed(set: &Set) {
    set.open("a.test", "/far").await;
    let far = set.frame_loaded("far").await.frame_id;
    set.start(Some(&far), "alert('left')").await;
    let dialog = set.dialog().await;
    set.value(None, "document.querySelector('iframe').remove()").await;
    let ended = set.ended(dialog.id).await;
    assert_eq!((ended.closed_by, ended.reason), (Some(ClosedBy::Remote), Some(Reason::TargetGone)));
    let deadly = |it: &Snapshot| {
        let blocked = it.pages[0].blocked.as_ref();
        blocked.is_some_and(|it| it.reason == Unanswerable::FrameRemoved && it.remedies.is_empty())
    };
    set.until(deadly).await;
}
