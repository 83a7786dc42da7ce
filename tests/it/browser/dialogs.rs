//! What each kind of dialog shows, and what the page gets for each answer.

use integration_tests::{Stage, accept, accept_with, dismiss};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::{ClosedBy, Source};
use supervisor::{Code, DialogType};

async fn stage() -> Stage {
    let stage = Stage::new(Site::new().page("/", "<title>page</title><h1>page</h1>")).await;
    stage.open("a.test", "/").await;
    stage
}

/// Rows 1 and 2.
// Fault D9
#[tokio::test(flavor = "multi_thread")]
async fn s001_an_alert_is_pending_with_all_its_fields_and_ends_once_as_the_agents() {
    let stage = stage().await;
    let held = stage.ask(None, "alert('yo')").await;
    let snapshot = stage.task.snapshot();
    assert_eq!(snapshot.pending_dialogs.as_slice(), std::slice::from_ref(&held.dialog));
    let dialog = &held.dialog;
    assert_eq!((dialog.kind, &*dialog.message, &*dialog.default_prompt), (DialogType::Alert, "yo", ""));
    assert_eq!((dialog.source, dialog.answerable), (Source::Native, true));
    let top = snapshot.frame_tree.top.clone().unwrap();
    assert!(stage.is_of_frame(dialog, &top.frame_id));
    assert_eq!((&dialog.target_id, &dialog.url), (&top.target_id, &top.url));

    let answered = stage.answer(accept()).await;
    assert_eq!((answered.accepted, answered.dialog.closed_by), (true, Some(ClosedBy::Agent)));
    assert_eq!(stage.late(held.call).await, Value::Null);
    for number in 1..=2 {
        assert_eq!(stage.value(None, &number.to_string()).await, json!(number));
    }
    let snapshot = stage.task.snapshot();
    assert_eq!(snapshot.recent_dialogs.as_slice(), [answered.dialog]);
    assert_eq!((snapshot.pending_dialogs.len(), snapshot.counts.dialogs_seen), (0, 1));
    stage.end().await;
}

/// Rows 3 and 10.
#[tokio::test(flavor = "multi_thread")]
async fn s003_s010_a_confirm_gives_what_was_answered() {
    let stage = stage().await;
    for (action, accepted) in [(dismiss(), false), (accept(), true)] {
        let held = stage.ask(None, "confirm('sure?')").await;
        assert_eq!(held.dialog.kind, DialogType::Confirm);
        let answered = stage.answer(action).await;
        assert_eq!(answered.dialog.accepted, Some(accepted));
        assert_eq!(stage.late(held.call).await, json!(accepted));
        assert_eq!(stage.ended(held.dialog.id).await.closed_by, Some(ClosedBy::Agent));
    }
    stage.end().await;
}

/// Rows 6 to 9.
// Fault D14
#[tokio::test(flavor = "multi_thread")]
async fn s006_to_s009_a_prompt_gives_the_text_the_default_nothing_or_null() {
    let stage = stage().await;
    let cases = [
        (accept_with("answer!"), json!("answer!"), Some("answer!")),
        (accept(), json!("yes."), Some("yes.")),
        (accept_with(""), json!(""), Some("")),
        (dismiss(), Value::Null, None),
    ];
    for (action, page_gets, user_input) in cases {
        let held = stage.ask(None, "prompt('question?', 'yes.')").await;
        assert_eq!((held.dialog.kind, &*held.dialog.default_prompt), (DialogType::Prompt, "yes."));
        let answered = stage.answer(action.clone()).await;
        assert_eq!(answered.dialog.user_input.as_deref(), user_input, "{action:?}");
        assert_eq!(stage.late(held.call).await, page_gets, "{action:?}");
    }
    stage.end().await;
}

/// Row 11.
#[tokio::test(flavor = "multi_thread")]
async fn s011_a_message_that_is_no_string_is_shown_as_the_page_would() {
    let stage = stage().await;
    for (expression, message) in
        [("alert()", ""), ("alert({})", "[object Object]"), ("confirm(undefined)", "")]
    {
        let held = stage.ask(None, expression).await;
        assert_eq!(held.dialog.message, message, "{expression}");
        stage.answer(accept()).await;
    }
    stage.end().await;
}

/// Row 17.
#[tokio::test(flavor = "multi_thread")]
async fn s017_an_answer_to_nothing_says_so_and_sends_nothing() {
    let stage = stage().await;
    let mut events = stage.task.events();
    let failure = stage.task.respond(Default::default(), accept()).await.unwrap_err();
    assert_eq!(failure.code, Code::NoDialog);
    // An answer that is sent is an event; an evaluation after it is one for certain.
    stage.value(None, "1").await;
    while let Some(observed) = events.try_recv() {
        assert!(!format!("{observed:?}").contains("handleJavaScriptDialog"), "{observed:?}");
    }
    stage.end().await;
}

/// Row 40.
// Fault D8
#[tokio::test(flavor = "multi_thread")]
async fn s040_a_second_answer_is_told_who_was_first() {
    let stage = stage().await;
    let held = stage.ask(None, "confirm('once')").await;
    stage.answer_to(held.dialog.id, accept()).await.unwrap();
    let failure = stage.answer_to(held.dialog.id, dismiss()).await.unwrap_err();
    assert_eq!((failure.code, failure.detail.won_by.as_deref()), (Code::AlreadyClosed, Some("agent")));
    assert_eq!(failure.detail.cdp, None);
    assert_eq!(stage.late(held.call).await, json!(true));
    stage.end().await;
}

/// Row 42. The browser itself cuts messages at 10,240 UTF-16 units and repairs lone surrogates.
// Fault D15
#[tokio::test(flavor = "multi_thread")]
async fn s042_a_long_message_is_cut_says_so_and_stays_valid_json() {
    let stage = stage().await;
    let held = stage.ask(None, r"alert('\u00e9\ud800' + 'x'.repeat(20000))").await;
    let dialog = held.dialog;
    assert!(dialog.message.starts_with("é\u{fffd}xxx"), "{}", &dialog.message[..16]);
    assert!(dialog.truncated && dialog.message.len() <= 4096);
    assert!(dialog.full_length.unwrap() >= 10_000, "{:?}", dialog.full_length);
    let written = serde_json::to_string(&*stage.task.snapshot()).unwrap();
    let read: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(read["pending_dialogs"][0]["message"], json!(dialog.message));
    stage.answer(accept()).await;
    stage.end().await;
}

/// A default text is shown cut, and sent back whole.
// Fault D15
#[tokio::test(flavor = "multi_thread")]
async fn a_long_default_text_comes_back_to_the_page_whole() {
    let stage = stage().await;
    let held = stage.ask(None, "prompt('?', 'y'.repeat(200000)).length").await;
    assert!(held.dialog.default_prompt.len() <= 4096);
    stage.answer(accept()).await;
    assert_eq!(stage.late(held.call).await, json!(200_000));
    stage.end().await;
}
