//! What the tests of reader and writer stand on: a socket in memory, and a probe in the place of the task's actor.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use futures_util::StreamExt;
use futures_util::stream::{SplitSink, SplitStream};
use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::{Beginning, Epoch, Machine};
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::dial::Socket;
use crate::reader::Reader;
use crate::shell::{Shell, Sinks};
use crate::slot::{Clock, Slot};
use crate::task::TaskMessage;
use crate::tcp::Stream;
use crate::{Endpoint, Supervisor};

/// In memory, so that it works on paused time; small, so that a peer that does not read is noticed.
const PIPE: usize = 4 * 1024;

struct Probe;

impl Actor for Probe {
    type Msg = TaskMessage;
    type State = UnboundedSender<TaskMessage>;
    type Arguments = UnboundedSender<TaskMessage>;

    async fn pre_start(
        &self,
        _: ActorRef<TaskMessage>,
        tell: UnboundedSender<TaskMessage>,
    ) -> Result<Self::State, ActorProcessingErr> {
        Ok(tell)
    }

    async fn handle(
        &self,
        _: ActorRef<TaskMessage>,
        message: TaskMessage,
        tell: &mut Self::State,
    ) -> Result<(), ActorProcessingErr> {
        let _ = tell.send(message);
        Ok(())
    }
}

/// A socket's two ends: ours in halves, the browser's whole.
pub(crate) async fn sockets() -> (SplitSink<Socket, Message>, SplitStream<Socket>, Socket) {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (ours, theirs): (Box<dyn Stream>, Box<dyn Stream>) = (Box::new(ours), Box::new(theirs));
    let ours = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
    let (sink, stream) = ours.split();
    (sink, stream, WebSocketStream::from_raw_socket(theirs, Role::Server, None).await)
}

/// What surrounds a reader that runs, but for the browser.
pub(crate) struct Rig {
    /// What it tells the task.
    pub(crate) told: UnboundedReceiver<TaskMessage>,
    pub(crate) writer_failed: mpsc::Sender<String>,
    _sink: SplitSink<Socket, Message>,
    _supervisor: Supervisor,
}

/// A slot whose task is the probe.
pub(crate) async fn probed(supervisor: &Supervisor) -> (Arc<Slot>, UnboundedReceiver<TaskMessage>) {
    let given = Endpoint::parse("ws://127.0.0.1:1/").unwrap();
    let shell = Shell::new(Machine::new(&Beginning::default()), Sinks::default());
    let slot = Slot::new("t".into(), 1, given, Clock::start(), supervisor.registry(), shell);
    let (tell, told) = unbounded_channel();
    slot.crew.task.take_over(Actor::spawn(None, Probe, tell).await.unwrap().0);
    (Arc::new(slot), told)
}

pub(crate) async fn reading() -> (Rig, Socket) {
    let supervisor = Supervisor::start();
    let (slot, told) = probed(&supervisor).await;
    let (sink, stream, browser) = sockets().await;
    let (writer_failed, failures) = mpsc::channel(1);
    let reader = Reader::new(slot, Epoch(1), stream, Arc::new(AtomicBool::new(false)), failures);
    tokio::spawn(reader.run());
    (Rig { told, writer_failed, _sink: sink, _supervisor: supervisor }, browser)
}
