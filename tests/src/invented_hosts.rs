//! Pages on `https` hosts that exist nowhere: another client of the browser answers in their place.

use std::collections::HashMap;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

/// A client that answers every request to `https://*.test/`. Dropping it ends that.
pub struct InventedHosts {
    answering: JoinHandle<()>,
}

impl InventedHosts {
    /// Serves these pages, by their path, on every page that is open now.
    pub async fn serve(ws_url: &str, pages: &[(&str, &str)]) -> Self {
        let host = ws_url.strip_prefix("ws://").and_then(|rest| rest.split('/').next()).unwrap();
        let stream = TcpStream::connect(host).await.unwrap();
        let (socket, _) = client_async(ws_url, stream).await.unwrap();
        let pages = pages.iter().map(|(path, html)| ((*path).to_owned(), (*html).to_owned())).collect();
        let (ready_now, mut ready) = watch::channel(false);
        let answering = tokio::spawn(answer(Client { socket, last_id: 0 }, pages, ready_now));
        ready.wait_for(|ready| *ready).await.unwrap();
        Self { answering }
    }
}

impl Drop for InventedHosts {
    fn drop(&mut self) {
        self.answering.abort();
    }
}

struct Client {
    socket: WebSocketStream<TcpStream>,
    last_id: u64,
}

impl Client {
    async fn send(&mut self, method: &str, params: Value, session: &Value) -> u64 {
        self.last_id += 1;
        let mut command = json!({ "id": self.last_id, "method": method, "params": params });
        if !session.is_null() {
            command["sessionId"] = session.clone();
        }
        self.socket.send(Message::text(command.to_string())).await.unwrap();
        self.last_id
    }
}

async fn answer(mut client: Client, pages: HashMap<String, String>, ready: watch::Sender<bool>) {
    let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": false, "flatten": true });
    let mut pages_only = attach.clone();
    pages_only["filter"] = json!([{ "type": "page" }]);
    client.send("Target.setAutoAttach", pages_only, &Value::Null).await;
    let mut enabled = None;
    while let Some(Ok(message)) = client.socket.next().await {
        let Message::Text(text) = message else { continue };
        let message: Value = serde_json::from_str(&text).unwrap();
        let params = &message["params"];
        match message["method"].as_str() {
            Some("Target.attachedToTarget") => {
                let patterns = json!({ "patterns": [{ "urlPattern": "https://*.test/*" }] });
                enabled = Some(client.send("Fetch.enable", patterns, &params["sessionId"]).await);
                client.send("Target.setAutoAttach", attach.clone(), &params["sessionId"]).await;
            }
            Some("Fetch.requestPaused") => fulfil(&mut client, &pages, params, &message["sessionId"]).await,
            _ if message["id"].as_u64() == enabled && enabled.is_some() => drop(ready.send(true)),
            _ => {}
        }
    }
}

async fn fulfil(client: &mut Client, pages: &HashMap<String, String>, params: &Value, session: &Value) {
    let url = params["request"]["url"].as_str().unwrap();
    let path = url.splitn(4, '/').nth(3).unwrap_or_default().split('?').next().unwrap();
    let page = pages.get(&format!("/{path}"));
    let headers = json!([{ "name": "Content-Type", "value": "text/html;charset=utf-8" }]);
    let reply = json!({ "requestId": params["requestId"], "responseCode": if page.is_some() { 200 } else { 404 },
        "responseHeaders": headers, "body": base64(page.map_or("", String::as_str).as_bytes()) });
    client.send("Fetch.fulfillRequest", reply, session).await;
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let groups = bytes.chunks(3).map(|chunk| {
        let byte = |place: usize| u32::from(chunk.get(place).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        let digit = |place: usize| match place {
            place if place > chunk.len() => '=',
            place => char::from(DIGITS[(bits >> (18 - 6 * place) & 0x3F) as usize]),
        };
        (0..4).map(digit).collect::<String>()
    });
    groups.collect()
}
