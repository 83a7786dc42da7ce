//! A backend that has a browser of its own for each connection.

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async, client_async};

use crate::own_port;

/// One URL behind which each connection finds another browser. Dropping it ends everything that goes through it.
pub struct PerConnection {
    url: String,
    accepting: JoinHandle<()>,
}

impl PerConnection {
    /// The first connection leads to the first of these `ws://…` URLs, and so on, and then from the beginning again.
    pub async fn to(browsers: &[&str]) -> Self {
        let (listener, port) = own_port::listen().await;
        let browsers: Vec<String> = browsers.iter().map(|url| (*url).to_owned()).collect();
        let url = format!("ws://127.0.0.1:{port}/devtools/browser/session");
        Self { url, accepting: tokio::spawn(accept(listener, browsers)) }
    }

    /// Where all of them are.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for PerConnection {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, browsers: Vec<String>) {
    let mut connections = JoinSet::new();
    for browser in browsers.iter().cycle() {
        let (client, _) = listener.accept().await.unwrap();
        connections.spawn(carry(client, browser.clone()));
    }
}

/// Runs until either side has had enough.
async fn carry(client: TcpStream, browser: String) {
    let mut client = accept_async(client).await.unwrap();
    let mut browser = connect(&browser).await;
    loop {
        tokio::select! {
            message = client.next() => match message {
                Some(Ok(message @ Message::Text(_))) => if browser.send(message).await.is_err() { return },
                Some(Ok(_)) => {}
                _ => return,
            },
            message = browser.next() => match message {
                Some(Ok(message @ Message::Text(_))) => if client.send(message).await.is_err() { return },
                Some(Ok(_)) => {}
                _ => return,
            },
        }
    }
}

async fn connect(ws_url: &str) -> WebSocketStream<TcpStream> {
    let host = ws_url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap();
    let stream = TcpStream::connect(host).await.unwrap();
    client_async(ws_url, stream).await.unwrap().0
}
