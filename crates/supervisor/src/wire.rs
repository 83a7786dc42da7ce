//! One of a task's two sockets: dialled, open, hung up. The main one does everything; the guard's only listens, and
//! answers when the main one is lost.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use ractor::ActorRef;
use supervisor_core::{Epoch, Net, Stage};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use crate::connection::ConnectionMessage;
use crate::dial::{DialError, Dialled, Dialling, dial};
use crate::endpoint::Endpoint;
use crate::lanes::Lanes;
use crate::limits::HANG_UP;
use crate::loss::Loss;
use crate::pump::Pump;
use crate::slot::Slot;
use crate::task::TaskMessage;

/// Which of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Conn {
    Main,
    Guard,
}

pub(crate) struct Wire {
    conn: Conn,
    slot: Arc<Slot>,
    dialling: Arc<Dialling>,
    dials: u32,
    /// Why the last dial led nowhere, if it did.
    failed: Option<DialError>,
    dial: Option<(Epoch, JoinHandle<()>)>,
    live: Option<Live>,
    closing: Option<JoinHandle<()>>,
}

/// An open socket.
struct Live {
    epoch: Epoch,
    lanes: Lanes,
    pump: JoinHandle<()>,
}

impl Wire {
    pub(crate) fn new(conn: Conn, slot: Arc<Slot>, dialling: Arc<Dialling>) -> Self {
        Self { conn, slot, dialling, dials: 0, failed: None, dial: None, live: None, closing: None }
    }

    pub(crate) fn dial(&mut self, actor: ActorRef<ConnectionMessage>, epoch: Epoch) {
        self.abort_dial();
        self.close();
        self.dials += 1;
        let (endpoint, dialling, conn) = (self.slot.given.clone(), Arc::clone(&self.dialling), self.conn);
        let loss = (self.dials > 1).then(|| Loss::of(self.failed.as_ref()));
        let task = tokio::spawn(async move {
            // The host's own code may run in it. Whatever happens, the machine waits for an answer.
            let dialling = AssertUnwindSafe(dial_fresh(endpoint, &dialling, loss)).catch_unwind();
            let result = dialling.await.unwrap_or_else(|_| Err(fault_inside()));
            let _ = actor.cast(ConnectionMessage::Dialled(conn, epoch, Box::new(result)));
        });
        self.dial = Some((epoch, task));
    }

    pub(crate) fn dialled(&mut self, epoch: Epoch, result: Result<Dialled, DialError>) {
        if self.dial.as_ref().is_none_or(|(current, _)| *current != epoch) {
            return;
        }
        self.dial = None;
        self.failed = result.as_ref().err().cloned();
        match result {
            Ok(dialled) => self.open(epoch, dialled),
            Err(DialError { stage, reason, http_status }) => {
                self.tell(Net::DialFailed { epoch, stage, reason, http_status });
            }
        }
    }

    fn tell(&self, net: Net) {
        self.slot.tell(TaskMessage::Net(self.conn, net));
    }

    fn open(&mut self, epoch: Epoch, dialled: Dialled) {
        let Dialled { socket, kind, name, resolved } = dialled;
        let conn = self.conn;
        if conn == Conn::Main {
            self.slot.resolved_to(resolved);
        }
        let (slot, lanes) = (Arc::clone(&self.slot), Lanes::default());
        let mut pump = Pump::new(Arc::clone(&slot), (conn, epoch), socket, lanes.clone());
        let pump = tokio::spawn(async move {
            if AssertUnwindSafe(pump.run(kind, name)).catch_unwind().await.is_err() {
                slot.tell(TaskMessage::SocketFailed(conn));
            }
        });
        self.live = Some(Live { epoch, lanes, pump });
    }

    pub(crate) fn hang_up(&mut self, epoch: Epoch) {
        if self.dial.as_ref().is_some_and(|(current, _)| *current == epoch) {
            self.abort_dial();
        }
        if self.live.as_ref().is_some_and(|live| live.epoch == epoch) {
            self.close();
        }
    }

    pub(crate) fn stuck(&mut self, epoch: Epoch) {
        if self.live.as_ref().is_some_and(|live| live.epoch == epoch) {
            self.close();
            let reason = "the browser reads nothing: too much waits to be written".to_owned();
            self.tell(Net::Lost { epoch, reason });
        }
    }

    /// Begins to close what is open; [`closed`](Self::closed) waits for it.
    pub(crate) fn close(&mut self) {
        if let Some(live) = self.live.take() {
            self.closing = Some(tokio::spawn(live.close()));
        }
    }

    pub(crate) async fn closed(&mut self) {
        if let Some(closing) = self.closing.take() {
            let _ = closing.await;
        }
    }

    fn abort_dial(&mut self) {
        if let Some((_, task)) = self.dial.take() {
            task.abort();
        }
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.abort_dial();
        if let Some(live) = &self.live {
            live.abort();
        }
    }
}

impl Live {
    /// Closes cleanly, or at once when that takes too long.
    async fn close(mut self) {
        self.lanes.close();
        if timeout(HANG_UP, &mut self.pump).await.is_err() {
            self.abort();
        }
    }

    fn abort(&self) {
        self.pump.abort();
    }
}

fn fault_inside() -> DialError {
    DialError::new(
        Stage::Resolve,
        "a fault inside, or in the host's code that gives URLs and streams".to_owned(),
    )
}

/// Dials the endpoint, or after a loss the one that the host gives in its place.
async fn dial_fresh(
    endpoint: Endpoint,
    dialling: &Dialling,
    loss: Option<Loss>,
) -> Result<Dialled, DialError> {
    let endpoint = match (&dialling.renew, loss) {
        (Some(renew), Some(loss)) => fresh(endpoint, renew(loss), dialling.limit).await?,
        _ => endpoint,
    };
    dial(&endpoint, dialling).await
}

async fn fresh(
    last: Endpoint,
    given: impl Future<Output = Option<String>>,
    limit: Duration,
) -> Result<Endpoint, DialError> {
    let failed = |reason: String| DialError::new(Stage::Resolve, reason);
    match timeout(limit, given).await {
        Ok(Some(text)) => Endpoint::parse(&text).map_err(|failure| failed(failure.message)),
        Ok(None) => Ok(last),
        Err(_) => Err(failed(format!("the host gave no fresh URL within {} s", limit.as_secs_f64()))),
    }
}
