//! The browser model behind a real WebSocket.

use browser_model::{Action, Browser, Config};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::task::JoinHandle;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message;

use crate::client::Client;

/// A browser with one page. Gone when it is dropped, with its socket and its port.
pub(crate) struct BrowserLike {
    port: u16,
    actions: UnboundedSender<Action>,
    serving: JoinHandle<()>,
}

impl BrowserLike {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (actions, received) = unbounded_channel();
        let mut browser = Browser::new(Config::default());
        browser.act(Action::NewPage);
        Self { port, actions, serving: tokio::spawn(serve(listener, browser, received)) }
    }

    pub(crate) fn url(&self) -> String {
        format!("ws://127.0.0.1:{}/devtools/browser/B?token=planted5f1dpeer", self.port)
    }

    /// A browser and a client whose task `default` is connected to it, with its page set up.
    pub(crate) async fn with_client() -> (Self, Client) {
        let (browser, client) = (Self::start().await, Client::new().await);
        browser.connect(&client, "default").await;
        (browser, client)
    }

    /// Connects a task of the client to it, and waits until its page is set up: a dialog that opens before is another story.
    pub(crate) async fn connect(&self, client: &Client, task_id: &str) {
        client.done("browser_connect", json!({"cdp_url": self.url(), "task_id": task_id})).await;
        client.done("browser_eval", json!({"expression": "1", "task_id": task_id})).await;
    }

    /// Makes something happen in it. `DropSocket` closes the connection of the client.
    pub(crate) fn act(&self, action: Action) {
        self.actions.send(action).unwrap();
    }
}

impl Drop for BrowserLike {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

async fn serve(listener: TcpListener, mut browser: Browser, mut actions: UnboundedReceiver<Action>) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        let Ok(socket) = tokio_tungstenite::accept_async(stream).await else { continue };
        converse(socket, &mut browser, &mut actions).await;
        browser.act(Action::DropSocket);
    }
}

async fn converse(
    mut socket: WebSocketStream<TcpStream>,
    browser: &mut Browser,
    actions: &mut UnboundedReceiver<Action>,
) {
    loop {
        tokio::select! {
            Some(action) = actions.recv() => {
                if action == Action::DropSocket {
                    return;
                }
                browser.act(action);
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => browser.receive(&text),
                Some(Ok(_)) => {}
                Some(Err(_)) | None => return,
            },
        }
        browser.finish_all();
        while let Some(text) = browser.ready().first().and_then(|source| browser.emit(*source)) {
            if socket.send(Message::text(text)).await.is_err() {
                return;
            }
        }
    }
}
