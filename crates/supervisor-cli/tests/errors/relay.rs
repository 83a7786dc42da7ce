//! A backend's relay in front of a real browser, which has two faults that browsers have not.

use std::net::{Ipv4Addr, TcpListener};

use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{accept_async, client_async};

/// It answers this as Chromium does for a session that it does not know.
pub(crate) const LOSES_SESSION: &str = "Runtime.getHeapUsage";

/// It ends the connection when it is to pass this on.
pub(crate) const CUTS: &str = "Runtime.getIsolateId";

/// The browser's URL through the relay, which is there as long as the process.
pub(crate) fn to(ws_url: &str) -> String {
    let (host, path) = ws_url.strip_prefix("ws://").and_then(|rest| rest.split_once('/')).unwrap();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("ws://{}/{path}", listener.local_addr().unwrap());
    let (host, ws_url) = (host.to_owned(), ws_url.to_owned());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            loop {
                let (client, _) = listener.accept().await.unwrap();
                carry(client, &host, &ws_url).await;
            }
        });
    });
    url
}

/// Runs until either side has had enough, or one of the faults.
async fn carry(client: TcpStream, host: &str, ws_url: &str) {
    let Ok(mut client) = accept_async(client).await else { return };
    let Ok(stream) = TcpStream::connect(host).await else { return };
    let Ok((mut browser, _)) = client_async(ws_url, stream).await else { return };
    loop {
        let passed = tokio::select! {
            Some(Ok(message)) = client.next() => match told(&message) {
                Some((method, _)) if method == CUTS => return,
                Some((method, command)) if method == LOSES_SESSION => client.send(lost(&command)).await,
                _ => browser.send(message).await,
            },
            Some(Ok(message)) = browser.next() => client.send(message).await,
            else => return,
        };
        if passed.is_err() {
            return;
        }
    }
}

fn told(message: &Message) -> Option<(String, Value)> {
    let command: Value = serde_json::from_str(message.to_text().ok()?).ok()?;
    Some((command["method"].as_str()?.to_owned(), command))
}

fn lost(command: &Value) -> Message {
    let error = json!({"code": -32001, "message": "Session with given id not found."});
    Message::text(json!({"id": command["id"], "sessionId": command["sessionId"], "error": error}).to_string())
}
