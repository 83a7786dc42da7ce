//! Another client of the same browser: it speaks CDP as it is, and supervises nothing.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::stage::patience;

/// A connection that remembers all it has heard. Dropping it closes the socket.
pub struct RawClient {
    commands: mpsc::UnboundedSender<String>,
    heard: watch::Receiver<Vec<Value>>,
    last_id: AtomicU64,
    connection: JoinHandle<()>,
}

impl RawClient {
    /// Connects to `ws://host:port/…`.
    pub async fn connect(ws_url: &str) -> Self {
        let host = ws_url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let (socket, _) = client_async(ws_url, stream).await.unwrap();
        let (commands, outgoing) = mpsc::unbounded_channel();
        let (heard_now, heard) = watch::channel(Vec::new());
        let connection = tokio::spawn(carry(socket, outgoing, heard_now));
        Self { commands, heard, last_id: AtomicU64::new(0), connection }
    }

    /// Sends a command and waits for the browser's reply, which is given whole, with its `result` or `error`.
    pub async fn send(&self, method: &str, params: Value, session: Option<&str>) -> Value {
        self.reply(self.post(method, params, session)).await
    }

    /// Sends a command and waits for nothing; the id is for [`RawClient::reply`].
    pub fn post(&self, method: &str, params: Value, session: Option<&str>) -> u64 {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let mut command = json!({ "id": id, "method": method, "params": params });
        if let Some(session) = session {
            command["sessionId"] = json!(session);
        }
        self.commands.send(command.to_string()).unwrap();
        id
    }

    /// Waits for the reply to a command.
    pub async fn reply(&self, id: u64) -> Value {
        self.heard_where(&format!("a reply to command {id}"), |message| message["id"] == id).await
    }

    /// Waits for the first event with this method; one that has come already counts.
    pub async fn event(&self, method: &str) -> Value {
        self.heard_where(method, |message| message["method"] == method).await
    }

    /// Waits for the first event with this method that is as wished.
    pub async fn event_where(&self, method: &str, wished: impl Fn(&Value) -> bool) -> Value {
        self.heard_where(method, |message| message["method"] == method && wished(message)).await
    }

    /// How many events with this method have come.
    #[must_use]
    pub fn events(&self, method: &str) -> usize {
        self.heard.borrow().iter().filter(|message| message["method"] == method).count()
    }

    /// Attaches to a target, in a session of this client's own.
    pub async fn attach(&self, target: &str) -> String {
        let params = json!({ "targetId": target, "flatten": true });
        let reply = self.send("Target.attachToTarget", params, None).await;
        reply["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{reply}")).to_owned()
    }

    /// Closes the socket, and waits until that is done.
    pub async fn close(self) {
        drop(self.commands);
        self.connection.await.unwrap();
    }

    async fn heard_where(&self, what: &str, wished: impl Fn(&Value) -> bool) -> Value {
        let mut heard = self.heard.clone();
        let wait = heard.wait_for(|heard| heard.iter().any(&wished));
        let found = timeout(patience(), wait).await.unwrap_or_else(|_| panic!("{what} did not come"));
        let heard = found.unwrap_or_else(|_| panic!("the socket was closed before {what} came"));
        heard.iter().find(|message| wished(message)).cloned().unwrap()
    }
}

/// Runs until either side has had enough.
async fn carry(
    mut socket: WebSocketStream<TcpStream>,
    mut outgoing: mpsc::UnboundedReceiver<String>,
    heard: watch::Sender<Vec<Value>>,
) {
    loop {
        tokio::select! {
            command = outgoing.recv() => match command {
                Some(command) => if socket.send(Message::text(command)).await.is_err() { return },
                None => return finish(socket).await,
            },
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let message = serde_json::from_str(&text).unwrap();
                    heard.send_modify(|heard| heard.push(message));
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

/// Says goodbye and waits for the other side to, so that the browser knows.
async fn finish(mut socket: WebSocketStream<TcpStream>) {
    if socket.close(None).await.is_ok() {
        while let Some(Ok(_)) = socket.next().await {}
    }
}
