//! Faults of the network and of the other side: what the host sees, that it sees it in time, and that the service goes on.

mod browser;
mod bytes;
mod floods;
mod handshake;
mod manners;
mod messages;
pub(crate) mod stops;

use std::time::Duration;

use integration_tests::{Manner, PeerConnection, ScriptedPeer, accept, patience};
use supervisor::{
    DialogChoice, EvalOptions, Event, EventStream, Failure, Observed, Options, Snapshot, StartOptions,
    Supervisor, Task,
};
use tokio::time::timeout;

/// A task that is connected to a scripted peer.
struct Faulted {
    supervisor: Supervisor,
    task: Task,
    peer: ScriptedPeer,
    connection: PeerConnection,
    events: EventStream,
}

impl Faulted {
    async fn start(manner: Manner) -> Self {
        let mut peer = ScriptedPeer::start(manner).await;
        let supervisor = Supervisor::start();
        let task = in_time(supervisor.get_or_start("t", &peer.url(), Options::default())).await.unwrap();
        let events = task.events();
        let connection = peer.connection().await;
        let it = Self { supervisor, task, peer, connection, events };
        it.until(|snapshot| !snapshot.pages.is_empty()).await;
        it
    }

    async fn until(&self, wished: impl FnMut(&Snapshot) -> bool) -> std::sync::Arc<Snapshot> {
        self.task.wait_for(wished, patience()).await.unwrap_or_else(|failure| {
            panic!("{failure}; {}", serde_json::to_string_pretty(&*self.task.snapshot()).unwrap())
        })
    }

    fn violations(&self) -> u64 {
        self.task.snapshot().counts.meters.protocol_violations
    }

    /// A dialog is seen and answered, and a script runs: on the connection that there is.
    async fn serves(&self) {
        self.connection.opens_dialog("still there?");
        let shown = self.until(|it| it.pending_dialogs.iter().any(|it| it.message == "still there?")).await;
        let id = shown.pending_dialogs.iter().find(|it| it.message == "still there?").unwrap().id;
        let choice = DialogChoice { dialog_id: Some(id), target_id: None };
        let answered = in_time(self.task.respond(choice, accept())).await.unwrap();
        assert!(answered.accepted);
        self.evaluates().await;
    }

    async fn evaluates(&self) {
        let value = in_time(self.task.eval(None, "6 * 7", EvalOptions::default())).await.unwrap();
        assert_eq!(value.value.get(), "42");
    }

    /// The connection is lost, for the reason that is given back, and made again; it serves then.
    async fn loses_and_returns(&mut self) -> String {
        let reason = self.lost().await;
        self.returns().await;
        self.serves().await;
        reason
    }

    /// The connection is made again, and the page is there.
    async fn returns(&mut self) {
        self.happens(|event| matches!(event, Event::Connected { .. }).then_some(())).await;
        self.until(|it| it.frame_tree.top.is_some()).await;
        self.connection = self.peer.newest().await;
    }

    async fn lost(&mut self) -> String {
        let reason = |event: &Event| match event {
            Event::ConnectionLost { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.happens(reason).await
    }

    async fn happens<T>(&mut self, wished: impl Fn(&Event) -> Option<T>) -> T {
        let wait = async {
            loop {
                match self.events.recv().await.expect("the task has ended") {
                    Observed::Event(it) => {
                        if let Some(found) = wished(&it.event) {
                            return found;
                        }
                    }
                    Observed::Lagged(missed) => panic!("{missed} events were missed"),
                }
            }
        };
        in_time(wait).await
    }
}

/// A start that must end within the patience of a test, whatever the other side does.
async fn start(url: &str, limit: Duration) -> Result<(Supervisor, Task), Failure> {
    let supervisor = Supervisor::start();
    let mut options = StartOptions::default();
    options.start_timeout = limit;
    let task = in_time(supervisor.get_or_start("t", url, options)).await?;
    Ok((supervisor, task))
}

async fn in_time<T>(future: impl Future<Output = T>) -> T {
    timeout(patience(), future).await.expect("it hangs")
}
