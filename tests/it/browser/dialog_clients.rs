//! Beside other clients of the same browser, and beside a second task of our own.

use integration_tests::{Held, Proxy, RawClient, Stage, accept, dismiss, patience};
use page_server::Site;
use serde_json::{Value, json};
use supervisor::supervisor_core::dialog::{ClosedBy, Reason};
use supervisor::{Code, DialogChoice, Event, Options};

/// A stage, and another client that is attached to its page with `Page` enabled.
async fn stage() -> (Stage, RawClient, String) {
    let stage = Stage::new(Site::new().page("/", "<p>page")).await;
    stage.open("a.test", "/").await;
    let other = RawClient::connect(stage.browser.ws_url()).await;
    let session = other.attach(stage.page().target_id.as_str()).await;
    let enabled = other.send("Page.enable", json!({}), Some(&session)).await;
    assert!(enabled["result"].is_object(), "{enabled}");
    (stage, other, session)
}

async fn handle(other: &RawClient, session: &str, accept: bool) -> Value {
    other.send("Page.handleJavaScriptDialog", json!({ "accept": accept }), Some(session)).await
}

/// Rows 18 and 21: the other client may be a proxy that dismisses every dialog.
// Fault D6 D8
#[tokio::test(flavor = "multi_thread")]
async fn s018_s021_a_dialog_that_another_client_closes_is_not_pending_any_more() {
    let (stage, other, session) = stage().await;
    for accepts in [true, false] {
        let held = stage.ask(None, "confirm('whose?')").await;
        let reply = handle(&other, &session, accepts).await;
        assert!(reply["result"].is_object(), "{reply}");
        let ended = stage.ended(held.dialog.id).await;
        assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(accepts)));
        assert!(stage.task.snapshot().pending_dialogs.is_empty());
        let late = stage.answer_to(held.dialog.id, accept()).await.unwrap_err();
        assert_eq!((late.code, late.detail.won_by.as_deref()), (Code::AlreadyClosed, Some("remote")));
        assert_eq!(stage.late(held.call).await, json!(accepts));
        // That nothing else did it is only known after a while.
        let is_told = |reason| reason == Some(Reason::OtherClient);
        stage.until(|it| it.recent_dialogs.last().is_some_and(|it| is_told(it.reason))).await;
    }
    other.close().await;
    stage.end().await;
}

/// Row 19.
// Fault D11
#[tokio::test(flavor = "multi_thread")]
async fn s019_a_page_with_several_sessions_has_one_dialog() {
    let (stage, other, session) = stage().await;
    let params = json!({ "targetId": stage.page().target_id, "flatten": true });
    let refused = stage.call("Target.attachToTarget", params).await.unwrap_err();
    assert_eq!(refused.code, Code::Refused);
    let held = stage.ask(None, "confirm('one')").await;
    other.event("Page.javascriptDialogOpening").await;
    assert_eq!(stage.task.snapshot().pending_dialogs.len(), 1);
    stage.answer(accept()).await;
    other.event("Page.javascriptDialogClosed").await;
    assert_eq!(stage.late(held.call).await, json!(true));
    let snapshot = stage.task.snapshot();
    assert_eq!((snapshot.recent_dialogs.len(), snapshot.counts.dialogs_seen), (1, 1));
    let late = handle(&other, &session, false).await;
    assert_eq!(late["error"]["code"], json!(-32602), "{late}");
    other.close().await;
    stage.end().await;
}

/// Row 20: who was first is the same for the page, for the record, and for both who answered.
// Fault D8 D10
#[tokio::test(flavor = "multi_thread")]
async fn s020_of_two_clients_that_answer_one_wins_and_the_other_is_told() {
    let (stage, other, session) = stage().await;
    for round in 0..10 {
        let Held { dialog, call } = stage.ask(None, "confirm('race')").await;
        let theirs = other.post("Page.handleJavaScriptDialog", json!({ "accept": false }), Some(&session));
        let ours = stage.answer_to(dialog.id, accept()).await;
        let theirs = other.reply(theirs).await;
        let we_won = theirs["error"]["code"] == json!(-32602);
        assert_eq!(ours.is_ok(), we_won, "round {round}: {ours:?}, {theirs}");
        assert_eq!(stage.late(call).await, json!(we_won), "round {round}");
        let by = if we_won { ClosedBy::Agent } else { ClosedBy::Remote };
        assert_eq!(stage.ended(dialog.id).await.closed_by, Some(by), "round {round}");
        if let Err(failure) = ours {
            assert_eq!(
                (failure.code, failure.detail.won_by.as_deref()),
                (Code::AlreadyClosed, Some("remote"))
            );
        }
    }
    other.close().await;
    stage.end().await;
}

/// Waits until the other client was told of one dialog more.
async fn opened_after(other: &RawClient, seen: usize) {
    let opened = async {
        while other.events("Page.javascriptDialogOpening") == seen {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(patience(), opened).await.unwrap();
}

/// CDP's answer names no dialog. Ours is on its way while another client closes the dialog and the page opens the next: the
/// browser takes ours for that one. Both dialogs say so.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_hits_the_next_dialog_is_told_on_both() {
    let (mut stage, other, session) = stage().await;
    let url = stage.browser.ws_url().to_owned();
    let port = url.split('/').nth(2).and_then(|host| host.rsplit_once(':')).unwrap().1.parse().unwrap();
    let proxy = Proxy::to(port).await;
    stage.rejoin(&proxy.through(&url), Options::default()).await;
    stage.until(|it| it.frame_tree.top.is_some()).await;
    for theirs in [false, true] {
        let asks = "void setTimeout(() => { window.answers = [confirm('first'), confirm('second')] })";
        stage.value(None, asks).await;
        let first = stage.dialog_where(|it| it.message == "first").await.id;
        let mut events = stage.task.events();
        proxy.pause();
        let (task, choice) = (stage.task.clone(), DialogChoice { dialog_id: Some(first), target_id: None });
        let ours = tokio::spawn(async move { task.respond(choice, accept()).await });
        stage.happened(&mut events, |it| matches!(it, Event::DialogAnswering { .. })).await;
        let seen = other.events("Page.javascriptDialogOpening");
        assert!(handle(&other, &session, theirs).await["result"].is_object());
        opened_after(&other, seen).await;
        proxy.resume();
        let failure = ours.await.unwrap().unwrap_err();
        assert_eq!((failure.code, failure.detail.won_by.as_deref()), (Code::AlreadyClosed, Some("remote")));
        let second = failure.detail.misdirected_to.unwrap();
        let ended = stage.ended(first).await;
        assert_eq!((ended.closed_by, ended.accepted), (Some(ClosedBy::Remote), Some(theirs)));
        let hit = stage.ended(second).await;
        assert_eq!(
            (&*hit.message, hit.closed_by, hit.accepted),
            ("second", Some(ClosedBy::Remote), Some(true))
        );
        assert_eq!(hit.reason, Some(Reason::StrayAnswer));
        assert_eq!(stage.value(None, "answers").await, json!([theirs, true]));
    }
    other.close().await;
    stage.end().await;
}

// Fault D19
#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_on_one_page_both_see_its_dialog_and_one_answers() {
    let (stage, other, _) = stage().await;
    other.close().await;
    let second = stage.supervisor.get_or_start("second", stage.browser.ws_url(), Options::default()).await;
    let second = second.unwrap();
    assert!(!second.is_same(&stage.task));
    let patience = integration_tests::patience();
    second.wait_for(|snapshot| snapshot.frame_tree.top.is_some(), patience).await.unwrap();
    let held = stage.ask(None, "confirm('for both')").await;
    let seen = second.wait_for(|snapshot| snapshot.pending_dialogs.len() == 1, patience).await.unwrap();
    assert_eq!(seen.pending_dialogs[0].message, "for both");

    let answered = second.respond(Default::default(), dismiss()).await.unwrap();
    assert_eq!(answered.dialog.closed_by, Some(ClosedBy::Agent));
    let told = |reason| reason == Some(Reason::OtherClient);
    let snapshot = stage.until(|it| it.recent_dialogs.first().is_some_and(|it| told(it.reason))).await;
    let [ended] = snapshot.recent_dialogs.as_slice() else { panic!("{:?}", snapshot.recent_dialogs) };
    assert_eq!((ended.id, ended.closed_by), (held.dialog.id, Some(ClosedBy::Remote)));
    assert_eq!(stage.late(held.call).await, json!(false));
    stage.end().await;
}
