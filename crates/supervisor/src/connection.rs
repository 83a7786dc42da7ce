//! The actor of a task's socket: it dials, owns the socket's task, and hangs up.
//!
//! What arrives goes from the socket's task straight to the machine, and what leaves from the machine straight to it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use ractor::{Actor, ActorProcessingErr, ActorRef};
use supervisor_core::{Epoch, Net, Stage};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::http::HeaderMap;

use crate::dial::{DialError, Dialled, dial};
use crate::endpoint::Endpoint;
use crate::lanes::Lanes;
use crate::limits::HANG_UP;
use crate::pump::Pump;
use crate::slot::Slot;
use crate::start::Refresh;
use crate::task::TaskMessage;

pub(crate) enum ConnectionMessage {
    /// Open a socket.
    Dial(Epoch),
    /// The dial is over.
    Dialled(Epoch, Box<Result<Dialled, DialError>>),
    /// Write what is urgent, then close.
    HangUp(Epoch),
    /// The browser takes nothing any more.
    Stuck(Epoch),
}

/// How to dial.
#[derive(Clone)]
pub(crate) struct Dialling {
    pub(crate) headers: HeaderMap,
    pub(crate) limit: Duration,
    pub(crate) refresh: Option<Refresh>,
}

pub(crate) struct ConnectionActor;

pub(crate) struct ConnectionState {
    slot: Arc<Slot>,
    dialling: Dialling,
    dials: u32,
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

impl Actor for ConnectionActor {
    type Msg = ConnectionMessage;
    type State = ConnectionState;
    type Arguments = (Arc<Slot>, Dialling);

    async fn pre_start(
        &self,
        _: ActorRef<Self::Msg>,
        (slot, dialling): Self::Arguments,
    ) -> Result<ConnectionState, ActorProcessingErr> {
        Ok(ConnectionState { slot, dialling, dials: 0, dial: None, live: None, closing: None })
    }

    async fn handle(
        &self,
        myself: ActorRef<Self::Msg>,
        message: ConnectionMessage,
        state: &mut ConnectionState,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            ConnectionMessage::Dial(epoch) => state.dial(myself, epoch),
            ConnectionMessage::Dialled(epoch, result) => state.dialled(epoch, *result),
            ConnectionMessage::HangUp(epoch) => state.hang_up(epoch),
            ConnectionMessage::Stuck(epoch) => state.stuck(epoch),
        }
        Ok(())
    }

    /// The answers of `stop` are on their way: they are given the time to leave.
    async fn post_stop(
        &self,
        _: ActorRef<Self::Msg>,
        state: &mut ConnectionState,
    ) -> Result<(), ActorProcessingErr> {
        state.close_live();
        if let Some(closing) = state.closing.take() {
            let _ = closing.await;
        }
        Ok(())
    }
}

impl ConnectionState {
    fn dial(&mut self, myself: ActorRef<ConnectionMessage>, epoch: Epoch) {
        self.abort_dial();
        self.close_live();
        self.dials += 1;
        let (endpoint, dialling, again) = (self.slot.given.clone(), self.dialling.clone(), self.dials > 1);
        let task = tokio::spawn(async move {
            let result = dial_fresh(endpoint, &dialling, again).await;
            let _ = myself.cast(ConnectionMessage::Dialled(epoch, Box::new(result)));
        });
        self.dial = Some((epoch, task));
    }

    fn dialled(&mut self, epoch: Epoch, result: Result<Dialled, DialError>) {
        if self.dial.as_ref().is_none_or(|(current, _)| *current != epoch) {
            return;
        }
        self.dial = None;
        match result {
            Ok(dialled) => self.open(epoch, dialled),
            Err(DialError { stage, reason, http_status }) => {
                self.slot.tell(TaskMessage::Net(Net::DialFailed { epoch, stage, reason, http_status }));
            }
        }
    }

    fn open(&mut self, epoch: Epoch, dialled: Dialled) {
        let Dialled { socket, kind, resolved } = dialled;
        self.slot.resolved_to(resolved);
        let (slot, lanes) = (Arc::clone(&self.slot), Lanes::default());
        let pump = Pump::new(Arc::clone(&slot), epoch, socket, lanes.clone()).run(kind);
        let pump = tokio::spawn(async move {
            if AssertUnwindSafe(pump).catch_unwind().await.is_err() {
                slot.tell(TaskMessage::SocketFailed);
            }
        });
        self.live = Some(Live { epoch, lanes, pump });
    }

    fn hang_up(&mut self, epoch: Epoch) {
        if self.dial.as_ref().is_some_and(|(current, _)| *current == epoch) {
            self.abort_dial();
        }
        if self.live.as_ref().is_some_and(|live| live.epoch == epoch) {
            self.close_live();
        }
    }

    fn stuck(&mut self, epoch: Epoch) {
        if self.live.as_ref().is_some_and(|live| live.epoch == epoch) {
            self.close_live();
            let reason = "the browser reads nothing: too much waits to be written".to_owned();
            self.slot.tell(TaskMessage::Net(Net::Lost { epoch, reason }));
        }
    }

    fn close_live(&mut self) {
        if let Some(live) = self.live.take() {
            self.closing = Some(tokio::spawn(live.close()));
        }
    }

    fn abort_dial(&mut self) {
        if let Some((_, task)) = self.dial.take() {
            task.abort();
        }
    }
}

impl Drop for ConnectionState {
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

/// Dials the endpoint, or the one that the host gives in its place.
async fn dial_fresh(endpoint: Endpoint, dialling: &Dialling, again: bool) -> Result<Dialled, DialError> {
    let endpoint = match &dialling.refresh {
        Some(refresh) if again => fresh(endpoint, refresh, dialling.limit).await?,
        _ => endpoint,
    };
    dial(&endpoint, &dialling.headers, dialling.limit).await
}

async fn fresh(last: Endpoint, refresh: &Refresh, limit: Duration) -> Result<Endpoint, DialError> {
    let failed = |reason: String| DialError::new(Stage::Resolve, reason);
    match timeout(limit, refresh()).await {
        Ok(Some(text)) => Endpoint::parse(&text).map_err(|failure| failed(failure.message)),
        Ok(None) => Ok(last),
        Err(_) => Err(failed(format!("the host gave no fresh URL within {} s", limit.as_secs_f64()))),
    }
}
