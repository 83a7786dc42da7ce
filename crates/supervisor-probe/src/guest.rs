//! The guest's door: how the supervisor's task comes onto the probe's line, in memory.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use supervisor::{Connect, Connecting, Stream};
use tokio::io::{DuplexStream, duplex};
use tokio_tungstenite::{WebSocketStream, accept_async};

use crate::limits::GUEST_PIPE;

/// A task that came in.
pub(crate) type Guest = WebSocketStream<DuplexStream>;

/// What a task is told to connect to. Nothing is looked up: the door is where its stream leads.
pub(crate) const URL: &str = "ws://probe.invalid/devtools/browser/probe";

/// A door that one guest can come in by.
pub(crate) struct Door(DuplexStream);

impl Door {
    /// Opens one, and gives the way in.
    pub(crate) fn open() -> (Self, Connect) {
        let (inside, outside) = duplex(GUEST_PIPE);
        let outside = Mutex::new(Some(outside));
        let way = move |_: &str, _: u16| -> Connecting {
            let first = outside.lock().unwrap_or_else(PoisonError::into_inner).take();
            Box::pin(async {
                let stream = first.ok_or_else(|| io::Error::from(io::ErrorKind::ConnectionRefused))?;
                Ok(Box::new(stream) as Box<dyn Stream>)
            })
        };
        (Self(inside), Arc::new(way))
    }

    /// Waits for the guest; `None` when it does not come as a task does.
    pub(crate) async fn guest(self) -> Option<Guest> {
        accept_async(self.0).await.ok()
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::client_async;

    use super::*;

    #[tokio::test]
    async fn one_guest_comes_in_and_no_other() {
        let (door, way) = Door::open();
        let guest = tokio::spawn(door.guest());
        let stream = way("probe.invalid", 80).await.unwrap();
        assert!(client_async(URL, stream).await.is_ok());
        assert!(guest.await.unwrap().is_some());
        assert!(
            way("probe.invalid", 80).await.is_err_and(|it| it.kind() == io::ErrorKind::ConnectionRefused)
        );
    }
}
