//! The actor of a task: what arrives becomes inputs of the machine, in the order of arrival.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::{Command, EndpointKind, Epoch, Net, Req};
use tokio::sync::OwnedSemaphorePermit;

use crate::answer::Port;
use crate::reader::{Batch, Frame};
use crate::shell::Turn;
use crate::slot::Slot;
use crate::writer::Lanes;

pub(crate) enum TaskMessage {
    /// The browser's messages.
    Batch(Batch),
    /// The socket is open, and these are the ways into it.
    Connected { epoch: Epoch, endpoint: EndpointKind, lanes: Lanes },
    /// The connection changed.
    Net(Net),
    /// The host asks.
    Host(Box<HostCommand>),
    /// A deadline passed.
    Wake,
    /// An actor of the crew was replaced.
    Reset,
}

/// A request of the host.
pub(crate) struct HostCommand {
    pub(crate) req: Req,
    pub(crate) command: Command,
    pub(crate) port: Option<Port>,
    /// Dropped when the command was handled: it bounds the mailbox.
    pub(crate) permit: Option<OwnedSemaphorePermit>,
}

pub(crate) struct TaskActor;

impl Actor for TaskActor {
    type Msg = TaskMessage;
    type State = Arc<Slot>;
    type Arguments = Arc<Slot>;

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        slot: Arc<Slot>,
    ) -> Result<Arc<Slot>, ActorProcessingErr> {
        Ok(slot)
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: TaskMessage,
        slot: &mut Arc<Slot>,
    ) -> Result<(), ActorProcessingErr> {
        match turn(slot, message) {
            true => Ok(()),
            false => Err("too many faults inside: the task is given up".into()),
        }
    }
}

fn turn(slot: &Slot, message: TaskMessage) -> bool {
    let mut turn = Turn::begin(slot);
    match message {
        TaskMessage::Batch(batch) => received(&mut turn, batch),
        TaskMessage::Connected { epoch, endpoint, lanes } => turn.connected(epoch, endpoint, lanes),
        TaskMessage::Net(net) => turn.net(net),
        TaskMessage::Host(host) => asked(&mut turn, *host),
        TaskMessage::Wake => turn.wake(),
        TaskMessage::Reset => turn.reset(),
    }
    turn.end()
}

fn received(turn: &mut Turn<'_>, batch: Batch) {
    let Batch { epoch, frames, credit } = batch;
    for frame in &frames {
        match frame {
            Frame::Text(text) => turn.received(epoch, text),
            Frame::Garbage(bytes) => turn.net(Net::Garbage { epoch, bytes: *bytes }),
        }
    }
    drop(credit);
}

fn asked(turn: &mut Turn<'_>, host: HostCommand) {
    let HostCommand { req, command, port, permit } = host;
    turn.host(req, command, port);
    drop(permit);
}
