//! The actor of a task's sockets: it dials, owns the tasks of open sockets, and hangs up.
//!
//! What arrives goes from a socket's task straight to the machine, and what leaves from the machine straight to it.

use std::sync::Arc;

use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::Epoch;

use crate::dial::{DialError, Dialled, Dialling};
use crate::slot::Slot;
use crate::wire::{Conn, Wire};

pub(crate) enum ConnectionMessage {
    /// Open a socket.
    Dial(Conn, Epoch),
    /// The dial is over.
    Dialled(Conn, Epoch, Box<Result<Dialled, DialError>>),
    /// Write what is urgent, then close.
    HangUp(Conn, Epoch),
    /// The browser takes nothing any more.
    Stuck(Conn, Epoch),
    #[cfg(test)]
    Panic,
}

pub(crate) struct ConnectionActor;

pub(crate) struct ConnectionState {
    main: Wire,
    guard: Wire,
}

impl Actor for ConnectionActor {
    type Msg = ConnectionMessage;
    type State = ConnectionState;
    type Arguments = (Arc<Slot>, Arc<Dialling>);

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        (slot, dialling): Self::Arguments,
    ) -> Result<ConnectionState, ActorProcessingErr> {
        let main = Wire::new(Conn::Main, Arc::clone(&slot), Arc::clone(&dialling));
        Ok(ConnectionState { main, guard: Wire::new(Conn::Guard, slot, dialling) })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: ConnectionMessage,
        state: &mut ConnectionState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ConnectionMessage::Dial(conn, epoch) => state.wire(conn).dial(myself, epoch),
            ConnectionMessage::Dialled(conn, epoch, result) => state.wire(conn).dialled(epoch, *result),
            ConnectionMessage::HangUp(conn, epoch) => state.wire(conn).hang_up(epoch),
            ConnectionMessage::Stuck(conn, epoch) => state.wire(conn).stuck(epoch),
            #[cfg(test)]
            ConnectionMessage::Panic => panic!("as a test wishes"),
        }
        Ok(())
    }

    /// The answers of `stop` are on their way: they are given the time to leave.
    async fn post_stop(
        &self,
        _: ActorRef<Self::Msg>,
        state: &mut ConnectionState,
    ) -> Result<(), ActorProcessingErr> {
        state.main.close();
        state.guard.close();
        tokio::join!(state.main.closed(), state.guard.closed());
        Ok(())
    }
}

impl ConnectionState {
    fn wire(&mut self, conn: Conn) -> &mut Wire {
        match conn {
            Conn::Main => &mut self.main,
            Conn::Guard => &mut self.guard,
        }
    }
}
