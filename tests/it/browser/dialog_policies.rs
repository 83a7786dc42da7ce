//! Who answers: the policy, the watchdog, or the host one after the other.

use std::time::Duration;

use integration_tests::{Stage, accept, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::ClosedBy;
use supervisor::{Code, DialogPolicy, DialogType, Event, EventStream, Observed, Options};
use tokio::time::timeout;

fn policy(policy: DialogPolicy) -> Options {
    let mut options = Options::default();
    options.dialog_policy = policy;
    options
}

async fn stage(options: Options) -> Stage {
    let loading = "<script>for (const n of [1, 2, 3]) alert(n); document.write('<p>done')</script>";
    let stage = Stage::with(Site::demo().page("/blank", "<h1>page").page("/loading", loading), options).await;
    stage.open("a.test", "/blank").await;
    stage
}

/// The messages of the next `count` dialogs, in the order in which they opened. Fails when one opens before the one
/// before it has ended.
async fn one_by_one(mut events: EventStream, count: usize) -> Vec<String> {
    let mut messages = Vec::new();
    let mut open = None;
    while messages.len() < count || open.is_some() {
        let observed = timeout(patience(), events.recv()).await;
        let observed = observed.unwrap_or_else(|_| panic!("after {messages:?} nothing came"));
        let Some(Observed::Event(recorded)) = observed else { panic!("{observed:?}") };
        match &recorded.event {
            Event::DialogOpened { id, dialog, .. } => {
                assert_eq!(open.replace(*id), None, "two dialogs at once");
                messages.push(dialog.message.text.clone());
            }
            Event::DialogEnded { id, .. } => assert_eq!(open.take(), Some(*id)),
            _ => {}
        }
    }
    messages
}

/// Rows 4 and 5.
#[tokio::test(flavor = "multi_thread")]
async fn s004_s005_auto_dismiss_needs_nobody_and_is_recorded() {
    let stage = stage(policy(DialogPolicy::AutoDismiss)).await;
    let cases = [
        ("alert('yo')", DialogType::Alert, Value::Null),
        ("prompt('question?', 'default')", DialogType::Prompt, Value::Null),
        ("confirm('sure?')", DialogType::Confirm, json!(false)),
    ];
    for (expression, kind, page_gets) in cases {
        let held = stage.ask(None, expression).await;
        let ended = stage.ended(held.dialog.id).await;
        assert_eq!((ended.kind, ended.closed_by), (kind, Some(ClosedBy::AutoPolicy)));
        assert_eq!((ended.accepted, ended.user_input), (Some(false), None));
        assert_eq!(stage.late(held.call).await, page_gets);
    }
    assert!(stage.task.snapshot().pending_dialogs.is_empty());
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn auto_accept_gives_a_prompt_its_default_and_is_recorded() {
    let stage = stage(policy(DialogPolicy::AutoAccept)).await;
    for (expression, page_gets) in
        [("confirm('sure?')", json!(true)), ("prompt('?', 'default')", json!("default"))]
    {
        let held = stage.ask(None, expression).await;
        let ended = stage.ended(held.dialog.id).await;
        assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::AutoPolicy), Some(true)));
        assert_eq!(stage.late(held.call).await, page_gets);
    }
    stage.end().await;
}

/// The default policy leaves a decision to the host, whatever kind it is.
// Fault D13
#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_answered_that_nobody_answered() {
    let stage = stage(Options::default()).await;
    let held = stage.ask(None, "confirm('delete everything?')").await;
    // Whoever would answer by themselves would have done so before a round trip was over.
    stage.call("Browser.getVersion", json!({})).await.unwrap();
    assert_eq!(stage.task.snapshot().pending_dialogs.as_slice(), [held.dialog]);
    assert!(stage.task.snapshot().recent_dialogs.is_empty());
    stage.answer(accept()).await;
    stage.end().await;
}

/// Row 38, with two seconds instead of five minutes.
// Fault D10
#[tokio::test(flavor = "multi_thread")]
async fn s038_the_watchdog_dismisses_and_a_late_answer_is_told() {
    let mut options = Options::default();
    options.dialog_timeout = Duration::from_secs(2);
    let stage = stage(options).await;
    let held = stage.ask(None, "confirm('anybody?')").await;
    let ended = stage.ended(held.dialog.id).await;
    assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Watchdog), Some(false)));
    assert!(ended.closed_at.unwrap() - ended.opened_at >= 2.0, "{ended:?}");
    assert_eq!(stage.late(held.call).await, json!(false));
    let late = stage.answer_to(held.dialog.id, accept()).await.unwrap_err();
    assert_eq!((late.code, late.detail.won_by.as_deref()), (Code::AlreadyClosed, Some("watchdog")));
    stage.end().await;
}

/// Row 13, answered by the host.
#[tokio::test(flavor = "multi_thread")]
async fn s013_alerts_of_a_loading_document_come_in_order_and_the_rest_of_it_loads() {
    let stage = stage(Options::default()).await;
    let events = stage.task.events();
    let url = stage.pages.url("a.test", "/loading");
    stage.value(None, &format!("setTimeout(() => location.href = '{url}')")).await;
    for number in 1..=3 {
        let dialog = stage.dialog_where(|dialog| dialog.message == number.to_string()).await;
        stage.answer_to(dialog.id, accept()).await.unwrap();
    }
    assert_eq!(one_by_one(events, 3).await, ["1", "2", "3"]);
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("done"));
    stage.end().await;
}

/// Row 13, answered by the policy.
#[tokio::test(flavor = "multi_thread")]
async fn s013_alerts_of_a_loading_document_are_accepted_in_order() {
    let stage = stage(policy(DialogPolicy::AutoAccept)).await;
    let events = stage.task.events();
    let url = stage.pages.url("a.test", "/loading");
    stage.value(None, &format!("setTimeout(() => location.href = '{url}')")).await;
    assert_eq!(one_by_one(events, 3).await, ["1", "2", "3"]);
    assert_eq!(stage.value(None, "document.body.innerText").await, json!("done"));
    stage.end().await;
}

/// Row 14.
// Fault D7
#[tokio::test(flavor = "multi_thread")]
async fn s014_queued_alerts_come_one_at_a_time_each_with_its_own_id() {
    let stage = stage(Options::default()).await;
    let events = stage.task.events();
    stage.value(None, "for (const n of [1, 2, 3, 4]) setTimeout(() => alert(n))").await;
    let mut ids = Vec::new();
    for number in 1..=4 {
        let dialog = stage.dialog_where(|dialog| dialog.message == number.to_string()).await;
        assert_eq!(stage.task.snapshot().pending_dialogs.len(), 1);
        let answered = stage.answer_to(dialog.id, accept()).await.unwrap();
        assert_eq!((answered.dialog.id, answered.dialog.closed_by), (dialog.id, Some(ClosedBy::Agent)));
        ids.push(dialog.id);
    }
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:?}");
    assert_eq!(one_by_one(events, 4).await, ["1", "2", "3", "4"]);
    stage.end().await;
}

fn a_hundred() -> Vec<String> {
    (1..=100).map(|number| format!("Alert {number} of 100")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_alerts_are_all_seen_in_order_and_answered_by_the_host() {
    let stage = stage(Options::default()).await;
    stage.open("a.test", "/loop").await;
    let events = tokio::spawn(one_by_one(stage.task.events(), 100));
    stage.value(None, "raise()").await;
    for message in a_hundred() {
        let dialog = stage.dialog_where(|dialog| dialog.message == message).await;
        let answered = stage.answer_to(dialog.id, accept()).await.unwrap();
        assert_eq!(answered.dialog.closed_by, Some(ClosedBy::Agent));
    }
    assert_eq!(events.await.unwrap(), a_hundred());
    assert_eq!(stage.value(None, "answer").await, json!(100));
    assert_eq!(stage.task.snapshot().counts.dialogs_seen, 100);
    stage.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hundred_alerts_are_all_seen_in_order_and_accepted_by_the_policy() {
    let stage = stage(policy(DialogPolicy::AutoAccept)).await;
    stage.open("a.test", "/loop").await;
    let events = tokio::spawn(one_by_one(stage.task.events(), 100));
    stage.value(None, "raise()").await;
    assert_eq!(events.await.unwrap(), a_hundred());
    assert_eq!(stage.value(None, "answer").await, json!(100));
    let snapshot = stage.task.snapshot();
    assert_eq!((snapshot.counts.dialogs_seen, snapshot.recent_dialogs.len()), (100, 20));
    assert!(snapshot.recent_dialogs.iter().all(|it| it.closed_by == Some(ClosedBy::AutoPolicy)));
    stage.end().await;
}
