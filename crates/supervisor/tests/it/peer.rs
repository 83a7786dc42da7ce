//! A scripted browser behind a real WebSocket: one page, set up by itself; everything else is up to the test.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

/// Generous: it only ends a test that would hang.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

/// The page, which is also its main frame.
pub(crate) const PAGE: &str = "PAGE";
/// The page's session.
pub(crate) const SESSION: &str = "S1";

/// The guard's session on the page.
pub(crate) const GUARD_SESSION: &str = "G1";

/// Left to the test to answer.
const MANUAL: [&str; 5] = [
    "Page.handleJavaScriptDialog",
    "Page.getNavigationHistory",
    "Runtime.evaluate",
    "DOM.getDocument",
    "Test.wait",
];

/// A browser that accepts connections.
pub(crate) struct Peer {
    port: u16,
    accepted: Arc<AtomicUsize>,
    connections: UnboundedReceiver<Connection>,
}

/// One connection of a client.
pub(crate) struct Connection {
    pub(crate) headers: Vec<String>,
    out: UnboundedSender<Message>,
    commands: UnboundedReceiver<Value>,
}

impl Peer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (accepted, (tell, connections)) = (Arc::<AtomicUsize>::default(), unbounded_channel());
        tokio::spawn(accept(listener, Arc::clone(&accepted), tell));
        Self { port, accepted, connections }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/B?token=planted5f1dpeer", self.port)
    }

    /// How many sockets were accepted so far.
    pub(crate) fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }

    /// The next connection.
    pub(crate) async fn connection(&mut self) -> Connection {
        within(self.next()).await
    }

    /// The next connection, whenever it comes.
    pub(crate) async fn next(&mut self) -> Connection {
        self.connections.recv().await.unwrap()
    }
}

impl Connection {
    /// Sends a message to the client.
    pub(crate) fn send(&self, message: &Value) {
        let _ = self.out.send(Message::text(message.to_string()));
    }

    pub(crate) fn send_raw(&self, message: Message) {
        let _ = self.out.send(message);
    }

    pub(crate) fn opens_dialog(&self, kind: &str, message: &str) {
        self.opens_dialog_on(SESSION, kind, message);
    }

    pub(crate) fn opens_dialog_on(&self, session: &str, kind: &str, message: &str) {
        let params = json!({"url": "https://example.com/", "frameId": PAGE, "message": message, "type": kind,
            "hasBrowserHandler": true, "defaultPrompt": ""});
        self.send(&json!({"method": "Page.javascriptDialogOpening", "params": params, "sessionId": session}));
    }

    pub(crate) fn closes_dialog(&self, result: bool) {
        self.closes_dialog_on(SESSION, result);
    }

    pub(crate) fn closes_dialog_on(&self, session: &str, result: bool) {
        let params = json!({"result": result, "userInput": "", "frameId": PAGE});
        self.send(&json!({"method": "Page.javascriptDialogClosed", "params": params, "sessionId": session}));
    }

    /// The next command with this method; those before it are skipped.
    pub(crate) async fn command(&mut self, method: &str) -> Value {
        loop {
            let command = within(self.commands.recv()).await.unwrap_or_else(|| panic!("no {method} came"));
            if command["method"] == method {
                return command;
            }
        }
    }

    /// Answers a command.
    pub(crate) fn reply(&self, command: &Value, result: &Value) {
        self.send(&reply(command, result));
    }

    /// Waits for the answer to the dialog, and does what a browser does with it.
    pub(crate) async fn takes_answer(&mut self) -> Value {
        let answer = self.command("Page.handleJavaScriptDialog").await;
        let session = answer["sessionId"].as_str().unwrap_or(SESSION);
        self.closes_dialog_on(session, answer["params"]["accept"] == true);
        self.reply(&answer, &json!({}));
        answer
    }

    /// Opens a dialog as soon as the page is set up, and takes answers until the client closes the connection.
    pub(crate) async fn asks(&mut self) {
        while let Some(command) = self.commands.recv().await {
            match command["method"].as_str() {
                Some("Page.getFrameTree") => self.opens_dialog("confirm", "Sure?"),
                Some("Page.handleJavaScriptDialog") => {
                    self.closes_dialog(command["params"]["accept"] == true);
                    self.reply(&command, &json!({}));
                }
                _ => {}
            }
        }
    }

    /// Waits until the client has closed the connection.
    pub(crate) async fn closed(&mut self) {
        within(async { while self.commands.recv().await.is_some() {} }).await;
    }
}

pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    timeout(LIMIT, future).await.expect("it took too long")
}

async fn accept(listener: TcpListener, accepted: Arc<AtomicUsize>, tell: UnboundedSender<Connection>) {
    while let Ok((stream, _)) = listener.accept().await {
        accepted.fetch_add(1, Ordering::SeqCst);
        // Small messages go out at once.
        stream.set_nodelay(true).unwrap();
        tokio::spawn(serve(stream, tell.clone()));
    }
}

async fn serve(stream: TcpStream, tell: UnboundedSender<Connection>) {
    let mut headers = Vec::new();
    #[expect(clippy::result_large_err, reason = "the library's own signature")]
    let note = |request: &Request, response: Response| {
        headers.push(format!("path: {}", request.uri()));
        headers.extend(
            request.headers().iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())),
        );
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, note).await else { return };
    let (out, outgoing) = unbounded_channel();
    let (commands_in, commands) = unbounded_channel();
    let _ = tell.send(Connection { headers, out, commands });
    converse(socket, outgoing, commands_in).await;
}

/// Ends when either side closes, or when the test drops its connection.
async fn converse(
    mut socket: WebSocketStream<TcpStream>,
    mut outgoing: UnboundedReceiver<Message>,
    commands: UnboundedSender<Value>,
) {
    loop {
        tokio::select! {
            message = outgoing.recv() => match message {
                Some(message) => if socket.send(message).await.is_err() { return },
                None => return,
            },
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let command: Value = serde_json::from_str(&text).unwrap();
                    for answer in automatic(&command) {
                        if socket.send(Message::text(answer.to_string())).await.is_err() { return }
                    }
                    let _ = commands.send(command);
                }
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
    }
}

fn reply(command: &Value, result: &Value) -> Value {
    let mut reply = json!({"id": command["id"], "result": result});
    if let Some(session) = command.get("sessionId") {
        reply["sessionId"] = session.clone();
    }
    reply
}

/// What a browser with one page says to this.
fn automatic(command: &Value) -> Vec<Value> {
    let method = command["method"].as_str().unwrap();
    let of_page = command.get("sessionId").is_some();
    let ok = |result: Value| reply(command, &result);
    match method {
        _ if MANUAL.contains(&method) => Vec::new(),
        "Browser.getVersion" => vec![ok(json!({"protocolVersion": "1.3", "product": "Chrome/156.0.0.0",
            "revision": "r", "userAgent": "ua", "jsVersion": "1"}))],
        "Target.setAutoAttach" if !of_page => vec![attached(), ok(json!({}))],
        "Target.attachToTarget" => vec![ok(json!({"sessionId": GUARD_SESSION}))],
        "Runtime.enable" => vec![context(), ok(json!({}))],
        "Page.getFrameTree" => vec![ok(json!({"frameTree": {"frame": {"id": PAGE, "loaderId": "L",
            "url": "https://example.com/", "securityOrigin": "https://example.com", "mimeType": "text/html"}}}))],
        _ => vec![ok(json!({}))],
    }
}

fn attached() -> Value {
    json!({"method": "Target.attachedToTarget", "params": {"sessionId": SESSION, "waitingForDebugger": false,
        "targetInfo": {"targetId": PAGE, "type": "page", "title": "Example", "url": "https://example.com/",
            "attached": true, "canAccessOpener": false, "browserContextId": "C"}}})
}

fn context() -> Value {
    json!({"method": "Runtime.executionContextCreated", "sessionId": SESSION, "params": {"context": {"id": 1,
        "origin": "https://example.com", "name": "", "uniqueId": "U1",
        "auxData": {"isDefault": true, "type": "default", "frameId": PAGE}}}})
}
