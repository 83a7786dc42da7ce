//! What becomes of a task inside which something panics, while a dialog is open and calls are in flight: every call ends,
//! the dialog is accounted for, and the task goes on from its state, or fails with the reason when that happens too often.
//!
//! Only these tests can make an actor panic: the messages that do so exist nowhere else.

use std::sync::Arc;

use serde_json::json;
use supervisor_core::{CallId, Code, DialogId, Failure, Options, Place, Reconnect, Snapshot, Status};
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;

use crate::connection::ConnectionMessage;
use crate::limits::FAULTS;
use crate::slot::Slot;
use crate::task::TaskMessage;
use crate::{CallResult, EvalOptions, StartOptions, Supervisor, Task};

#[path = "../tests/it/peer.rs"]
#[expect(dead_code, reason = "the tests of the public interface use the rest")]
mod peer;

use peer::{Connection, LIMIT, Peer, within};

/// A text of the browser at which a socket's task panics.
pub(crate) const SOCKET_PANICS: &str = r#"{"method":"Test.panicInTheSocket"}"#;

/// Where it panics.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Part {
    Task,
    Connection,
    Session,
    Machine,
    Socket,
}

const PARTS: [Part; 5] = [Part::Task, Part::Connection, Part::Session, Part::Machine, Part::Socket];

impl Part {
    fn panic(self, slot: &Slot, connection: &Connection) {
        match self {
            Self::Task => slot.tell(TaskMessage::Panic),
            Self::Connection => slot.crew.connection.tell(ConnectionMessage::Panic),
            Self::Session => slot.shell().sessions_panic(),
            Self::Machine => {
                slot.shell().machine_panics = true;
                connection.send(&json!({"method": "Test.anything"}));
            }
            Self::Socket => connection.send_raw(Message::text(SOCKET_PANICS)),
        }
    }
}

/// A task with a dialog open, a call that it holds, and one in flight.
struct Busy {
    supervisor: Supervisor,
    peer: Peer,
    connection: Connection,
    task: Task,
    /// A call that the browser, not the page, has to answer.
    call: JoinHandle<Result<CallResult, Failure>>,
    /// A script that the dialog holds.
    held: CallId,
}

impl Busy {
    async fn start() -> Self {
        let mut peer = Peer::start().await;
        let supervisor = Supervisor::start();
        let task = within(supervisor.get_or_start("t", &peer.url(), Options::default())).await.unwrap();
        until(&task, |it| it.frame_tree.top.is_some()).await;
        let connection = peer.connection().await;
        Self::of(supervisor, peer, connection, task).await
    }

    async fn of(supervisor: Supervisor, peer: Peer, mut connection: Connection, task: Task) -> Self {
        let held = tokio::spawn({
            let task = task.clone();
            async move { task.eval(None, "confirm()", EvalOptions::default()).await }
        });
        connection.command("Runtime.evaluate").await;
        connection.opens_dialog("confirm", "open while it panics");
        let held = within(held).await.unwrap().unwrap_err().detail.call_id.unwrap();
        let call = tokio::spawn(history(task.clone()));
        connection.command("Page.getNavigationHistory").await;
        Self { supervisor, peer, connection, task, call, held }
    }

    /// Both calls end, and not well.
    async fn calls_end(&mut self, part: Part) {
        let call = within(&mut self.call).await.unwrap().unwrap_err();
        assert_eq!(call.code, Code::Disconnected, "{part:?}: {call}");
        let held = within(self.task.result(self.held, None)).await.unwrap_err();
        let expected = if part == Part::Session { Code::DialogOpened } else { Code::Disconnected };
        assert_eq!(held.code, expected, "{part:?}: {held}");
    }
}

async fn history(task: Task) -> Result<CallResult, Failure> {
    task.call(Place::Active, "Page.getNavigationHistory", "{}", None).await
}

async fn until(task: &Task, wished: impl FnMut(&Snapshot) -> bool) -> Arc<Snapshot> {
    task.wait_for(wished, LIMIT).await.unwrap()
}

fn pending(snapshot: &Snapshot) -> Vec<DialogId> {
    snapshot.pending_dialogs.iter().map(|dialog| dialog.id).collect()
}

fn ended(snapshot: &Snapshot) -> Vec<DialogId> {
    snapshot.recent_dialogs.iter().map(|dialog| dialog.id).collect()
}

#[tokio::test]
async fn whatever_panics_every_call_ends_the_dialog_is_accounted_for_and_the_task_goes_on() {
    for part in PARTS {
        let mut busy = Busy::start().await;
        part.panic(&busy.task.slot(), &busy.connection);
        busy.calls_end(part).await;
        let Busy { peer, task, .. } = &mut busy;
        if part == Part::Session {
            // What it held is lost, and nothing else: the dialog can still be answered.
            let snapshot = until(task, |it| it.counts.meters.faults == 1).await;
            assert_eq!((pending(&snapshot), ended(&snapshot)), (vec![DialogId(1)], vec![]));
            continue;
        }
        let connection = within(peer.connection()).await;
        let snapshot = until(task, |it| it.status.status == Status::Connected).await;
        assert_eq!((pending(&snapshot), ended(&snapshot)), (vec![], vec![DialogId(1)]), "{part:?}");
        assert_eq!(snapshot.counts.meters.faults, 1, "{part:?}");
        serves(task, connection).await;
    }
}

/// A call on the new connection gets its answer.
async fn serves(task: &Task, mut connection: Connection) {
    until(task, |it| it.frame_tree.top.is_some()).await;
    let call = tokio::spawn(history(task.clone()));
    let command = connection.command("Page.getNavigationHistory").await;
    connection.reply(&command, &json!({"currentIndex": 0, "entries": []}));
    within(call).await.unwrap().unwrap();
}

#[tokio::test]
async fn what_panics_too_often_fails_with_the_reason_and_leaves_nothing_open() {
    for part in PARTS {
        let mut busy = Busy::start().await;
        let slot = busy.task.slot();
        // They count wherever they were; this one is the last.
        for _ in 1..FAULTS {
            slot.shell().count_fault(slot.clock.now());
        }
        part.panic(&slot, &busy.connection);
        let Busy { supervisor, peer, task, call, .. } = &mut busy;
        let failed = within(task.wait_for(is_failed, LIMIT)).await.unwrap();
        let call = within(call).await.unwrap().unwrap_err();
        assert!(matches!(call.code, Code::Disconnected | Code::NotConnected), "{part:?}: {call}");
        assert!(failed.status.stale, "{part:?}");
        assert!(failed.status.reason.as_deref().unwrap().contains("too many faults"), "{part:?}");
        assert_eq!((pending(&failed), ended(&failed)), (vec![], vec![DialogId(1)]), "{part:?}");
        within(task.wait_for_end()).await;
        assert_eq!(history(task.clone()).await.unwrap_err().code, Code::NotConnected);
        let again = within(supervisor.get_or_start("t", &peer.url(), Options::default())).await.unwrap();
        assert_eq!(again.snapshot().status.status, Status::Connected, "{part:?}");
    }
}

fn is_failed(snapshot: &Snapshot) -> bool {
    snapshot.status.status == Status::Failed
}

/// The host's own code runs inside a dial.
#[tokio::test]
async fn a_host_that_panics_when_it_is_asked_for_a_url_fails_the_attempt_and_not_the_task() {
    let mut peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let mut options = StartOptions::default();
    options.options.reconnect = Reconnect { tries: 2, ..Reconnect::default() };
    options.refresh = Some(Arc::new(|| Box::pin(async { panic!("the host panics, as a test wishes") })));
    let task = within(supervisor.get_or_start("t", &peer.url(), options)).await.unwrap();
    drop(peer.connection().await);
    let failed = until(&task, is_failed).await;
    assert!(failed.status.reason.as_deref().unwrap().contains("the host's code"), "{:?}", failed.status);
}
