//! `bench-client` against servers that are much simpler than a browser: what a harness from outside may be.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket, accept};

/// Generous: it only ends a test that would hang.
const LIMIT: Duration = Duration::from_secs(30);

const CONNECTIONS: usize = 3;

/// What the server does when a connection was set up.
type Play = fn(&mut Peer);

/// One connection, as the server sees it.
struct Peer {
    socket: WebSocket<TcpStream>,
    /// Whether a page is announced, as browsers do it.
    announces: bool,
    /// The methods of all commands so far.
    asked: Vec<String>,
}

impl Peer {
    fn event(&mut self, method: &str, params: &Value) {
        let mut event = json!({"method": method, "params": params});
        if self.announces {
            event["sessionId"] = "S".into();
        }
        self.socket.send(Message::text(event.to_string())).unwrap();
    }

    /// Answers everything with an empty result until this command comes, and gives it.
    fn until(&mut self, wanted: &str) -> Value {
        loop {
            let text = self.socket.read().unwrap();
            let Ok(command) = serde_json::from_str::<Value>(text.to_text().unwrap()) else { continue };
            if self.announces && command["method"] == "Target.setAutoAttach" && command["sessionId"].is_null()
            {
                let info = json!({"targetId": "P", "type": "page"});
                let params = json!({"sessionId": "S", "targetInfo": info, "waitingForDebugger": false});
                let event = json!({"method": "Target.attachedToTarget", "params": params});
                self.socket.send(Message::text(event.to_string())).unwrap();
            }
            self.asked.push(command["method"].as_str().unwrap().to_owned());
            let mut reply = json!({"id": command["id"], "result": {}});
            reply["sessionId"] = command["sessionId"].clone();
            reply.as_object_mut().unwrap().retain(|_, value| !value.is_null());
            self.socket.send(Message::text(reply.to_string())).unwrap();
            if command["method"] == wanted {
                return command;
            }
        }
    }
}

/// Serves each connection on a thread and says when its play is over.
fn serve(announces: bool, play: Play) -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (over, plays) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let over: Sender<()> = over.clone();
            std::thread::spawn(move || {
                let mut peer = Peer { socket: accept(stream).unwrap(), announces, asked: Vec::new() };
                peer.until("Runtime.runIfWaitingForDebugger");
                play(&mut peer);
                let _ = over.send(());
            });
        }
    });
    (port, plays)
}

fn start(url: &str) -> Child {
    command(url).spawn().unwrap()
}

fn command(url: &str) -> Command {
    let connections = CONNECTIONS.to_string();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.args(["bench-client", "--url", url, "--conns", &connections]).stdout(Stdio::piped());
    command.stdin(Stdio::null());
    command
}

fn wait_until_ready(client: &mut Child) {
    let mut line = String::new();
    BufReader::new(client.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "READY\n");
}

fn floods_and_asks(peer: &mut Peer) {
    for number in 0..1_000 {
        let args = json!([{"type": "number", "value": number}]);
        peer.event(
            "Runtime.consoleAPICalled",
            &json!({"type": "log", "args": args, "executionContextId": 1}),
        );
        peer.event("Page.frameStartedLoading", &json!({"frameId": "P"}));
    }
    for message in ["first", "second"] {
        let params =
            json!({"url": "http://a.test/", "message": message, "type": "alert", "hasBrowserHandler": false});
        peer.event("Page.javascriptDialogOpening", &params);
        // This server never tells that a dialog was closed.
        let answer = peer.until("Page.handleJavaScriptDialog");
        assert_eq!(answer["params"]["accept"], true);
    }
}

fn waits_for_the_end(peer: &mut Peer) {
    while peer.socket.read().is_ok() {}
}

#[test]
fn each_connection_is_supervised_until_the_server_closes_it() {
    for (announces, path) in [(true, ""), (true, "devtools/browser/B"), (false, "devtools/page/P")] {
        let (port, plays) = serve(announces, floods_and_asks);
        let mut client = start(&format!("ws://127.0.0.1:{port}/{path}"));
        wait_until_ready(&mut client);
        (0..CONNECTIONS).for_each(|_| plays.recv_timeout(LIMIT).unwrap());
        assert_eq!(client.wait().unwrap().code(), Some(0), "{path}");
    }
}

#[test]
fn a_signal_stops_all_tasks() {
    let (port, plays) = serve(true, waits_for_the_end);
    let mut client = start(&format!("ws://127.0.0.1:{port}/"));
    wait_until_ready(&mut client);
    kill_process(Pid::from_child(&client), Signal::TERM).unwrap();
    (0..CONNECTIONS).for_each(|_| plays.recv_timeout(LIMIT).unwrap());
    assert_eq!(client.wait().unwrap().code(), Some(0));
}

#[test]
fn a_server_that_is_not_there_is_a_failure() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut client = start(&format!("ws://127.0.0.1:{port}/"));
    assert_eq!(client.wait().unwrap().code(), Some(1));
}

static OPENED: AtomicUsize = AtomicUsize::new(0);

/// The first one leaves once it was answered, the others when it would long have come again.
fn leaves(peer: &mut Peer) {
    floods_and_asks(peer);
    if OPENED.fetch_add(1, Ordering::SeqCst) > 0 {
        // Longer than the pause before a task connects again the first time, were it to do so.
        std::thread::sleep(Duration::from_millis(1_500));
    }
}

#[test]
fn a_socket_that_closed_is_not_opened_again_and_the_others_go_on() {
    let (port, plays) = serve(true, leaves);
    let mut client = start(&format!("ws://127.0.0.1:{port}/"));
    wait_until_ready(&mut client);
    (0..CONNECTIONS).for_each(|_| plays.recv_timeout(LIMIT).unwrap());
    assert_eq!(client.wait().unwrap().code(), Some(0));
    assert_eq!(OPENED.load(Ordering::SeqCst), CONNECTIONS);
}

static GATE: AtomicBool = AtomicBool::new(false);

/// Accepts all connections at once, and does not let any be attached before the gate is open.
fn serve_behind_a_gate() -> (u16, Receiver<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, connected) = channel();
    std::thread::spawn(move || {
        let sockets: Vec<_> = listener
            .incoming()
            .flatten()
            .take(CONNECTIONS)
            .map(|stream| {
                tell.send(()).unwrap();
                accept(stream).unwrap()
            })
            .collect();
        for (number, socket) in sockets.into_iter().enumerate() {
            std::thread::spawn(move || {
                // All but one are attached at once.
                while number == 0 && !GATE.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                let mut peer = Peer { socket, announces: true, asked: Vec::new() };
                peer.until("Runtime.runIfWaitingForDebugger");
                waits_for_the_end(&mut peer);
            });
        }
    });
    (port, connected)
}

#[test]
fn all_connect_at_once_and_ready_is_said_when_the_last_is_attached() {
    let (port, connected) = serve_behind_a_gate();
    let mut client = start(&format!("ws://127.0.0.1:{port}/"));
    // None of them waits until another is attached.
    (0..CONNECTIONS).for_each(|_| connected.recv_timeout(LIMIT).unwrap());
    let mut out = client.stdout.take().unwrap();
    let (say, said) = channel();
    std::thread::spawn(move || {
        let mut ready = [0; 6];
        say.send(out.read_exact(&mut ready).map(|()| ready)).unwrap();
    });
    // Whatever came in this time came too early.
    assert_eq!(said.recv_timeout(Duration::from_millis(300)).err(), Some(RecvTimeoutError::Timeout));
    GATE.store(true, Ordering::SeqCst);
    assert_eq!(&said.recv_timeout(LIMIT).unwrap().unwrap(), b"READY\n");
    kill_process(Pid::from_child(&client), Signal::TERM).unwrap();
    assert_eq!(client.wait().unwrap().code(), Some(0));
}

/// All files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

static LOOKED: AtomicBool = AtomicBool::new(false);

fn asks_and_looks(peer: &mut Peer) {
    floods_and_asks(peer);
    let scripts = ["Fetch.enable", "Page.addScriptToEvaluateOnNewDocument"];
    assert!(peer.asked.iter().all(|method| !scripts.contains(&method.as_str())), "{:?}", peer.asked);
    // The journal is gone when the last socket has closed.
    while !LOOKED.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn there_is_a_journal_that_is_thrown_away_and_no_bridge_and_no_recording() {
    let scratch = tempfile::tempdir().unwrap();
    let (port, plays) = serve(true, asks_and_looks);
    let mut client = command(&format!("ws://127.0.0.1:{port}/"));
    client.env("TMPDIR", scratch.path()).env("HOME", scratch.path()).current_dir(scratch.path());
    let mut client = client.env_remove("XDG_STATE_HOME").spawn().unwrap();
    wait_until_ready(&mut client);
    let kept = files(scratch.path());
    assert!(!kept.is_empty(), "there is no journal");
    assert!(kept.iter().all(|path| path.extension().is_none_or(|end| end != "jsonl")), "{kept:?}");
    LOOKED.store(true, Ordering::SeqCst);
    (0..CONNECTIONS).for_each(|_| plays.recv_timeout(LIMIT).unwrap());
    assert_eq!(client.wait().unwrap().code(), Some(0));
    assert_eq!(files(scratch.path()), Vec::<PathBuf>::new());
}
