//! Calls: their results, and how they end without one.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor::supervisor_core::call::CallEnd;
use supervisor::{Action, Code, DialogChoice, EvalOptions, Event, LateResult, Place, Status};

use crate::life::{connected, pending};
use crate::peer::{LIMIT, PAGE, Peer, SESSION, within};

#[tokio::test]
async fn a_result_is_the_browsers_text_with_lone_surrogates_repaired() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    let call = task.call(Place::Frame(PAGE.into()), "DOM.getDocument", r#"{"depth":1}"#, None);
    let (result, ()) = tokio::join!(within(call), async {
        let command = connection.command("DOM.getDocument").await;
        assert_eq!((&command["params"], &command["sessionId"]), (&json!({"depth": 1}), &json!(SESSION)));
        let id = &command["id"];
        let text = format!(r#"{{"id":{id},"result":{{ "root":"é \ud800" }},"sessionId":"{SESSION}"}}"#);
        connection.send_raw(tokio_tungstenite::tungstenite::Message::text(text));
    });
    let result = result.unwrap();
    assert_eq!(result.result.get(), r#"{ "root":"é \ufffd" }"#);
    assert_eq!(result.frame_id.unwrap().as_str(), PAGE);
    assert_eq!(result.session_id.unwrap().as_str(), SESSION);
}

#[tokio::test]
async fn a_large_result_arrives_whole() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    // Above tungstenite's own limits for a frame and a message.
    let text = "x".repeat(70 << 20);
    let eval = task.eval(None, "big", EvalOptions::default());
    let (value, ()) = tokio::join!(within(eval), async {
        let command = connection.command("Runtime.evaluate").await;
        connection.reply(&command, &json!({"result": {"type": "string", "value": text}}));
    });
    let value = value.unwrap();
    assert_eq!((value.kind.as_str(), value.value.get().len()), ("string", text.len() + 2));
}

#[tokio::test]
async fn a_call_that_a_dialog_interrupts_has_a_late_result() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    let eval = task.eval(None, "confirm('Sure?')", EvalOptions::default());
    let (interrupted, command) = tokio::join!(within(eval), async {
        let command = connection.command("Runtime.evaluate").await;
        connection.opens_dialog("confirm", "Sure?");
        command
    });
    let failure = interrupted.unwrap_err();
    assert_eq!(failure.code, Code::DialogOpened);
    let call_id = failure.detail.call_id.unwrap();
    assert_eq!(failure.detail.dialog.as_ref().unwrap().message, "Sure?");

    let again = task.result(call_id, None).await.unwrap_err();
    assert_eq!(again.code, Code::DialogOpened, "still held");
    let accept = Action::Accept { prompt_text: None };
    let (answered, _) =
        tokio::join!(task.respond(DialogChoice::default(), accept), connection.takes_answer());
    answered.unwrap();
    connection.reply(&command, &json!({"result": {"type": "boolean", "value": true}}));
    let late = within(task.result(call_id, None)).await.unwrap();
    let LateResult::Eval(value) = late else { panic!("a value") };
    assert!(value.value.parse::<bool>().unwrap());
    assert_eq!(task.result(call_id, None).await.unwrap_err().code, Code::UnknownCall, "handed out once");
}

#[tokio::test]
async fn a_late_result_is_kept_until_it_is_asked_for() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    let call = task.call(Place::Active, "Test.wait", "{}", None);
    let (interrupted, command) = tokio::join!(within(call), async {
        // Of an unknown command it is not known that it needs no renderer, so a dialog interrupts it.
        let command = connection.command("Test.wait").await;
        connection.opens_dialog("alert", "wait");
        command
    });
    let call_id = interrupted.unwrap_err().detail.call_id.unwrap();
    connection.closes_dialog(true);
    connection.reply(&command, &json!({"late": true}));
    // Messages are handled in order: once this dialog is seen, the result is kept.
    connection.opens_dialog("alert", "barrier");
    task.wait_for(|snapshot| snapshot.counts.dialogs_seen == 2, LIMIT).await.unwrap();
    let LateResult::Call(late) = within(task.result(call_id, None)).await.unwrap() else {
        panic!("a result")
    };
    assert_eq!(late.result.parse::<Value>().unwrap(), json!({"late": true}));
}

#[tokio::test]
async fn a_dialog_blocks_a_call_before_it_is_sent() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, connection) = connected(&mut peer).await;
    connection.opens_dialog("alert", "stop");
    pending(&task, 1).await;
    let failure = within(task.eval(None, "1", EvalOptions::default())).await.unwrap_err();
    assert_eq!(failure.code, Code::BlockedByDialog);
}

#[tokio::test]
async fn a_lost_connection_ends_calls() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    let call = task.call(Place::Active, "DOM.getDocument", "{}", None);
    let (result, ()) = tokio::join!(within(call), async {
        connection.command("DOM.getDocument").await;
        drop(connection);
    });
    assert_eq!(result.unwrap_err().code, Code::Disconnected);
}

#[tokio::test]
async fn stop_ends_calls() {
    let mut peer = Peer::start().await;
    let (supervisor, task, mut connection) = connected(&mut peer).await;
    let call = task.call(Place::Active, "DOM.getDocument", "{}", None);
    let (result, stopped) = tokio::join!(within(call), async {
        connection.command("DOM.getDocument").await;
        within(supervisor.stop("t")).await
    });
    assert!(stopped);
    assert_eq!(result.unwrap_err().code, Code::NotConnected);
    assert_eq!(task.snapshot().status.status, Status::Stopped);
}

#[tokio::test]
async fn a_call_ends_at_its_deadline() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, _connection) = connected(&mut peer).await;
    let limit = Some(Duration::from_millis(100));
    let failure = within(task.call(Place::Active, "DOM.getDocument", "{}", limit)).await.unwrap_err();
    assert_eq!(failure.code, Code::Timeout);
}

#[tokio::test]
async fn a_caller_that_leaves_frees_its_call() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    let mut events = task.events();
    let caller = tokio::spawn({
        let task = task.clone();
        async move { task.call(Place::Active, "DOM.getDocument", "{}", None).await }
    });
    connection.command("DOM.getDocument").await;
    caller.abort();
    let is_abandoned = |event: &Event| matches!(event, Event::CallEnded { end: CallEnd::Forgotten, .. });
    within(async {
        while let Some(observed) = events.recv().await {
            if matches!(&observed, supervisor::Observed::Event(recorded) if is_abandoned(&recorded.event)) {
                return;
            }
        }
        panic!("the call was not given up");
    })
    .await;
}

#[tokio::test]
async fn many_calls_at_once_get_their_own_results() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    let calls: Vec<_> = (0..200)
        .map(|n| {
            let task = task.clone();
            let params = json!({"n": n}).to_string();
            tokio::spawn(async move { task.call(Place::Active, "DOM.getDocument", params, None).await })
        })
        .collect();
    for _ in 0..calls.len() {
        let command = connection.command("DOM.getDocument").await;
        connection.reply(&command, &command["params"].clone());
    }
    for (n, call) in calls.into_iter().enumerate() {
        let result = within(call).await.unwrap().unwrap();
        assert_eq!(result.result.parse::<Value>().unwrap(), json!({"n": n}));
    }
}
