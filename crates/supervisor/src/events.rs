//! What happens to a task, as it happens.

use std::sync::Arc;

use supervisor_core::Recorded;
use tokio::sync::broadcast::{self, error::RecvError, error::TryRecvError};
use tokio::sync::watch;

/// What a subscriber gets.
#[derive(Debug, Clone, PartialEq)]
pub enum Observed {
    /// An event.
    Event(Arc<Recorded>),
    /// So many events were missed, because the subscriber was slow: read the snapshot for what is true now.
    Lagged(u64),
}

/// A task's events from the moment of subscribing on. It holds nobody up: a slow subscriber misses events, and is told.
#[derive(Debug)]
pub struct EventStream {
    pub(crate) events: broadcast::Receiver<Arc<Recorded>>,
    pub(crate) ended: watch::Receiver<bool>,
}

impl EventStream {
    /// The next event; `None` after the last one of a task that has ended. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Observed> {
        tokio::select! {
            biased;
            received = self.events.recv() => match received {
                Ok(event) => Some(Observed::Event(event)),
                Err(RecvError::Lagged(missed)) => Some(Observed::Lagged(missed)),
                Err(RecvError::Closed) => None,
            },
            // Set after the last event: what is still there is all there is.
            _ = self.ended.wait_for(|ended| *ended) => waiting(&mut self.events),
        }
    }

    /// The next event, if there is one already.
    pub fn try_recv(&mut self) -> Option<Observed> {
        waiting(&mut self.events)
    }
}

fn waiting(events: &mut broadcast::Receiver<Arc<Recorded>>) -> Option<Observed> {
    match events.try_recv() {
        Ok(event) => Some(Observed::Event(event)),
        Err(TryRecvError::Lagged(missed)) => Some(Observed::Lagged(missed)),
        Err(TryRecvError::Empty | TryRecvError::Closed) => None,
    }
}
