//! Tokens that are planted wherever a secret can be given, and a look into everything that comes out: both output streams of
//! every subcommand with everything logged, journals, recordings, pages and bundles.
//!
//! All planted tokens begin alike. The peers of other tests plant one too, and `cargo xtask test` looks through all that the
//! whole run wrote.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;

use integration_tests::{Manner, PLANTED, PeerConnection, ScriptedPeer, built_command, planted_in};
use serde_json::{Value, json};
use tokio::sync::Mutex;

/// A browser whose URL has every place for a secret, and a host that gives the others.
struct Planted {
    home: tempfile::TempDir,
    url: String,
    /// What the peer was asked with, so that it is known that the tokens were used.
    heads: Arc<Mutex<Vec<String>>>,
    /// A proxy that wants another password.
    proxy: Refusing,
    /// What was printed, by whom.
    said: Vec<(String, Vec<u8>)>,
}

impl Planted {
    async fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let peer = ScriptedPeer::start(Manner::Browser).await;
        let host = format!("127.0.0.1:{}", peer.port());
        let url = format!("ws://{PLANTED}user:{PLANTED}pass@{host}/devtools/browser/B?token={PLANTED}query");
        let heads = Arc::<Mutex<Vec<String>>>::default();
        tokio::spawn(serve(peer, Arc::clone(&heads)));
        std::fs::create_dir(home.path().join("recordings")).unwrap();
        let config = format!(
            "browser:\n  headers: {{Authorization: 'Bearer {PLANTED}auth', Cookie: 'sid={PLANTED}cookie', X-Key: {PLANTED}key}}\n"
        );
        let file = home.path().join("config.yaml");
        std::fs::write(&file, config).unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self { home, url, heads, proxy: Refusing::start(), said: Vec::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    /// With everything logged, and nothing of the machine that it runs on.
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(built_command());
        let home = self.home.path();
        command.args(args).env_clear().current_dir(home).stdin(Stdio::null());
        command.env("HOME", home).env("PATH", std::env::var_os("PATH").unwrap()).env("TMPDIR", home);
        command.env("XDG_STATE_HOME", home.join("state")).env("XDG_RUNTIME_DIR", home);
        command.env("BROWSER_CDP_URL", &self.url).env("CDP_SUPERVISOR_LOG_LEVEL", "trace");
        command.env("CDP_SUPERVISOR_RECONNECT_TRIES", "1").env("RUST_BACKTRACE", "1");
        command
            .env("HTTPS_PROXY", format!("http://{PLANTED}user:{PLANTED}proxy@127.0.0.1:{}", self.proxy.port));
        command
    }

    /// Runs to the end, however that is.
    fn run(&mut self, args: &[&str]) {
        let output = self.command(args).output().unwrap();
        self.keep(args, output.stdout, output.stderr);
    }

    fn keep(&mut self, args: &[&str], out: Vec<u8>, err: Vec<u8>) {
        let name = args.join(" ");
        assert!(!out.is_empty() || !err.is_empty(), "{name} says nothing");
        self.said.push((format!("{name}, standard output"), out));
        self.said.push((format!("{name}, standard error"), err));
    }

    /// Runs until it has printed a line with each of these, then is told to end.
    fn run_until(&mut self, args: &[&str], lines: &[&str]) {
        let mut command = self.command(args);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut heard = Vec::new();
        for wanted in lines {
            until(&mut out, &mut heard, wanted);
        }
        self.end(args, child, heard, out);
    }

    /// Signals it, and takes the rest of what it says.
    fn end(&mut self, args: &[&str], child: Child, mut heard: Vec<u8>, mut rest: impl std::io::Read) {
        let signalled = Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap();
        assert!(signalled.success());
        rest.read_to_end(&mut heard).unwrap();
        let output = child.wait_with_output().unwrap();
        self.keep(args, heard, output.stderr);
    }

    /// An agent that uses the tools.
    fn talk(&mut self, args: &[&str], requests: &[Value]) {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut heard = Vec::new();
        for (id, request) in requests.iter().enumerate() {
            let mut message = request.clone();
            message["jsonrpc"] = json!("2.0");
            let is_request = request["method"] != "notifications/initialized";
            if is_request {
                message["id"] = json!(id);
            }
            writeln!(input, "{message}").unwrap();
            if is_request {
                until(&mut out, &mut heard, &format!("\"id\":{id}"));
            }
        }
        drop(input);
        std::io::Read::read_to_end(&mut out, &mut heard).unwrap();
        let output = child.wait_with_output().unwrap();
        self.keep(args, heard, output.stderr);
    }

    /// Every place where a token is, and how much was looked through.
    fn found(&self) -> (Vec<String>, usize) {
        let mut files = Vec::new();
        walk(self.home.path(), &mut files);
        let files = files.into_iter().filter(|path| !path.ends_with("config.yaml"));
        let files = files.map(|path| (path.display().to_string(), std::fs::read(&path).unwrap()));
        let all: Vec<(String, Vec<u8>)> = files.chain(self.said.iter().cloned()).collect();
        let found = all.iter().filter_map(|(name, bytes)| Some(format!("{name}: {}", planted_in(bytes)?)));
        (found.collect(), all.len())
    }
}

/// A proxy that refuses everybody, and what it was asked with.
struct Refusing {
    port: u16,
    heads: Arc<std::sync::Mutex<String>>,
}

impl Refusing {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, heads) =
            (listener.local_addr().unwrap().port(), Arc::<std::sync::Mutex<String>>::default());
        let asked = Arc::clone(&heads);
        std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| refuse(stream, &asked)));
        Self { port, heads }
    }
}

fn refuse(mut stream: TcpStream, asked: &std::sync::Mutex<String>) {
    let lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let head: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    asked.lock().unwrap().push_str(&head.join("\n"));
    let _ = stream.write_all(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
}

fn until(out: &mut impl BufReadHalf, heard: &mut Vec<u8>, wanted: &str) {
    loop {
        let begun = heard.len();
        let read = out.line(heard);
        assert!(read > 0, "it ended before {wanted}: {}", String::from_utf8_lossy(heard));
        if String::from_utf8_lossy(&heard[begun..]).contains(wanted) {
            return;
        }
    }
}

/// One more line of a stream.
trait BufReadHalf {
    fn line(&mut self, into: &mut Vec<u8>) -> usize;
}

impl<R: std::io::Read> BufReadHalf for BufReader<R> {
    fn line(&mut self, into: &mut Vec<u8>) -> usize {
        self.read_until(b'\n', into).unwrap()
    }
}

fn walk(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap() {
            kind if kind.is_dir() => walk(&entry.path(), files),
            kind if kind.is_file() => files.push(entry.path()),
            _ => {}
        }
    }
}

/// Each connection has a dialog; a page that sets cookies and asks with credentials is what a browser tells of.
async fn serve(mut peer: ScriptedPeer, heads: Arc<Mutex<Vec<String>>>) {
    loop {
        let mut connection = peer.connection_at_any_time().await;
        heads.lock().await.push(connection.head().to_owned());
        tokio::spawn(async move {
            while let Some(command) = connection.next_command().await {
                if command["method"] == "Page.getFrameTree" {
                    connection.opens_dialog("a page asks");
                    credentials(&connection);
                }
            }
        });
    }
}

/// What the network domain tells, if a host has it enabled.
fn credentials(connection: &PeerConnection) {
    let headers =
        json!({ "Authorization": format!("Bearer {PLANTED}page"), "Cookie": format!("a={PLANTED}sent") });
    connection.event("Network.requestWillBeSentExtraInfo", json!({ "requestId": "1", "headers": headers }));
    let set = json!({ "Set-Cookie": format!("a={PLANTED}set; HttpOnly") });
    connection.event("Network.responseReceivedExtraInfo", json!({ "requestId": "1", "headers": set }));
}

fn tool(name: &str, arguments: Value) -> Value {
    json!({ "method": "tools/call", "params": { "name": name, "arguments": arguments } })
}

fn conversation(other: &str) -> Vec<Value> {
    let client = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" } });
    let elsewhere = json!({ "cdp_url": other, "task_id": "elsewhere" });
    let set = json!({ "method": "Network.setCookie",
        "params": { "name": "a", "value": format!("{PLANTED}setcookie"), "url": "https://a.test/" } });
    let extra = json!({ "method": "Network.setExtraHTTPHeaders",
        "params": { "headers": { "Authorization": format!("Bearer {PLANTED}extra") } } });
    vec![
        json!({ "method": "initialize", "params": client }),
        json!({ "method": "notifications/initialized" }),
        tool("browser_snapshot", json!({ "wait_s": 5 })),
        tool("browser_dialog", json!({ "action": "accept" })),
        tool("browser_cdp", set),
        tool("browser_cdp", extra),
        tool("browser_eval", json!({ "expression": "6 * 7" })),
        tool("browser_connect", elsewhere),
        tool("browser_connect", json!({ "cdp_url": format!("ftp://{PLANTED}scheme/") })),
        tool("browser_disconnect", json!({})),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn no_planted_token_comes_out_anywhere() {
    let mut it = Planted::start().await;
    let nowhere = format!("wss://{PLANTED}user:{PLANTED}pass@host.invalid/x?token={PLANTED}query");
    let refused = format!("http://{PLANTED}user:{PLANTED}pass@127.0.0.1:9/?token={PLANTED}query");
    tokio::task::block_in_place(|| {
        it.talk(&["mcp", "--recording", "recordings"], &conversation(&nowhere));
        it.run_until(&["watch", "--json", "--recording", "recordings"], &["a page asks"]);
        it.run_until(&["watch"], &["a page asks"]);
        it.run_until(&["serve", "--json"], &["socket"]);
        for url in [nowhere.as_str(), refused.as_str()] {
            for command in ["watch", "probe", "doctor", "config"] {
                it.run(&[command, url]);
            }
            it.run(&["doctor", url, "--connect", "--json"]);
        }
        it.run(&["config", "--json"]);
        it.run(&["doctor", "--bundle", "bundle.json"]);
        it.run(&["status"]);
        it.run(&["connect", nowhere.as_str()]);
        it.run(&["journal", "list"]);
        it.run(&["journal", "export", "default"]);
        let recordings = std::fs::read_dir(it.path("recordings")).unwrap().map(|entry| entry.unwrap().path());
        let recording = recordings.max_by_key(|path| path.metadata().unwrap().size()).unwrap();
        assert!(recording.metadata().unwrap().size() > 1_000, "{}", recording.display());
        let recording = recording.to_str().unwrap();
        it.run(&["replay", recording, "--json"]);
        it.run(&["timeline", recording, "-o", "timeline.html"]);
    });
    let heads = it.heads.lock().await.join("\n");
    for used in ["query", "auth", "cookie", "key"] {
        assert!(heads.contains(&format!("{PLANTED}{used}")), "{used} was never sent: {heads}");
    }
    let to_proxy = it.proxy.heads.lock().unwrap().clone();
    assert!(
        to_proxy.contains("CONNECT host.invalid:443") && to_proxy.contains("Proxy-Authorization: Basic "),
        "{to_proxy}"
    );
    assert!(planted_in(to_proxy.as_bytes()).is_some(), "the proxy's password was never sent: {to_proxy}");
    let (found, places) = it.found();
    assert_eq!(found, Vec::<String>::new());
    println!("{places} outputs and files, no planted token");
    assert!(places > 50, "{places}");
}

#[test]
fn a_token_is_found_in_plain_and_in_base64_wherever_it_stands() {
    // In Base64: `planted5f1duser:pw`, `a:planted5f1dproxy`, and the token as the password of `us`, `u` and `user`.
    let all = [
        "before planted5f1dquery",
        "Basic cGxhbnRlZDVmMWR1c2VyOnB3",
        "Basic YTpwbGFudGVkNWYxZHByb3h5",
        "Basic dXM6cGxhbnRlZDVmMWQ=",
        "Basic dTpwbGFudGVkNWYxZA==",
        "Basic dXNlcjpwbGFudGVkNWYxZA==",
    ];
    for text in all {
        assert!(planted_in(text.as_bytes()).is_some(), "{text}");
    }
    assert_eq!(planted_in(b"planted5f1, and Basic dXNlcjpwYXNz"), None);
}
