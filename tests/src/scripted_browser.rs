//! A browser of one page behind real WebSockets, for any number of clients at once: it knows dialogs and nothing else, and
//! takes the first answer that arrives.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::task::{JoinHandle, JoinSet};
use tokio_tungstenite::accept_async;
use tokio_tungstenite::tungstenite::Message;

use crate::own_port;

/// The page, which is also its main frame.
const PAGE: &str = "PAGE";

/// The browser. Dropping it ends its sockets.
pub struct ScriptedBrowser {
    port: u16,
    world: Arc<Mutex<World>>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct World {
    clients: BTreeMap<u64, UnboundedSender<Message>>,
    open: bool,
    won: Option<Winner>,
}

/// Whose answer it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Winner {
    /// The client, counted from 1 in the order of their connections.
    pub client: u64,
    /// What it answered.
    pub accept: bool,
}

impl ScriptedBrowser {
    /// Starts a browser.
    pub async fn start() -> Self {
        let ((listener, port), world) = (own_port::listen().await, Arc::<Mutex<World>>::default());
        Self { port, world: Arc::clone(&world), accepting: tokio::spawn(accept(listener, world)) }
    }

    /// Its socket.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/B?token={}peer", self.port, crate::planted::PLANTED)
    }

    /// A script of the page opens a confirm.
    pub fn ask(&self, message: &str) {
        let mut world = self.world.lock().unwrap();
        assert!(!world.open, "a page has one dialog at most");
        (world.open, world.won) = (true, None);
        world.tell_all(
            "Page.javascriptDialogOpening",
            &json!({"url": "https://example.com/", "frameId": PAGE, "message": message, "type": "confirm",
                "hasBrowserHandler": true, "defaultPrompt": ""}),
        );
    }

    /// Whose answer closed the last dialog.
    #[must_use]
    pub fn winner(&self) -> Option<Winner> {
        self.world.lock().unwrap().won
    }
}

impl Drop for ScriptedBrowser {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

async fn accept(listener: TcpListener, world: Arc<Mutex<World>>) {
    let mut connections = JoinSet::new();
    for client in 1.. {
        let (stream, _) = listener.accept().await.unwrap();
        connections.spawn(serve(stream, client, Arc::clone(&world)));
    }
}

async fn serve(stream: TcpStream, client: u64, world: Arc<Mutex<World>>) {
    stream.set_nodelay(true).unwrap();
    let (mut to_client, mut from_client) = accept_async(stream).await.unwrap().split();
    let (out, mut outgoing) = unbounded_channel();
    world.lock().unwrap().clients.insert(client, out);
    let write = async {
        while let Some(message) = outgoing.recv().await {
            if to_client.send(message).await.is_err() {
                return;
            }
        }
    };
    let read = async {
        while let Some(Ok(message)) = from_client.next().await {
            if let Message::Text(text) = message {
                world.lock().unwrap().take(client, &serde_json::from_str(&text).unwrap());
            }
        }
    };
    tokio::select! { () = write => {}, () = read => {} }
    world.lock().unwrap().clients.remove(&client);
}

impl World {
    /// All clients hear of the page, each on its own session.
    fn tell_all(&self, method: &str, params: &Value) {
        for (client, out) in &self.clients {
            send(out, &json!({"method": method, "params": params, "sessionId": session(*client)}));
        }
    }

    /// A command: dialogs are answered once, everything else succeeds.
    fn take(&mut self, client: u64, command: &Value) {
        let method = command["method"].as_str().unwrap();
        let outcome = match method {
            "Page.handleJavaScriptDialog" if self.open => {
                self.close(Winner { client, accept: command["params"]["accept"] == true });
                json!({"result": {}})
            }
            "Page.handleJavaScriptDialog" => {
                json!({"error": {"code": -32602, "message": "No dialog is showing"}})
            }
            _ => json!({ "result": result(client, method) }),
        };
        let Some(out) = self.clients.get(&client) else { return };
        if method == "Target.setAutoAttach" && command.get("sessionId").is_none() {
            send(out, &attached(client));
        }
        let mut reply = outcome;
        reply["id"] = command["id"].clone();
        if let Some(session) = command.get("sessionId") {
            reply["sessionId"] = session.clone();
        }
        send(out, &reply);
    }

    fn close(&mut self, winner: Winner) {
        (self.open, self.won) = (false, Some(winner));
        let params = json!({"frameId": PAGE, "result": winner.accept, "userInput": ""});
        self.tell_all("Page.javascriptDialogClosed", &params);
    }
}

fn session(client: u64) -> String {
    format!("S{client}")
}

fn send(out: &UnboundedSender<Message>, message: &Value) {
    // A client that is gone hears nothing.
    let _ = out.send(Message::text(message.to_string()));
}

fn result(client: u64, method: &str) -> Value {
    match method {
        "Browser.getVersion" => json!({"protocolVersion": "1.3", "product": "Chrome/156.0.0.0"}),
        "Target.attachToTarget" => json!({"sessionId": session(client)}),
        "Page.getFrameTree" => json!({"frameTree": {"frame": {"id": PAGE, "loaderId": "L",
            "url": "https://example.com/", "securityOrigin": "https://example.com", "mimeType": "text/html"}}}),
        _ => json!({}),
    }
}

fn attached(client: u64) -> Value {
    json!({"method": "Target.attachedToTarget", "params": {"sessionId": session(client),
        "waitingForDebugger": false, "targetInfo": {"targetId": PAGE, "type": "page", "title": "Example",
        "url": "https://example.com/", "attached": true, "canAccessOpener": false, "browserContextId": "C"}}})
}
