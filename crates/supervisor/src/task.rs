//! The actor of a task: what hosts and the other actors say becomes inputs of the machine, in the order of arrival. What
//! the browser says comes from its socket's task, which has turns of its own.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::{Command, Net, Req};
use tokio::sync::OwnedSemaphorePermit;

use crate::answer::Port;
use crate::shell::Turn;
use crate::slot::Slot;
use crate::wire::Conn;

pub(crate) enum TaskMessage {
    /// A connection changed.
    Net(Conn, Net),
    /// The host asks.
    Host(Box<HostCommand>),
    /// A deadline passed, or the task must be given up.
    Wake,
    /// The socket's task failed inside.
    SocketFailed(Conn),
    /// An actor of the crew was replaced.
    Reset,
    #[cfg(test)]
    Panic,
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
        TaskMessage::Net(conn, net) => turn.net(conn, net),
        TaskMessage::Host(host) => asked(&mut turn, *host),
        TaskMessage::Wake => turn.wake(),
        TaskMessage::SocketFailed(conn) => turn.failed(conn),
        TaskMessage::Reset => turn.reset(),
        #[cfg(test)]
        TaskMessage::Panic => panic!("as a test wishes"),
    }
    turn.end()
}

fn asked(turn: &mut Turn<'_>, host: HostCommand) {
    let HostCommand { req, command, port, permit } = host;
    turn.host(req, command, port);
    drop(permit);
}
