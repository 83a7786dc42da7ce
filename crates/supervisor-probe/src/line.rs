//! One connection to the backend, used by the probe's own hand and, as a guest, by the supervisor's task.
//!
//! What the probe sends has ids that no task comes to, and sessions of its own; all else is the guest's and passes untouched.

use std::sync::Arc;

use cdp_wire::SessionId;
use serde_json::Value;
use supervisor::RawSocket;
use supervisor::supervisor_core::Route;
use tokio::sync::{broadcast, mpsc, oneshot};

use crate::carrier::Carrier;
use crate::error::Trouble;
use crate::guest::Guest;
use crate::limits::{HEARD, ORDERS};

/// What a command gives.
pub(crate) type Answer = Result<Value, Trouble>;

/// A connection. Cloning it is sharing it; it is closed with the last one.
#[derive(Clone)]
pub(crate) struct Line {
    orders: mpsc::Sender<Order>,
    heard: broadcast::Sender<Arc<Heard>>,
}

/// An event on one of the probe's own sessions.
#[derive(Debug)]
pub(crate) struct Heard {
    /// The session; none for the browser's own events.
    pub(crate) session: Option<SessionId>,
    /// `Domain.event`.
    pub(crate) method: String,
    /// Its parameters.
    pub(crate) params: Value,
}

/// What is asked of whoever owns the socket.
pub(crate) enum Order {
    /// Send a command.
    Send(Outgoing),
    /// Let a guest in.
    Carry(Box<Guest>),
    /// Show it out; tells when that is under way.
    Release(oneshot::Sender<()>),
}

/// A command of the probe's own.
pub(crate) struct Outgoing {
    pub(crate) route: Route,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    pub(crate) reply: oneshot::Sender<Answer>,
}

impl Line {
    /// Takes a socket over. Needs a tokio runtime.
    pub(crate) fn over(socket: RawSocket) -> Self {
        let ((orders, given), (heard, _)) = (mpsc::channel(ORDERS), broadcast::channel(HEARD));
        tokio::spawn(Carrier::new(socket, heard.clone()).run(given));
        Self { orders, heard }
    }

    /// Sends a command and waits for its result. Dropping the future gives the result up, not the command.
    pub(crate) async fn send(&self, route: &Route, method: &'static str, params: Value) -> Answer {
        self.post(route, method, params).await?.await.map_err(|_| Trouble::Gone)?
    }

    /// Sends a command; its result can be waited for later, or never.
    pub(crate) async fn post(
        &self,
        route: &Route,
        method: &'static str,
        params: Value,
    ) -> Result<oneshot::Receiver<Answer>, Trouble> {
        let (reply, result) = oneshot::channel();
        self.order(Order::Send(Outgoing { route: route.clone(), method, params, reply })).await?;
        Ok(result)
    }

    /// Events from now on.
    pub(crate) fn events(&self) -> broadcast::Receiver<Arc<Heard>> {
        self.heard.subscribe()
    }

    /// Lets a guest use the connection from now on.
    pub(crate) async fn carry(&self, guest: Guest) -> Result<(), Trouble> {
        self.order(Order::Carry(Box::new(guest))).await
    }

    /// Shows the guest out, and undoes what its connection's end would have undone.
    pub(crate) async fn release(&self) -> Result<(), Trouble> {
        let (done, is_done) = oneshot::channel();
        self.order(Order::Release(done)).await?;
        is_done.await.map_err(|_| Trouble::Gone)
    }

    /// Whether the connection is gone.
    pub(crate) fn is_gone(&self) -> bool {
        self.orders.is_closed()
    }

    async fn order(&self, order: Order) -> Result<(), Trouble> {
        self.orders.send(order).await.map_err(|_| Trouble::Gone)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{SinkExt, StreamExt};
    use serde_json::json;
    use supervisor::{Endpoint, StartOptions, Stream};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_tungstenite::{WebSocketStream, accept_async, client_async, tungstenite};

    use super::*;
    use crate::guest::{self, Door};

    type Peer = WebSocketStream<TcpStream>;

    /// A line, and who plays the browser at its other end.
    async fn line() -> (Line, Peer) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://127.0.0.1:{}/", listener.local_addr().unwrap().port());
        let accepting = tokio::spawn(async move { accept_async(listener.accept().await.unwrap().0).await });
        let endpoint = Endpoint::parse(&url).unwrap();
        let socket = RawSocket::open(&endpoint, &StartOptions::default()).await.unwrap();
        (Line::over(socket), accepting.await.unwrap().unwrap())
    }

    async fn guest(line: &Line) -> WebSocketStream<Box<dyn Stream>> {
        let (door, way) = Door::open();
        let coming = tokio::spawn(async move {
            let stream = way("probe.invalid", 80).await.unwrap();
            client_async(guest::URL, stream).await.unwrap().0
        });
        line.carry(door.guest().await.unwrap()).await.unwrap();
        coming.await.unwrap()
    }

    async fn read<S: Stream>(socket: &mut WebSocketStream<S>) -> Value {
        serde_json::from_str(socket.next().await.unwrap().unwrap().to_text().unwrap()).unwrap()
    }

    async fn write<S: Stream>(socket: &mut WebSocketStream<S>, message: Value) {
        socket.send(tungstenite::Message::text(message.to_string())).await.unwrap();
    }

    /// A command of our own that attaches to something, and its session.
    async fn attached(line: &Line, browser: &mut Peer, session: &str) -> Route {
        let result = line.post(&Route::Root, "Target.attachToBrowserTarget", json!({})).await.unwrap();
        let command = read(browser).await;
        write(browser, json!({ "id": command["id"], "result": { "sessionId": session } })).await;
        assert_eq!(result.await.unwrap().unwrap()["sessionId"], session);
        Route::Session(session.into())
    }

    #[tokio::test]
    async fn what_is_the_guests_passes_and_what_is_ours_stays() {
        let (line, mut browser) = line().await;
        let ours = attached(&line, &mut browser, "OURS").await;
        let (mut events, mut guest) = (line.events(), guest(&line).await);
        write(&mut guest, json!({ "id": 1, "method": "Target.setAutoAttach" })).await;
        assert_eq!(read(&mut browser).await, json!({ "id": 1, "method": "Target.setAutoAttach" }));
        let result = line.post(&ours, "Fetch.enable", json!({})).await.unwrap();
        let command = read(&mut browser).await;
        assert_eq!((&command["sessionId"], &command["method"]), (&json!("OURS"), &json!("Fetch.enable")));

        let refused = json!({ "code": -32601, "message": "no" });
        write(&mut browser, json!({ "id": command["id"], "error": refused })).await;
        let child = json!({ "sessionId": "CHILD", "targetInfo": {} });
        write(
            &mut browser,
            json!({ "method": "Target.attachedToTarget", "sessionId": "OURS", "params": child }),
        )
        .await;
        write(&mut browser, json!({ "method": "Fetch.requestPaused", "sessionId": "CHILD", "params": {} }))
            .await;
        let theirs = [json!({ "id": 1, "result": {} }), json!({ "method": "A.b", "sessionId": "THEIRS" })];
        for message in &theirs {
            write(&mut browser, message.clone()).await;
        }

        assert!(matches!(result.await.unwrap(), Err(Trouble::Refused { code: -32601, .. })));
        for method in ["Target.attachedToTarget", "Fetch.requestPaused"] {
            assert_eq!(events.recv().await.unwrap().method, method);
        }
        for message in theirs {
            assert_eq!(read(&mut guest).await, message);
        }
    }

    #[tokio::test]
    async fn what_a_guest_has_attached_to_is_let_go_when_it_leaves() {
        let (line, mut browser) = line().await;
        attached(&line, &mut browser, "OURS").await;
        drop(guest(&line).await);
        let off = read(&mut browser).await;
        assert_eq!(
            (&off["method"], &off["params"]["autoAttach"]),
            (&json!("Target.setAutoAttach"), &json!(false))
        );
        assert_eq!(read(&mut browser).await["method"], "Target.setDiscoverTargets");
        line.release().await.unwrap();
        drop(browser);
        let gone = line.send(&Route::Root, "Browser.getVersion", json!({})).await;
        assert_eq!(gone, Err(Trouble::Gone));
        assert!(line.is_gone());
    }
}
