//! A recording replays to what was seen live.

use supervisor::journal::{Bounds, Journal, Keeper, SledJournal};
use supervisor::{Action, DialogChoice, Options, StartOptions, Status, Supervisor};

use crate::life::pending;
use crate::peer::{LIMIT, Peer, within};

fn options(path: &std::path::Path) -> StartOptions {
    let mut options = StartOptions::from(Options::default());
    options.recording = Some(path.into());
    options
}

#[tokio::test]
async fn live_and_replay_agree() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.cdp.jsonl");
    let mut peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let url = format!("{}?token=secret", peer.url());
    let task = within(supervisor.get_or_start("t", &url, options(&path))).await.unwrap();
    task.wait_for(|snapshot| snapshot.frame_tree.top.is_some(), LIMIT).await.unwrap();
    let mut connection = peer.connection().await;
    connection.opens_dialog("confirm", "Sure?");
    pending(&task, 1).await;
    let accept = Action::Accept { prompt_text: None };
    let (answered, _) =
        tokio::join!(task.respond(DialogChoice::default(), accept), connection.takes_answer());
    answered.unwrap();
    supervisor.stop("t").await;
    assert_eq!(task.snapshot().status.status, Status::Stopped);

    // All of it is there when `stop` returns.
    let recording = std::fs::read(&path).unwrap();
    assert!(!String::from_utf8_lossy(&recording).contains("secret"));
    let replayed = supervisor_transcript::check(&recording).unwrap();
    assert_eq!(replayed.snapshot.recent_dialogs, task.snapshot().recent_dialogs);
    assert_eq!(replayed.snapshot.status, task.snapshot().status);
    assert_eq!(replayed.snapshot.counts, task.snapshot().counts);
}

#[tokio::test]
async fn the_journal_holds_the_events_that_a_replay_gives() {
    let folder = tempfile::tempdir().unwrap();
    let (path, kept) = (folder.path().join("t.cdp.jsonl"), folder.path().join("journal"));
    let open = || SledJournal::open(&kept, Bounds::default()).unwrap();
    let (keeper, thread) = Keeper::start(open()).unwrap();
    let mut peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let mut options = options(&path);
    options.journal = Some(keeper.clone());
    let url = format!("{}?token=secret", peer.url());
    let task = within(supervisor.get_or_start("t", &url, options)).await.unwrap();
    task.wait_for(|snapshot| snapshot.frame_tree.top.is_some(), LIMIT).await.unwrap();
    let mut connection = peer.connection().await;
    connection.opens_dialog("confirm", "Sure?");
    pending(&task, 1).await;
    tokio::join!(supervisor.stop("t"), connection.takes_answer());
    let replayed = supervisor_transcript::drive(&std::fs::read(&path).unwrap()).unwrap();

    // The thread ends when nobody can hand it anything any more.
    drop((keeper, supervisor, task));
    tokio::task::spawn_blocking(|| thread.join().unwrap()).await.unwrap();
    let journal = open();
    let run = journal.runs().unwrap().pop().unwrap();
    assert_eq!((run.run.task.as_str(), run.run.endpoint.contains("secret")), ("t", false));
    let kept = journal.read(run.id).unwrap();
    assert_eq!((kept.unreadable, kept.missing, kept.events.len()), (0, 0, replayed.events.len()));
    for (kept, replayed) in kept.events.iter().zip(&replayed.events) {
        assert_eq!(kept, replayed);
    }
}

#[tokio::test]
async fn a_recording_overwrites_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.cdp.jsonl");
    std::fs::write(&path, "mine").unwrap();
    let supervisor = Supervisor::start();
    let failure = within(supervisor.get_or_start("t", "ws://127.0.0.1:1/devtools/browser/B", options(&path)))
        .await
        .unwrap_err();
    assert_eq!(failure.code, supervisor::Code::InvalidArgument);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
}
