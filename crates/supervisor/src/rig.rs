//! What the tests of a socket's task stand on: a socket in memory, and a probe in the place of the task's actor.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::{Beginning, Command, EndpointKind, Epoch, Machine, Meters, Req};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::dial::Socket;
use crate::lanes::Lanes;
use crate::pump::Pump;
use crate::shell::{Shell, Sinks, Turn};
use crate::slot::{Clock, Slot};
use crate::tap::Tap;
use crate::task::TaskMessage;
use crate::wire::Conn;
use crate::{Endpoint, Supervisor};

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
        // The machine's own deadlines are no part of these tests.
        if !matches!(message, TaskMessage::Wake) {
            let _ = tell.send(message);
        }
        Ok(())
    }
}

/// Small, so that a peer that does not read is noticed.
pub(crate) const NARROW: usize = 4 * 1024;
/// Everything that a test writes is there at once.
pub(crate) const WIDE: usize = 4 * 1024 * 1024;

/// A socket's two ends, ours and the browser's, in memory, so that it works on paused time.
async fn sockets(pipe: usize) -> (Socket, Socket) {
    let (ours, theirs) = tokio::io::duplex(pipe);
    let (ours, theirs) = (Tap::new(Box::new(ours)), Tap::new(Box::new(theirs)));
    let ours = WebSocketStream::from_raw_socket(ours, Role::Client, None).await;
    (ours, WebSocketStream::from_raw_socket(theirs, Role::Server, None).await)
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

/// What surrounds a socket's task, but for the browser.
pub(crate) struct Rig {
    pub(crate) slot: Arc<Slot>,
    pub(crate) lanes: Lanes,
    /// What it tells the task's actor.
    pub(crate) told: UnboundedReceiver<TaskMessage>,
    pub(crate) pump: JoinHandle<()>,
    _supervisor: Supervisor,
}

impl Rig {
    /// What the machine counted.
    pub(crate) fn meters(&self) -> Meters {
        *self.slot.shell().machine.meters()
    }
}

/// A socket's task whose machine waits for the connection; these are in its lanes already.
pub(crate) async fn pumping(pipe: usize, lanes: Lanes) -> (Rig, Socket) {
    let supervisor = Supervisor::start();
    let (slot, told) = probed(&supervisor).await;
    let mut turn = Turn::begin(&slot);
    turn.host(Req(1), Command::Start, None);
    turn.end();
    let (ours, browser) = sockets(pipe).await;
    let mut pump = Pump::new(Arc::clone(&slot), (Conn::Main, Epoch(1)), ours, lanes.clone());
    let pump = tokio::spawn(async move { pump.run(EndpointKind::Browser, None).await });
    (Rig { slot, lanes, told, pump, _supervisor: supervisor }, browser)
}
