//! The guest's door: a port of this machine through which the supervisor's task comes onto the probe's line.
//!
//! Whoever comes in can drive the browser, so the way in is a secret, and the door is shut behind the first one.

use std::hash::{BuildHasher, RandomState};
use std::net::Ipv4Addr;

use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response};
use tokio_tungstenite::tungstenite::http::StatusCode;
use tokio_tungstenite::{WebSocketStream, accept_hdr_async};

use crate::error::ProbeError;
use crate::limits::GUEST_HANDSHAKE;

/// A task that came in.
pub(crate) type Guest = WebSocketStream<TcpStream>;

/// A door that one guest can come in by.
pub(crate) struct Door {
    listener: TcpListener,
    key: Key,
    port: u16,
}

impl Door {
    /// Opens one.
    pub(crate) async fn open() -> Result<Self, ProbeError> {
        let failed = |error: std::io::Error| ProbeError::Listen(error.to_string());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, key: Key::fresh(), port })
    }

    /// Where it is. The secret is in the query, which is never shown.
    pub(crate) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/probe?{}", self.port, self.key.0)
    }

    /// Waits for the guest. Others are turned away.
    pub(crate) async fn guest(self) -> Option<Guest> {
        loop {
            let (stream, _) = self.listener.accept().await.ok()?;
            // An answer to a dialog is one small packet: it must not wait for another to join it.
            let _ = stream.set_nodelay(true);
            if let Ok(Ok(guest)) = timeout(GUEST_HANDSHAKE, accept_hdr_async(stream, self.key.clone())).await
            {
                return Some(guest);
            }
        }
    }
}

/// 128 bits that nobody can guess: the standard library's maps are seeded from the system's randomness.
#[derive(Clone)]
struct Key(String);

impl Key {
    fn fresh() -> Self {
        let half = || RandomState::new().hash_one(std::process::id());
        Self(format!("{:016x}{:016x}", half(), half()))
    }
}

impl Callback for Key {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        if request.uri().query() == Some(&self.0) {
            return Ok(response);
        }
        let mut refusal = ErrorResponse::new(None);
        *refusal.status_mut() = StatusCode::FORBIDDEN;
        Err(refusal)
    }
}

#[cfg(test)]
mod tests {
    use tokio_tungstenite::client_async;

    use super::*;

    #[tokio::test]
    async fn only_who_knows_the_way_comes_in() {
        let door = Door::open().await.unwrap();
        let (url, port) = (door.url(), door.port);
        let guest = tokio::spawn(door.guest());
        let come = |url: String| async move {
            let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.unwrap();
            client_async(url, stream).await
        };
        for wrong in [url.split_once('?').unwrap().0.to_owned(), format!("{url}0")] {
            assert!(come(wrong).await.is_err());
        }
        assert!(come(url).await.is_ok());
        assert!(guest.await.unwrap().is_some());
    }
}
