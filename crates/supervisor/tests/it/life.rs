//! The life of a task: start, share, rebind, lose, reconnect, stop.

use serde_json::json;
use supervisor::{
    Action, DialogChoice, DialogId, DialogPolicy, Observed, Options, Reconnect, RegistryMessage, Scope,
    Status, Supervisor, Task, TaskId,
};
use tokio_tungstenite::tungstenite::Message;

use crate::peer::{Connection, LIMIT, PAGE, Peer, within};

/// A task that is connected to a peer whose page is set up.
pub(crate) async fn connected(peer: &mut Peer) -> (Supervisor, Task, Connection) {
    let supervisor = Supervisor::start();
    let task = within(supervisor.get_or_start("t", &peer.url(), Options::default())).await.unwrap();
    task.wait_for(|snapshot| snapshot.frame_tree.top.is_some(), LIMIT).await.unwrap();
    let connection = peer.connection().await;
    (supervisor, task, connection)
}

pub(crate) async fn pending(task: &Task, count: usize) {
    task.wait_for(|snapshot| snapshot.pending_dialogs.len() == count, LIMIT).await.unwrap();
}

#[tokio::test]
async fn a_start_shows_the_page() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, _connection) = connected(&mut peer).await;
    let snapshot = task.snapshot();
    assert_eq!(snapshot.status.browser.as_deref(), Some("Chrome/156.0.0.0"));
    assert_eq!(snapshot.pages[0].target_id.as_str(), PAGE);
    assert_eq!(snapshot.frame_tree.top.as_ref().unwrap().origin, "https://example.com");
    assert_eq!(task.frames(None).unwrap().len(), 1);
    assert_eq!(task.frame_tree(None).unwrap(), *snapshot.frame_tree);
    assert!(task.console(None).errors.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_starts_share_one_connection() {
    let peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let starts: Vec<_> = (0..32)
        .map(|n| {
            let (supervisor, url) = (supervisor.clone(), format!("{}?signed={n}", peer.url()));
            tokio::spawn(async move { supervisor.get_or_start("t", &url, Options::default()).await })
        })
        .collect();
    let mut tasks = Vec::new();
    for start in starts {
        tasks.push(within(start).await.unwrap().unwrap());
    }
    assert!(tasks.iter().all(|task| task.is_same(&tasks[0])));
    assert_eq!(peer.accepted(), 1);
    assert_eq!(supervisor.tasks().await.len(), 1);
}

#[tokio::test]
async fn an_answer_reaches_the_page_and_comes_back() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, mut connection) = connected(&mut peer).await;
    connection.opens_dialog("prompt", "Name?");
    pending(&task, 1).await;
    let action = Action::Accept { prompt_text: Some("Ada".to_owned()) };
    let (answered, sent) =
        tokio::join!(task.respond(DialogChoice::default(), action), connection.takes_answer());
    assert_eq!(sent["params"], json!({"accept": true, "promptText": "Ada"}));
    let answered = answered.unwrap();
    assert!(answered.accepted && answered.next_dialog.is_none());
    assert_eq!(answered.dialog.id, DialogId(1));
    let snapshot = task.snapshot();
    assert!(snapshot.pending_dialogs.is_empty(), "what is read after an answer contains it");
    assert_eq!(snapshot.recent_dialogs[0].user_input.as_deref(), Some("Ada"));
}

#[tokio::test]
async fn stop_answers_first_and_closes_the_socket() {
    let mut peer = Peer::start().await;
    let (supervisor, task, mut connection) = connected(&mut peer).await;
    connection.opens_dialog("confirm", "Sure?");
    pending(&task, 1).await;
    let (stopped, answer) = tokio::join!(within(supervisor.stop("t")), connection.takes_answer());
    assert!(stopped);
    assert_eq!(answer["params"]["accept"], false);
    connection.closed().await;
    assert_eq!(task.snapshot().status.status, Status::Stopped);
    assert!(supervisor.get("t").await.is_none());
    assert!(!supervisor.stop("t").await, "there is no such task any more");
}

#[tokio::test]
async fn stop_is_bounded_when_the_browser_answers_nothing() {
    let mut peer = Peer::start().await;
    let (supervisor, task, connection) = connected(&mut peer).await;
    connection.opens_dialog("confirm", "Sure?");
    pending(&task, 1).await;
    let begin = std::time::Instant::now();
    assert!(within(supervisor.stop("t")).await);
    // The promise is a second; the rest is for a loaded machine.
    assert!(begin.elapsed().as_secs_f64() < 3.0, "{:?}", begin.elapsed());
    assert_eq!(task.snapshot().status.status, Status::Stopped);
}

#[tokio::test]
async fn ids_go_on_counting_after_a_stop() {
    let mut peer = Peer::start().await;
    let (supervisor, task, connection) = connected(&mut peer).await;
    connection.opens_dialog("alert", "one");
    pending(&task, 1).await;
    connection.closes_dialog(true);
    pending(&task, 0).await;
    supervisor.stop("t").await;
    let task = within(supervisor.get_or_start("t", &peer.url(), Options::default())).await.unwrap();
    let connection = peer.connection().await;
    task.wait_for(|snapshot| !snapshot.pages.is_empty(), LIMIT).await.unwrap();
    connection.opens_dialog("alert", "two");
    pending(&task, 1).await;
    assert_eq!(task.snapshot().pending_dialogs[0].id, DialogId(2));
}

#[tokio::test]
async fn another_endpoint_rebinds() {
    let (mut old_peer, mut new_peer) = (Peer::start().await, Peer::start().await);
    let (supervisor, old, mut old_connection) = connected(&mut old_peer).await;
    let new = within(supervisor.get_or_start("t", &new_peer.url(), Options::default())).await.unwrap();
    assert!(!old.is_same(&new));
    old_connection.closed().await;
    assert_eq!(old.snapshot().status.status, Status::Stopped);
    assert_eq!(new.snapshot().status.status, Status::Connected);
    let _connection = new_peer.connection().await;
    assert_eq!((old_peer.accepted(), new_peer.accepted()), (1, 1));
    let failure = old.eval(None, "1", supervisor::EvalOptions::default()).await.unwrap_err();
    assert_eq!(failure.code, supervisor::Code::NotConnected);
}

#[tokio::test]
async fn a_stop_overtakes_what_waits_for_a_rebind() {
    let (mut old_peer, new_peer) = (Peer::start().await, Peer::start().await);
    let (supervisor, _old, connection) = connected(&mut old_peer).await;
    connection.opens_dialog("confirm", "keeps the old binding from stopping at once");
    let url = new_peer.url();
    let rebind = supervisor.get_or_start("t", &url, Options::default());
    let (rebound, stopped) = within(async { tokio::join!(rebind, supervisor.stop("t")) }).await;
    assert!(stopped);
    assert_eq!(rebound.unwrap_err().code, supervisor::Code::NotConnected);
    assert!(supervisor.tasks().await.is_empty());
    assert_eq!(new_peer.accepted(), 0);
}

#[tokio::test]
async fn another_scope_rebinds_and_other_options_do_not() {
    let mut peer = Peer::start().await;
    let (supervisor, task, mut connection) = connected(&mut peer).await;
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoAccept;
    let same = within(supervisor.get_or_start("t", &peer.url(), options.clone())).await.unwrap();
    assert!(same.is_same(&task));
    connection.opens_dialog("confirm", "Sure?");
    let answer = connection.takes_answer().await;
    assert_eq!(answer["params"]["accept"], true, "the changed policy applies");
    options.scope = Scope::TargetId(PAGE.into());
    let refused = task.configure(options.clone()).await.unwrap_err();
    assert_eq!(refused.code, supervisor::Code::InvalidArgument);
    let other = within(supervisor.get_or_start("t", &peer.url(), options)).await.unwrap();
    assert!(!other.is_same(&task));
    connection.closed().await;
}

#[tokio::test]
async fn a_lost_connection_is_made_again() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, connection) = connected(&mut peer).await;
    connection.opens_dialog("alert", "hello");
    pending(&task, 1).await;
    let mut events = task.events();
    drop(connection);
    task.wait_for(|snapshot| snapshot.status.status == Status::Reconnecting, LIMIT).await.unwrap();
    let snapshot =
        task.wait_for(|snapshot| snapshot.status.status == Status::Connected, LIMIT).await.unwrap();
    assert_eq!(snapshot.recent_dialogs.len(), 1, "a reconnect keeps what is remembered");
    let _connection = peer.connection().await;
    assert_eq!(peer.accepted(), 2);
    let Some(Observed::Event(first)) = within(events.recv()).await else { panic!("an event") };
    assert!(first.seq > 0);
}

#[tokio::test]
async fn a_task_that_cannot_reconnect_fails_once_and_can_be_started_again() {
    let mut peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let mut options = Options::default();
    options.reconnect = Reconnect { tries: 0, ..Reconnect::default() };
    let task = within(supervisor.get_or_start("t", &peer.url(), options.clone())).await.unwrap();
    let mut events = task.events();
    drop(peer.connection().await);
    let failed = task.wait_for(|snapshot| snapshot.status.status == Status::Failed, LIMIT).await.unwrap();
    assert!(failed.status.reason.is_some() && failed.status.stale);
    within(async { while events.recv().await.is_some() {} }).await;
    let shown = supervisor.get("t").await.unwrap();
    assert!(shown.is_same(&task), "a failed task is still shown");
    let again = within(supervisor.get_or_start("t", &peer.url(), options)).await.unwrap();
    assert!(!again.is_same(&task));
    assert_eq!(again.snapshot().status.status, Status::Connected);
}

#[tokio::test]
async fn what_is_no_text_is_counted_and_harms_nothing() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, connection) = connected(&mut peer).await;
    connection.send_raw(Message::binary(vec![1, 2, 3]));
    connection.send_raw(Message::text("no json"));
    connection.opens_dialog("alert", "still here");
    pending(&task, 1).await;
    assert_eq!(task.snapshot().counts.meters.protocol_violations, 2);
}

#[tokio::test]
async fn dropping_everything_answers_and_closes() {
    let mut peer = Peer::start().await;
    let (supervisor, task, mut connection) = connected(&mut peer).await;
    connection.opens_dialog("confirm", "Sure?");
    pending(&task, 1).await;
    drop(supervisor);
    // The task keeps its supervisor alive.
    assert_eq!(task.snapshot().status.status, Status::Connected);
    drop(task);
    assert_eq!(connection.takes_answer().await["params"]["accept"], false);
    connection.closed().await;
}

#[tokio::test]
async fn stop_all_stops_all() {
    let peer = Peer::start().await;
    let supervisor = Supervisor::start();
    for id in ["b", "a"] {
        within(supervisor.get_or_start(id, &peer.url(), Options::default())).await.unwrap();
    }
    let ids: Vec<TaskId> = supervisor.tasks().await.iter().map(|task| task.task_id().clone()).collect();
    assert_eq!(ids, ["a".into(), "b".into()]);
    within(supervisor.stop_all()).await;
    assert!(supervisor.tasks().await.is_empty());
}

#[tokio::test]
async fn a_slow_subscriber_is_told_that_it_lagged() {
    let mut peer = Peer::start().await;
    let (_supervisor, task, connection) = connected(&mut peer).await;
    let mut events = task.events();
    for n in 0..supervisor::limits::EVENTS {
        connection.opens_dialog("alert", &n.to_string());
        connection.closes_dialog(true);
    }
    let seen = supervisor::limits::EVENTS as u64;
    task.wait_for(|snapshot| snapshot.counts.dialogs_seen == seen, LIMIT).await.unwrap();
    assert!(matches!(within(events.recv()).await, Some(Observed::Lagged(missed)) if missed > 0));
    assert!(matches!(within(events.recv()).await, Some(Observed::Event(_))));
}

#[tokio::test]
async fn a_host_of_actors_sends_messages() {
    let peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let registry = supervisor.registry();
    let endpoint = supervisor::Endpoint::parse(&peer.url()).unwrap();
    let task = registry
        .call(
            |reply| RegistryMessage::GetOrStart {
                task_id: "t".into(),
                endpoint,
                options: Box::default(),
                reply,
            },
            None,
        )
        .await
        .unwrap()
        .unwrap()
        .unwrap();
    assert_eq!(task.snapshot().status.status, Status::Connected);
    let command = supervisor::Command::Respond { choice: DialogChoice::default(), action: Action::Dismiss };
    let ask = |task: &str, command: supervisor::Command| {
        let (registry, task_id) = (registry.clone(), TaskId::from(task));
        async move {
            let command = Box::new(command);
            registry
                .call(|reply| RegistryMessage::Ask { task_id, command, reply }, None)
                .await
                .unwrap()
                .unwrap()
        }
    };
    assert_eq!(ask("t", command.clone()).await.unwrap_err().code, supervisor::Code::NoDialog);
    assert_eq!(ask("x", command).await.unwrap_err().code, supervisor::Code::NotConnected);
    let stop = ask("t", supervisor::Command::Stop).await.unwrap_err();
    assert_eq!(stop.code, supervisor::Code::InvalidArgument);
}
