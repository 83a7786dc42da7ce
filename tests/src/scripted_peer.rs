//! A scripted browser behind a real WebSocket: it has one page and sets it up by itself; the test adds what it likes, down
//! to single bytes.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

use crate::own_port;
use crate::planted::PLANTED;
use crate::stage::patience;

/// The peer's page, which is also its main frame.
pub const PAGE: &str = "PAGE";
/// The page's session.
pub const SESSION: &str = "S1";

/// How a peer answers commands by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// As a browser with one page does; answers to dialogs close them.
    Browser,
    /// It never answers.
    Silent,
    /// It answers everything with an error.
    Errors,
    /// As a browser until the handshake is done, then with errors.
    ErrorsAfterHandshake,
    /// As a browser, but a script that is evaluated is never answered.
    NoScripts,
    /// As a browser, but an answer to a dialog is never taken.
    IgnoresAnswers,
    /// As a browser, until it is asked for its version a second time: then it never answers again.
    HangsWhenProbed,
}

/// A peer that accepts connections until it is dropped.
pub struct ScriptedPeer {
    port: u16,
    connections: UnboundedReceiver<PeerConnection>,
    accepting: JoinHandle<()>,
}

/// One connection of a client. Dropping it ends it.
pub struct PeerConnection {
    head: String,
    out: UnboundedSender<Out>,
    commands: UnboundedReceiver<Value>,
}

/// Sends on a connection, as long as it is open.
pub struct PeerSender(UnboundedSender<Out>);

/// Messages that a flood sends before it waits until they are written.
const FLOOD_AHEAD: usize = 64;

impl PeerSender {
    /// Sends a text as often as fits, and waits until all of it is on its way. `false` once the connection is closed.
    pub async fn send(&self, text: &str) -> bool {
        let (written, wait) = oneshot::channel();
        for _ in 0..FLOOD_AHEAD {
            let _ = self.0.send(Out::Message(Message::text(text)));
        }
        let _ = self.0.send(Out::Mark(written));
        wait.await.is_ok()
    }
}

enum Out {
    Message(Message),
    Raw(Vec<u8>),
    /// Bytes with nothing behind them, not even a reply: then the stream ends.
    Last(Vec<u8>),
    /// Tells that everything before was written.
    Mark(oneshot::Sender<()>),
    End,
}

impl ScriptedPeer {
    /// Starts a peer.
    pub async fn start(manner: Manner) -> Self {
        let (listener, port) = own_port::listen().await;
        let (tell, connections) = unbounded_channel();
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, manner, tell.clone()));
            }
        });
        Self { port, connections, accepting }
    }

    /// Its port.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/B?token={PLANTED}peer", self.port)
    }

    /// The next connection that got as far as the WebSocket.
    pub async fn connection(&mut self) -> PeerConnection {
        timeout(patience(), self.connections.recv()).await.expect("no connection came").unwrap()
    }

    /// The next connection, whenever it comes.
    pub async fn connection_at_any_time(&mut self) -> PeerConnection {
        self.connections.recv().await.unwrap()
    }

    /// The last of the connections that were made so far.
    pub async fn newest(&mut self) -> PeerConnection {
        let mut newest = self.connection().await;
        while let Ok(next) = self.connections.try_recv() {
            newest = next;
        }
        newest
    }
}

impl Drop for ScriptedPeer {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl PeerConnection {
    /// The path and the headers that it was asked with, one a line.
    #[must_use]
    pub fn head(&self) -> &str {
        &self.head
    }

    /// The next command, as long as the client is there.
    pub async fn next_command(&mut self) -> Option<Value> {
        self.commands.recv().await
    }

    /// Sends a message to the client.
    pub fn send(&self, message: &Value) {
        self.send_text(message.to_string());
    }

    /// Sends any text.
    pub fn send_text(&self, text: impl Into<String>) {
        self.send_message(Message::text(text.into()));
    }

    /// Sends any message.
    pub fn send_message(&self, message: Message) {
        let _ = self.out.send(Out::Message(message));
    }

    /// Sends bytes as they are, behind the messages before.
    pub fn send_raw(&self, bytes: impl Into<Vec<u8>>) {
        let _ = self.out.send(Out::Raw(bytes.into()));
    }

    /// Sends bytes as they are, behind the messages before, and ends the stream behind them.
    pub fn send_last(&self, bytes: impl Into<Vec<u8>>) {
        let _ = self.out.send(Out::Last(bytes.into()));
    }

    /// For a flood beside everything else.
    #[must_use]
    pub fn sender(&self) -> PeerSender {
        PeerSender(self.out.clone())
    }

    /// Ends the stream, behind what was sent before.
    pub fn end(&self) {
        let _ = self.out.send(Out::End);
    }

    /// An event of the page's session.
    pub fn event(&self, method: &str, params: Value) {
        self.send(&event(method, params));
    }

    /// A dialog opens on the page.
    pub fn opens_dialog(&self, message: &str) {
        self.send(&dialog_opening(message));
    }

    /// Waits for a command with this method; those before it are skipped.
    pub async fn command(&mut self, method: &str) -> Value {
        let wait = async {
            loop {
                let command = self.commands.recv().await.unwrap_or_else(|| panic!("no {method} came"));
                if command["method"] == method {
                    return command;
                }
            }
        };
        timeout(patience(), wait).await.unwrap_or_else(|_| panic!("no {method} came in time"))
    }

    /// Answers a command.
    pub fn reply(&self, command: &Value, result: Value) {
        self.send(&reply(command, "result", result));
    }
}

fn event(method: &str, params: Value) -> Value {
    json!({ "method": method, "params": params, "sessionId": SESSION })
}

/// What says that a dialog opened on the page.
#[must_use]
pub fn dialog_opening(message: &str) -> Value {
    let params = json!({ "url": "https://example.com/", "frameId": PAGE, "message": message, "type": "confirm",
        "hasBrowserHandler": true, "defaultPrompt": "" });
    event("Page.javascriptDialogOpening", params)
}

/// The bytes of a WebSocket frame as a server sends it: `first` has FIN and the opcode.
#[must_use]
pub fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let mut bytes = frame_head(first, payload.len() as u64);
    bytes.extend(payload);
    bytes
}

/// The head of a frame that claims to be so long.
#[must_use]
pub fn frame_head(first: u8, length: u64) -> Vec<u8> {
    let mut head = vec![first];
    match length {
        0..126 => head.push(length.to_le_bytes()[0]),
        126..=0xffff => {
            head.push(126);
            head.extend(&length.to_be_bytes()[6..]);
        }
        _ => {
            head.push(127);
            head.extend(length.to_be_bytes());
        }
    }
    head
}

async fn serve(stream: TcpStream, manner: Manner, tell: UnboundedSender<PeerConnection>) {
    let mut head = String::new();
    #[expect(clippy::result_large_err, reason = "the library's own signature")]
    let note = |request: &Request, response: Response| {
        head = format!("{}\n", request.uri());
        for (name, value) in request.headers() {
            head.push_str(&format!("{name}: {}\n", value.to_str().unwrap_or("?")));
        }
        Ok(response)
    };
    let Ok(socket) = tokio_tungstenite::accept_hdr_async(stream, note).await else { return };
    let (out, outgoing) = unbounded_channel();
    let (commands_in, commands) = unbounded_channel();
    let _ = tell.send(PeerConnection { head, out, commands });
    converse(socket, manner, outgoing, commands_in).await;
}

/// Ends when either side closes, or when the test drops its connection.
async fn converse(
    mut socket: WebSocketStream<TcpStream>,
    manner: Manner,
    mut outgoing: UnboundedReceiver<Out>,
    commands: UnboundedSender<Value>,
) {
    let mut versions = 0;
    loop {
        let sent = tokio::select! {
            out = outgoing.recv() => match out {
                Some(Out::Message(message)) => socket.send(message).await.is_ok(),
                Some(Out::Raw(bytes)) => socket.get_mut().write_all(&bytes).await.is_ok(),
                Some(Out::Last(bytes)) => {
                    // The client may be gone already; then nothing is lost by that.
                    let _ = socket.get_mut().write_all(&bytes).await;
                    let _ = socket.get_mut().shutdown().await;
                    return;
                }
                Some(Out::Mark(written)) => written.send(()).is_ok(),
                Some(Out::End) | None => return,
            },
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let command: Value = serde_json::from_str(&text).unwrap();
                    versions += usize::from(command["method"] == "Browser.getVersion");
                    let hangs = manner == Manner::HangsWhenProbed && versions > 1;
                    let answers = if hangs { Vec::new() } else { answers(manner, &command) };
                    let _ = commands.send(command);
                    send_all(&mut socket, answers).await
                }
                Some(Ok(_)) => true,
                Some(Err(_)) | None => return,
            },
        };
        if !sent {
            return;
        }
    }
}

async fn send_all(socket: &mut WebSocketStream<TcpStream>, messages: Vec<Value>) -> bool {
    for message in messages {
        if socket.send(Message::text(message.to_string())).await.is_err() {
            return false;
        }
    }
    true
}

fn reply(command: &Value, what: &str, content: Value) -> Value {
    let mut reply = json!({ "id": command["id"] });
    reply[what] = content;
    if let Some(session) = command.get("sessionId") {
        reply["sessionId"] = session.clone();
    }
    reply
}

fn answers(manner: Manner, command: &Value) -> Vec<Value> {
    let error =
        || vec![reply(command, "error", json!({ "code": -32_000, "message": "Nothing works today" }))];
    let of_page = command.get("sessionId").is_some();
    match manner {
        Manner::Silent => Vec::new(),
        Manner::Errors => error(),
        Manner::ErrorsAfterHandshake if of_page => error(),
        Manner::NoScripts if command["method"] == "Runtime.evaluate" => Vec::new(),
        Manner::IgnoresAnswers if command["method"] == "Page.handleJavaScriptDialog" => Vec::new(),
        _ => as_a_browser(command, of_page),
    }
}

/// What a browser with one page says to this.
fn as_a_browser(command: &Value, of_page: bool) -> Vec<Value> {
    let ok = |result: Value| reply(command, "result", result);
    match command["method"].as_str().unwrap() {
        "Browser.getVersion" => vec![ok(json!({ "protocolVersion": "1.3", "product": "Chrome/156.0.0.0",
            "revision": "r", "userAgent": "ua", "jsVersion": "1" }))],
        "Target.setAutoAttach" if !of_page => vec![attached(), ok(json!({}))],
        "Runtime.enable" => vec![context(), ok(json!({}))],
        "Runtime.evaluate" => vec![ok(json!({ "result": { "type": "number", "value": 42 } }))],
        "Page.getFrameTree" => vec![ok(json!({ "frameTree": { "frame": { "id": PAGE, "loaderId": "L",
            "url": "https://example.com/", "securityOrigin": "https://example.com", "mimeType": "text/html" } } }))],
        "Page.handleJavaScriptDialog" => {
            let result = &command["params"]["accept"];
            let closed = json!({ "result": result, "userInput": "", "frameId": PAGE });
            vec![
                json!({ "method": "Page.javascriptDialogClosed", "sessionId": SESSION, "params": closed }),
                ok(json!({})),
            ]
        }
        _ => vec![ok(json!({}))],
    }
}

fn attached() -> Value {
    json!({ "method": "Target.attachedToTarget", "params": { "sessionId": SESSION, "waitingForDebugger": false,
        "targetInfo": { "targetId": PAGE, "type": "page", "title": "Example", "url": "https://example.com/",
            "attached": true, "canAccessOpener": false, "browserContextId": "C" } } })
}

fn context() -> Value {
    json!({ "method": "Runtime.executionContextCreated", "sessionId": SESSION, "params": { "context": { "id": 1,
        "origin": "https://example.com", "name": "", "uniqueId": "U1",
        "auxData": { "isDefault": true, "type": "default", "frameId": PAGE } } } })
}
