//! A peer that speaks CDP, and behaves badly.

use std::time::Duration;

use integration_tests::{Manner, ScriptedPeer};
use serde_json::json;
use supervisor::{Code, EvalOptions, Place, Stage, Status};

use super::{Faulted, in_time, start};

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_never_answers_is_the_handshake_within_the_limit() {
    let peer = ScriptedPeer::start(Manner::Silent).await;
    let failure = start(&peer.url(), Duration::from_millis(500)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.detail.stage),
        (Code::StartFailed, Some(Stage::Handshake)),
        "{failure}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_peer_that_answers_everything_with_an_error_is_quoted() {
    let peer = ScriptedPeer::start(Manner::Errors).await;
    let failure = start(&peer.url(), Duration::from_secs(10)).await.unwrap_err();
    assert_eq!(
        (failure.code, failure.detail.stage),
        (Code::StartFailed, Some(Stage::Handshake)),
        "{failure}"
    );
    assert!(failure.message.contains("Nothing works today"), "{failure}");
}

/// Its pages are there, and nothing on them works: calls fail with the browser's words, dialogs are seen, `stop` stops.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_on_which_everything_fails_is_shown_and_fails_calls() {
    let faulted = Faulted::start(Manner::ErrorsAfterHandshake).await;
    let call = faulted.task.call(Place::Active, "DOM.getDocument", "{}", None);
    let failure = in_time(call).await.unwrap_err();
    assert_eq!(failure.code, Code::CdpError, "{failure}");
    assert_eq!(failure.detail.cdp.unwrap().message, "Nothing works today");
    faulted.connection.opens_dialog("seen all the same");
    faulted.until(|it| it.pending_dialogs.len() == 1).await;
    let answer = faulted.task.respond(supervisor::DialogChoice::default(), integration_tests::accept());
    let refused = in_time(answer).await.unwrap_err();
    assert!(matches!(refused.code, Code::CdpError | Code::Unanswerable), "{refused}");
    assert!(in_time(faulted.supervisor.stop("t")).await);
}

/// A call that is never answered ends at its deadline, and what is beside it is not held up.
#[tokio::test(flavor = "multi_thread")]
async fn a_script_that_is_never_answered_times_out_and_holds_nobody_up() {
    let mut faulted = Faulted::start(Manner::NoScripts).await;
    let options = EvalOptions { await_promise: false, timeout: Some(Duration::from_millis(300)) };
    let never = faulted.task.eval(None, "1", options);
    let beside = faulted.task.call(Place::Active, "DOM.getDocument", "{}", None);
    let (never, beside) = in_time(async { tokio::join!(never, beside) }).await;
    assert_eq!(never.unwrap_err().code, Code::Timeout);
    beside.unwrap();
    // The answer comes after all, and is nobody's.
    let command = faulted.connection.command("Runtime.evaluate").await;
    faulted.connection.reply(&command, json!({ "result": { "type": "number", "value": 1 } }));
    faulted.until(|it| it.counts.meters.protocol_violations + it.counts.meters.late_messages > 0).await;
}

/// A browser whose socket is alive (its WebSocket layer answers pings) and that answers no command any more is asked for a
/// sign of life after `PROBE_EVERY`, and lost after `PROBE_WAIT`.
#[tokio::test(flavor = "multi_thread")]
async fn a_browser_that_hangs_behind_a_live_socket_is_lost() {
    let mut faulted = Faulted::start(Manner::HangsWhenProbed).await;
    let lost =
        faulted.task.wait_for(|it| it.status.status == Status::Reconnecting, Duration::from_secs(90)).await;
    let why = lost.unwrap().status.last_error.clone().unwrap();
    assert!(why.contains("no CDP command"), "{why}");
    faulted.until(|it| it.status.status == Status::Connected && it.frame_tree.top.is_some()).await;
    faulted.connection = faulted.peer.newest().await;
    faulted.serves().await;
}
