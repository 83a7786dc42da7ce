//! Owns the socket of a [line](crate::line), and sorts what comes: the guest's, and the probe's own.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cdp_wire::{CommandId, Event, Message, Reply, SessionId, decode, encode_raw, repair_lone_surrogates};
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use supervisor::RawSocket;
use supervisor::supervisor_core::Route;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio_tungstenite::tungstenite::{self, Utf8Bytes};

use crate::error::Trouble;
use crate::guest::Guest;
use crate::line::{Answer, Heard, Order, Outgoing};

/// The probe's own commands begin here. Browsers read ids as 32 bits with a sign; a task counts from 1.
const FIRST_ID: u64 = 2_000_000_000;

/// Owns the socket and carries messages until either side has had enough.
pub(crate) struct Carrier {
    socket: RawSocket,
    heard: broadcast::Sender<Arc<Heard>>,
    waiting: HashMap<u64, (&'static str, oneshot::Sender<Answer>)>,
    ours: HashSet<SessionId>,
    guest: Option<Box<Guest>>,
    next_id: u64,
}

impl Carrier {
    pub(crate) fn new(socket: RawSocket, heard: broadcast::Sender<Arc<Heard>>) -> Self {
        let (waiting, ours) = (HashMap::new(), HashSet::new());
        Self { socket, heard, waiting, ours, guest: None, next_id: FIRST_ID }
    }

    /// Runs until nobody has orders any more, or the socket is gone.
    pub(crate) async fn run(mut self, mut given: mpsc::Receiver<Order>) {
        loop {
            let goes_on = tokio::select! {
                order = given.recv() => match order {
                    Some(order) => self.obey(order).await,
                    None => return self.socket.close().await,
                },
                message = self.socket.recv() => match message {
                    Some(text) => self.arrived(text).await,
                    None => false,
                },
                asked = asked(&mut self.guest) => match asked {
                    Some(text) => self.socket.send(text.as_str().to_owned()).await.is_ok(),
                    None => self.release().await,
                },
            };
            if !goes_on {
                return;
            }
        }
    }

    async fn obey(&mut self, order: Order) -> bool {
        match order {
            Order::Send(outgoing) => self.send(outgoing).await,
            Order::Carry(guest) => {
                self.guest = Some(guest);
                true
            }
            Order::Release(done) => {
                let released = self.release().await;
                let _ = done.send(());
                released
            }
        }
    }

    async fn send(&mut self, outgoing: Outgoing) -> bool {
        let Outgoing { route, method, params, reply } = outgoing;
        let id = self.next_id;
        self.next_id += 1;
        self.waiting.insert(id, (method, reply));
        let session = match &route {
            Route::Root => None,
            Route::Session(session) => Some(session),
        };
        self.socket.send(encode_raw(CommandId(id), session, method, &params.to_string())).await.is_ok()
    }

    /// Without it, what the guest attached to would stay attached, and every new page would wait for it.
    async fn release(&mut self) -> bool {
        if self.guest.take().is_none() {
            return true;
        }
        let off = json!({ "autoAttach": false, "waitForDebuggerOnStart": false, "flatten": true });
        self.tell("Target.setAutoAttach", off).await
            && self.tell("Target.setDiscoverTargets", json!({ "discover": false })).await
    }

    async fn tell(&mut self, method: &'static str, params: Value) -> bool {
        self.send(Outgoing { route: Route::Root, method, params, reply: oneshot::channel().0 }).await
    }

    async fn arrived(&mut self, text: Utf8Bytes) -> bool {
        match decode(&text) {
            Ok(Message::Reply(reply)) if reply.id.0 >= FIRST_ID => self.replied(&reply),
            Ok(Message::Event(event)) if self.is_ours(&event) => self.happened(&event),
            _ => return self.pass(text).await,
        }
        true
    }

    /// A guest that has gone is noticed where it is read.
    async fn pass(&mut self, text: Utf8Bytes) -> bool {
        if let Some(guest) = &mut self.guest {
            let _ = guest.send(tungstenite::Message::Text(text)).await;
        }
        true
    }

    fn replied(&mut self, reply: &Reply<'_>) {
        let Some((method, waits)) = self.waiting.remove(&reply.id.0) else { return };
        let result = match &reply.outcome {
            Ok(result) => Ok(parsed(result)),
            Err(error) => {
                Err(Trouble::Refused { method, code: error.code, message: error.message.as_str().to_owned() })
            }
        };
        if let Ok(result) = &result {
            self.attached(result);
        }
        let _ = waits.send(result);
    }

    fn is_ours(&self, event: &Event<'_>) -> bool {
        match &event.session {
            Some(session) => self.ours.contains(session.as_str()),
            None => self.guest.is_none(),
        }
    }

    fn happened(&mut self, event: &Event<'_>) {
        let params = parsed(event.params);
        if event.method.as_str() == "Target.attachedToTarget" {
            self.attached(&params);
        }
        let session = event.session.as_ref().map(|session| SessionId::from(session.as_str()));
        let _ =
            self.heard.send(Arc::new(Heard { session, method: event.method.as_str().to_owned(), params }));
    }

    fn attached(&mut self, told: &Value) {
        if let Some(session) = told["sessionId"].as_str() {
            self.ours.insert(session.into());
        }
    }
}

async fn asked(guest: &mut Option<Box<Guest>>) -> Option<Utf8Bytes> {
    let Some(guest) = guest else { return std::future::pending().await };
    loop {
        match guest.next().await {
            Some(Ok(tungstenite::Message::Text(text))) => return Some(text),
            Some(Ok(tungstenite::Message::Close(_)) | Err(_)) | None => return None,
            Some(Ok(_)) => {}
        }
    }
}

/// What cannot be read is null, and whoever looks into it says what is missing.
fn parsed(json: &str) -> Value {
    serde_json::from_str(&repair_lone_surrogates(json)).unwrap_or_default()
}
