//! The second connection: made, used when the first is lost, recorded, and closed.

use supervisor::{Action, DialogChoice, Options, StartOptions, Status, Supervisor, Task};
use supervisor_core::dialog::{ClosedBy, Reason};
use supervisor_core::snapshot::GuardState;

use crate::life::pending;
use crate::peer::{Connection, GUARD_SESSION, LIMIT, Peer, within};

/// A task with a guard that listens: its two connections.
async fn guarded(
    supervisor: &Supervisor,
    peer: &mut Peer,
    recording: Option<std::path::PathBuf>,
) -> (Task, Connection, Connection) {
    let mut options = Options::default();
    options.guard = true;
    let mut options = StartOptions::from(options);
    options.recording = recording.map(Into::into);
    let task = within(supervisor.get_or_start("t", &peer.url(), options)).await.unwrap();
    let main = peer.connection().await;
    let guard = peer.connection().await;
    let listens = task.wait_for(|it| it.status.guard.state == GuardState::On && it.pages[0].guarded, LIMIT);
    listens.await.unwrap();
    (task, main, guard)
}

#[tokio::test]
async fn a_dialog_outlives_its_connection_and_its_replay_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.cdp.jsonl");
    let (mut peer, supervisor) = (Peer::start().await, Supervisor::start());
    let (task, main, mut guard) = guarded(&supervisor, &mut peer, Some(path.clone())).await;
    main.opens_dialog("confirm", "Sure?");
    guard.opens_dialog_on(GUARD_SESSION, "confirm", "Sure?");
    pending(&task, 1).await;
    drop(main);
    // It is never gone, and it is answered where it is known.
    let back = task.wait_for(|it| it.status.status == Status::Reconnecting, LIMIT).await.unwrap();
    assert_eq!((back.pending_dialogs.len(), back.recent_dialogs.len()), (1, 0));
    let answered = async {
        loop {
            let accept = Action::Accept { prompt_text: None };
            match task.respond(DialogChoice::default(), accept).await {
                // For the moment in which the guard catches up.
                Err(failure) if failure.code == supervisor::Code::Disconnected => {
                    tokio::task::yield_now().await
                }
                other => return other,
            }
        }
    };
    let (answered, answer) = tokio::join!(within(answered), guard.takes_answer());
    assert!(answered.unwrap().accepted);
    assert_eq!(answer["sessionId"], GUARD_SESSION);
    let main = peer.connection().await;
    task.wait_for(|it| it.status.status == Status::Connected && it.pages.len() == 1, LIMIT).await.unwrap();
    assert_eq!(task.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::Agent));
    supervisor.stop("t").await;

    let recording = std::fs::read(&path).unwrap();
    assert!(String::from_utf8_lossy(&recording).contains(r#""dir":"recv","conn":"guard""#));
    let replayed = supervisor_transcript::check(&recording).unwrap();
    assert_eq!(*replayed.snapshot, *task.snapshot());
    drop((main, guard));
}

#[tokio::test]
async fn it_is_closed_when_the_task_stops() {
    let (mut peer, supervisor) = (Peer::start().await, Supervisor::start());
    let (_task, mut main, mut guard) = guarded(&supervisor, &mut peer, None).await;
    supervisor.stop("t").await;
    main.closed().await;
    guard.closed().await;
}

#[tokio::test]
async fn turned_off_it_is_closed_and_the_task_goes_on() {
    let (mut peer, supervisor) = (Peer::start().await, Supervisor::start());
    let (task, main, mut guard) = guarded(&supervisor, &mut peer, None).await;
    let again = within(supervisor.get_or_start("t", &peer.url(), Options::default())).await.unwrap();
    guard.closed().await;
    again.wait_for(|it| it.status.guard.state == GuardState::Off, LIMIT).await.unwrap();
    assert_eq!(peer.accepted(), 2, "the main connection is the same");
    main.opens_dialog("alert", "here");
    pending(&task, 1).await;
}

#[tokio::test]
async fn both_lost_the_dialog_is_disconnected() {
    let (mut peer, supervisor) = (Peer::start().await, Supervisor::start());
    let (task, main, guard) = guarded(&supervisor, &mut peer, None).await;
    main.opens_dialog("confirm", "Sure?");
    guard.opens_dialog_on(GUARD_SESSION, "confirm", "Sure?");
    pending(&task, 1).await;
    drop((main, guard));
    let ended = task.wait_for(|it| it.recent_dialogs.len() == 1, LIMIT).await.unwrap();
    assert_eq!(ended.recent_dialogs[0].reason, Some(Reason::Disconnected));
    task.wait_for(|it| it.status.status == Status::Connected, LIMIT).await.unwrap();
    task.wait_for(|it| it.status.guard.state == GuardState::On, LIMIT).await.unwrap();
}

/// `stop` while the main connection is gone: the page is let go by the guard.
#[tokio::test]
async fn a_stop_without_a_main_connection_answers_by_the_guard() {
    let (mut peer, supervisor) = (Peer::start().await, Supervisor::start());
    let (task, main, mut guard) = guarded(&supervisor, &mut peer, None).await;
    main.opens_dialog("confirm", "Sure?");
    guard.opens_dialog_on(GUARD_SESSION, "confirm", "Sure?");
    pending(&task, 1).await;
    drop(main);
    task.wait_for(|it| it.status.status == Status::Reconnecting, LIMIT).await.unwrap();
    let (_, answer) = tokio::join!(supervisor.stop("t"), guard.takes_answer());
    assert_eq!(answer["params"]["accept"], false);
    assert_eq!(task.snapshot().recent_dialogs[0].closed_by, Some(ClosedBy::AutoPolicy));
}
