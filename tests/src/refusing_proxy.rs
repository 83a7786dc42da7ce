//! A backend that does not do everything: a proxy in the path of CDP that does not pass some commands on.

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

use crate::dismissing_proxy::connect;
use crate::own_port;

/// A proxy on a port of its own. Dropping it ends everything that goes through it.
pub struct RefusingProxy {
    url: String,
    accepting: JoinHandle<()>,
}

impl RefusingProxy {
    /// Starts a proxy to `ws://host:port/path` that knows no such methods.
    pub async fn to(ws_url: &str, unknown: &'static [&'static str]) -> Self {
        let (listener, port) = own_port::listen().await;
        let path = ws_url.strip_prefix("ws://").and_then(|rest| rest.split_once('/')).unwrap().1;
        let url = format!("ws://127.0.0.1:{port}/{path}");
        Self { url, accepting: tokio::spawn(accept(listener, ws_url.to_owned(), unknown)) }
    }

    /// The browser's URL, through this proxy.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for RefusingProxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, ws_url: String, unknown: &'static [&'static str]) {
    let mut connections = JoinSet::new();
    loop {
        let (client, _) = listener.accept().await.unwrap();
        connections.spawn(carry(client, ws_url.clone(), unknown));
    }
}

/// Runs until either side has had enough.
async fn carry(client: TcpStream, ws_url: String, unknown: &[&str]) {
    let mut client = accept_async(client).await.unwrap();
    let mut browser = connect(&ws_url).await;
    loop {
        let sent = tokio::select! {
            message = client.next() => match message {
                Some(Ok(Message::Text(text))) => browser.send(Message::text(refused(&text, unknown))).await,
                Some(Ok(_)) => Ok(()),
                _ => return,
            },
            message = browser.next() => match message {
                Some(Ok(message @ Message::Text(_))) => client.send(message).await,
                Some(Ok(_)) => Ok(()),
                _ => return,
            },
        };
        if sent.is_err() {
            return;
        }
    }
}

/// The browser itself refuses what it does not know.
fn refused(command: &str, unknown: &[&str]) -> String {
    unknown.iter().fold(command.to_owned(), |command, method| {
        command.replace(&format!("\"{method}\""), &format!("\"Refused.{method}\""))
    })
}
