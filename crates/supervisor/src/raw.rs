//! A socket to a browser that nobody supervises: for programs that look at what a backend does, beside a task.

use std::fmt;

use futures_util::{SinkExt, StreamExt};
use supervisor_core::{Code, EndpointKind, Failure};
use tokio::time::Instant;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::backend;
use crate::dial::{DialError, Dialled, Dialling, Socket, dial};
use crate::endpoint::Endpoint;
use crate::secret;
use crate::start::StartOptions;
use crate::tcp::Way;

/// A socket to a browser, opened as a task opens its own: same endpoints, same failures, same secrecy.
///
/// It sends and receives whole messages and knows nothing of what they say.
pub struct RawSocket {
    socket: Socket,
    kind: EndpointKind,
    resolved: Endpoint,
}

impl RawSocket {
    /// Opens it as a task with these options would: with their headers, through their network, within their time for a start.
    ///
    /// # Errors
    /// `start_failed` with the stage that failed; `unsupported_backend` where a server speaks HTTP but not CDP;
    /// `invalid_argument` for headers or a network that cannot be used.
    pub async fn open(endpoint: &Endpoint, options: &StartOptions) -> Result<Self, Failure> {
        let (headers, limit) = (secret::headers(&options.headers)?, options.start_timeout);
        let way = Way::of(&options.network, options.connect.clone())?;
        let dialling = Dialling { headers, limit, renew: None, way };
        let begun = Instant::now();
        match dial(endpoint, &dialling).await {
            Ok(Dialled { socket, kind, resolved, .. }) => Ok(Self { socket, kind, resolved }),
            Err(error) => {
                Err(backend::explained(endpoint, &dialling, start_failed(error), begun + limit).await)
            }
        }
    }

    /// What the socket's root is.
    #[must_use]
    pub fn kind(&self) -> &EndpointKind {
        &self.kind
    }

    /// The endpoint as it was resolved: a `ws` or `wss` URL.
    #[must_use]
    pub fn resolved(&self) -> &Endpoint {
        &self.resolved
    }

    /// Sends one message.
    ///
    /// # Errors
    /// `disconnected` when the socket is gone.
    pub async fn send(&mut self, text: String) -> Result<(), Failure> {
        let sent = self.socket.send(Message::text(text)).await;
        sent.map_err(|error| {
            Failure::new(Code::Disconnected, format!("The connection to the browser broke ({error})."))
        })
    }

    /// The next message; `None` when the socket is gone. Dropping the future loses nothing.
    pub async fn recv(&mut self) -> Option<Utf8Bytes> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Some(text),
                // Pings are answered below us, and a browser sends nothing binary.
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Binary(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
            }
        }
    }

    /// Says goodbye. The socket is gone afterwards, whether the other side answered or not.
    pub async fn close(mut self) {
        let _ = self.socket.close(None).await;
    }
}

impl fmt::Debug for RawSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawSocket").field("kind", &self.kind).field("resolved", &self.resolved).finish()
    }
}

fn start_failed(error: DialError) -> Failure {
    let DialError { stage, reason, http_status } = error;
    Failure::new(Code::StartFailed, format!("could not connect to the browser: {reason}")).with(|detail| {
        detail.stage = Some(stage);
        detail.http_status = http_status;
    })
}

#[cfg(test)]
mod tests {
    use supervisor_core::Stage;
    use tokio::net::TcpListener;
    use tokio_tungstenite::accept_async;

    use super::*;

    #[tokio::test]
    async fn messages_go_both_ways_until_the_other_side_leaves() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let echo = tokio::spawn(async move {
            let mut peer = accept_async(listener.accept().await.unwrap().0).await.unwrap();
            let text = peer.next().await.unwrap().unwrap();
            peer.send(Message::Ping("still there?".into())).await.unwrap();
            peer.send(text).await.unwrap();
            peer.close(None).await.unwrap();
        });
        let given = Endpoint::parse(&format!("ws://127.0.0.1:{port}/devtools/page/P?token=secret")).unwrap();
        let mut socket = RawSocket::open(&given, &StartOptions::default()).await.unwrap();
        assert_eq!(socket.kind(), &EndpointKind::Page("P".into()));
        assert!(!format!("{socket:?}").contains("secret"));
        socket.send("hello".to_owned()).await.unwrap();
        assert_eq!(socket.recv().await.as_deref(), Some("hello"));
        assert_eq!(socket.recv().await, None);
        echo.await.unwrap();
    }

    #[tokio::test]
    async fn a_failure_is_that_of_a_task() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let closed = Endpoint::parse(&format!("ws://127.0.0.1:{port}/")).unwrap();
        let failure = RawSocket::open(&closed, &StartOptions::default()).await.unwrap_err();
        assert_eq!((failure.code, failure.detail.stage), (Code::StartFailed, Some(Stage::Tcp)));
        let task = crate::Supervisor::start();
        let same = task.get_or_start("t", &closed.to_string(), crate::Options::default()).await.unwrap_err();
        assert_eq!(failure, same);
    }
}
