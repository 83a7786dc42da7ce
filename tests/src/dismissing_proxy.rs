//! A backend that closes dialogs itself: a proxy in the path of CDP that dismisses each native dialog after a moment.

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

use crate::own_port;

/// What drivers take to dismiss a dialog that nobody listens to.
const MOMENT: Duration = Duration::from_millis(10);

/// The ids of the proxy's own commands begin here; no client of a test comes that far.
const OWN_IDS: u64 = 1_000_000_000;

/// A proxy on a port of its own. Dropping it ends everything that goes through it.
pub struct DismissingProxy {
    url: String,
    accepting: JoinHandle<()>,
}

impl DismissingProxy {
    /// Starts a proxy to `ws://host:port/path`.
    pub async fn to(ws_url: &str) -> Self {
        let (listener, port) = own_port::listen().await;
        let path = ws_url.strip_prefix("ws://").and_then(|rest| rest.split_once('/')).unwrap().1;
        let url = format!("ws://127.0.0.1:{port}/{path}");
        Self { url, accepting: tokio::spawn(accept(listener, ws_url.to_owned())) }
    }

    /// The browser's URL, through this proxy.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for DismissingProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, ws_url: String) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        connections.spawn(carry(client, ws_url.clone()));
    }
}

/// Runs until either side has had enough.
async fn carry(client: TcpStream, ws_url: String) {
    let mut client = accept_async(client).await.unwrap();
    let mut browser = connect(&ws_url).await;
    let (dismiss, mut dismissals) = mpsc::unbounded_channel();
    let mut own = BTreeSet::new();
    loop {
        tokio::select! {
            message = client.next() => match message {
                Some(Ok(message @ Message::Text(_))) => browser.send(message).await.unwrap(),
                Some(Ok(_)) => {}
                _ => return,
            },
            message = browser.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let seen: Value = serde_json::from_str(&text).unwrap();
                    if seen["method"] == "Page.javascriptDialogOpening" {
                        dismiss_later(&dismiss, seen["sessionId"].clone());
                    }
                    if !seen["id"].as_u64().is_some_and(|id| own.remove(&id)) && client.send(Message::Text(text)).await.is_err() {
                        return;
                    }
                }
                Some(Ok(_)) => {}
                _ => return,
            },
            Some(session) = dismissals.recv() => {
                let id = OWN_IDS + own.len() as u64;
                own.insert(id);
                let command = json!({ "id": id, "sessionId": session, "method": "Page.handleJavaScriptDialog",
                    "params": { "accept": false } });
                browser.send(Message::text(command.to_string())).await.unwrap();
            }
        }
    }
}

fn dismiss_later(dismiss: &mpsc::UnboundedSender<Value>, session: Value) {
    let dismiss = dismiss.clone();
    tokio::spawn(async move {
        tokio::time::sleep(MOMENT).await;
        // Nobody waits for it when the connection is gone.
        let _ = dismiss.send(session);
    });
}

pub(crate) async fn connect(ws_url: &str) -> WebSocketStream<TcpStream> {
    let host = ws_url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap();
    let stream = TcpStream::connect(host).await.unwrap();
    client_async(ws_url, stream).await.unwrap().0
}
