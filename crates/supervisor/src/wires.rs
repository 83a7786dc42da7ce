//! The ways to write to a task's two sockets.

use supervisor_core::{Epoch, Lane};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::lanes::Lanes;
use crate::wire::Conn;

#[derive(Default)]
pub(crate) struct Wires {
    main: Option<(Epoch, Lanes)>,
    guard: Option<(Epoch, Lanes)>,
}

impl Wires {
    fn of(&mut self, conn: Conn) -> &mut Option<(Epoch, Lanes)> {
        match conn {
            Conn::Main => &mut self.main,
            Conn::Guard => &mut self.guard,
        }
    }

    /// A socket is open. One that comes late takes the place of no newer one.
    pub(crate) fn opened(&mut self, conn: Conn, epoch: Epoch, lanes: Lanes) {
        let wire = self.of(conn);
        if wire.as_ref().is_none_or(|(current, _)| *current < epoch) {
            *wire = Some((epoch, lanes));
        }
    }

    pub(crate) fn hung_up(&mut self, conn: Conn, epoch: Epoch) {
        let wire = self.of(conn);
        if wire.as_ref().is_some_and(|(current, _)| *current == epoch) {
            *wire = None;
        }
    }

    pub(crate) fn is_open(&mut self, conn: Conn) -> bool {
        self.of(conn).is_some()
    }

    /// # Errors
    /// The socket whose browser takes nothing any more.
    pub(crate) fn send(&mut self, conn: Conn, lane: Lane, text: Utf8Bytes) -> Result<(), Epoch> {
        match self.of(conn) {
            Some((epoch, lanes)) => lanes.send(lane, text).map_err(|_| *epoch),
            None => Ok(()),
        }
    }
}
