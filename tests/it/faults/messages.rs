//! What is a WebSocket message, and no CDP message, or an odd one.

use integration_tests::{Manner, PAGE, SESSION};
use serde_json::{Value, json};
use supervisor::{Code, EvalOptions, EvalValue, Failure, TargetId};
use tokio::task::JoinHandle;

use super::{Faulted, in_time};

/// Deeper than any parser's stack would like.
const DEPTH: usize = 100_000;

/// Each is counted as a violation, nothing else becomes of it, and the connection stays.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_cdp_message_is_counted_and_harms_nothing() {
    let nested = |open: &str| format!(r#"{{"id":{}"#, open.repeat(DEPTH));
    let texts: Vec<String> = [
        "",
        "no json",
        "null",
        "true",
        "42",
        "\"x\"",
        "[]",
        "{}",
        "{",
        "{\"id\":",
        "[{\"id\":1}]",
        "\u{feff}{}",
        r#"{"id":"1","result":{}}"#,
        r#"{"id":-1,"result":{}}"#,
        r#"{"id":1.5,"result":{}}"#,
        r#"{"id":1e99,"result":{}}"#,
        r#"{"id":18446744073709551616,"result":{}}"#,
        r#"{"id":null,"result":{}}"#,
        r#"{"id":2147483000,"result":{}}"#,
        r#"{"id":2147483000,"error":{"code":-1,"message":"to nothing"}}"#,
        r#"{"result":{}}"#,
        r#"{"method":5}"#,
        r#"{"method":null,"params":{}}"#,
        r#"{"method":"Page.javascriptDialogOpening","params":{},"sessionId":5}"#,
        r#"{"method":"Page.javascriptDialogOpening","params":{},"sessionId":"NEVER"}"#,
        r#"{"method":"Page.frameNavigated","params":{},"sessionId":""}"#,
    ]
    .map(str::to_owned)
    .into_iter()
    .chain([nested("["), nested(r#"{"a":"#), "[".repeat(DEPTH), format!("{}\u{0}", "{}")])
    .collect();
    let faulted = Faulted::start(Manner::Browser).await;
    for text in texts {
        let before = faulted.violations();
        faulted.connection.send_text(text.clone());
        faulted.serves().await;
        let shown: String = text.chars().take(60).collect();
        assert_eq!(faulted.violations(), before + 1, "{shown}");
    }
}

/// Events of the page whose parameters are missing, of other types, or nested beyond reason.
#[tokio::test(flavor = "multi_thread")]
async fn events_with_odd_parameters_are_counted_and_harm_nothing() {
    let deep = format!("{}{}", "[".repeat(DEPTH), "]".repeat(DEPTH));
    let odd = ["{}", "null", "5", "[]", r#"{"frameId":5,"frame":5,"targetInfo":[],"message":{}}"#, &deep];
    let methods = [
        "Page.javascriptDialogOpening",
        "Page.javascriptDialogClosed",
        "Page.frameAttached",
        "Page.frameNavigated",
        "Page.frameDetached",
        "Target.attachedToTarget",
        "Target.detachedFromTarget",
        "Runtime.executionContextCreated",
        "Runtime.executionContextDestroyed",
        "Runtime.exceptionThrown",
        "Log.entryAdded",
        "Target.targetInfoChanged",
    ];
    let faulted = Faulted::start(Manner::Browser).await;
    for method in methods {
        let before = faulted.violations();
        for params in odd {
            faulted
                .connection
                .send_text(format!(r#"{{"method":"{method}","params":{params},"sessionId":"{SESSION}"}}"#));
        }
        faulted.serves().await;
        let counted = usize::try_from(faulted.violations() - before).unwrap();
        assert!((1..=odd.len()).contains(&counted), "{method}: {counted}");
    }
    assert_eq!(faulted.task.frames(None).unwrap().len(), 1, "nothing was made up");
    assert!(faulted.task.snapshot().pending_dialogs.is_empty());
}

fn number(value: u64) -> Value {
    json!({ "result": { "type": "number", "value": value } })
}

/// Calls, and gives the command as it arrived.
async fn called(faulted: &mut Faulted) -> (JoinHandle<Result<EvalValue, Failure>>, Value) {
    let task = faulted.task.clone();
    let call = tokio::spawn(async move { task.eval(None, "slow()", EvalOptions::default()).await });
    (call, faulted.connection.command("Runtime.evaluate").await)
}

/// The first answer counts. Whatever comes later with its id is late, and nobody's.
#[tokio::test(flavor = "multi_thread")]
async fn a_second_reply_to_a_call_is_nobodys() {
    let mut faulted = Faulted::start(Manner::NoScripts).await;
    let (call, command) = called(&mut faulted).await;
    for value in [1, 2, 3] {
        faulted.connection.reply(&command, number(value));
    }
    assert_eq!(in_time(call).await.unwrap().unwrap().value.get(), "1");
    faulted.until(|it| it.counts.meters.late_messages == 2).await;
}

/// Browsers leave the session out of a reply when it is gone. One that names another session is a violation, and no reply.
#[tokio::test(flavor = "multi_thread")]
async fn a_reply_is_found_by_its_id_and_may_not_name_another_session() {
    let mut faulted = Faulted::start(Manner::NoScripts).await;
    let (call, mut command) = called(&mut faulted).await;
    command["sessionId"] = json!("ANOTHER");
    faulted.connection.reply(&command, number(1));
    faulted.until(|it| it.counts.meters.protocol_violations == 1).await;
    command.as_object_mut().unwrap().remove("sessionId");
    faulted.connection.reply(&command, number(2));
    assert_eq!(in_time(call).await.unwrap().unwrap().value.get(), "2");
}

/// A result without what it must have ends the call, and not as if it had succeeded.
#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_is_none_is_an_error_of_the_browser() {
    let mut faulted = Faulted::start(Manner::NoScripts).await;
    for result in
        [json!({}), json!([]), json!("x"), json!({ "result": 5 }), json!({ "result": { "type": 5 } })]
    {
        let (call, command) = called(&mut faulted).await;
        faulted.connection.reply(&command, result.clone());
        let failure = in_time(call).await.unwrap().unwrap_err();
        assert_eq!(failure.code, Code::CdpError, "{result}: {failure}");
    }
}

fn attached(session: &str, target: &str) -> Value {
    json!({ "method": "Target.attachedToTarget", "params": { "sessionId": session, "waitingForDebugger": false,
        "targetInfo": { "targetId": target, "type": "page", "title": "", "url": "", "attached": true,
            "canAccessOpener": false } } })
}

fn detached(session: &str) -> Value {
    json!({ "method": "Target.detachedFromTarget", "params": { "sessionId": session } })
}

/// Sessions that come twice, end twice, or end without having come.
#[tokio::test(flavor = "multi_thread")]
async fn sessions_out_of_order_leave_the_page_as_it_is() {
    let faulted = Faulted::start(Manner::Browser).await;
    let odd = [
        attached(SESSION, PAGE),
        attached(SESSION, "OTHER"),
        detached("NEVER"),
        detached(""),
        attached("S2", "P2"),
        detached("S2"),
        detached("S2"),
    ];
    for message in odd {
        faulted.connection.send(&message);
        faulted.serves().await;
    }
    let pages = &faulted.task.snapshot().pages;
    assert!(pages.iter().any(|page| page.target_id == TargetId::from(PAGE)), "{pages:?}");
    faulted.connection.send(&detached(SESSION));
    faulted.until(|it| it.pages.iter().all(|page| page.target_id != TargetId::from(PAGE))).await;
    let failure = faulted.task.eval(None, "1", EvalOptions::default()).await.unwrap_err();
    assert!(matches!(failure.code, Code::PageGone | Code::FrameNotFound), "{failure}");
}
