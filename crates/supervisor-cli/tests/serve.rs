//! `serve` and its clients, as a user runs them.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

/// Only decides how fast a broken test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// Surroundings of our own: home, socket, temporary files.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn socket(&self) -> PathBuf {
        self.path().join("cdp-supervisor.sock")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path()).env("XDG_RUNTIME_DIR", self.path());
        command
            .env("TMPDIR", self.path())
            .envs(std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "CHROME"));
        command
    }

    fn run(&self, args: &[&str]) -> Said {
        Said::from(self.command(args).output().unwrap())
    }

    /// The same with this on standard input.
    fn pipe(&self, args: &[&str], input: &str) -> Said {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        Said::from(child.wait_with_output().unwrap())
    }

    /// A server in the foreground, once it can be used.
    fn serve(&self, args: &[&str]) -> Server {
        let mut command = self.command(&[&["serve", "--json"], args].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        out.read_line(&mut line).unwrap();
        if line.is_empty() {
            let mut err = String::new();
            child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
            panic!("the server did not start: {err}");
        }
        let ready: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(ready, json!({"pid": child.id(), "socket": self.socket()}));
        Server { child, _out: out }
    }
}

/// What a command said, and how it ended.
#[derive(Debug)]
struct Said {
    code: Option<i32>,
    out: String,
    err: String,
}

impl From<Output> for Said {
    fn from(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Self { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
    }
}

impl Said {
    #[track_caller]
    fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{self:?}");
        self
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

/// Killed when it is dropped.
struct Server {
    child: Child,
    /// Read by nobody, and open: writing there must not fail.
    _out: BufReader<ChildStdout>,
}

impl Server {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    fn ends(&mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until it is so.
#[track_caller]
fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !so() {
        assert!(begin.elapsed() < PATIENCE, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

const CLIENTS: [&[&str]; 11] = [
    &["status"],
    &["connect", "http://127.0.0.1:1"],
    &["snapshot"],
    &["dialog", "accept"],
    &["recover", "T", "reload"],
    &["cdp", "Page.reload"],
    &["eval", "1"],
    &["result", "c-1"],
    &["console"],
    &["frames"],
    &["disconnect"],
];

#[test]
fn without_a_server_every_client_says_so_and_exits_with_3() {
    let home = Home::new();
    for client in CLIENTS {
        let said = home.run(client).exits(3);
        let socket = home.socket().display().to_string();
        assert!(said.err.contains(&socket) && said.err.contains("serve --detach"), "{client:?}: {said:?}");
    }
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    let home = Home::new();
    for wrong in [
        &["dialog"][..],
        &["dialog", "maybe"],
        &["recover", "T", "navigate"],
        &["cdp", "Page.navigate", "{not json"],
        &["serve", "--log-file", "x"],
        &["connect", "--target", "T", "--browser-context", "C"],
    ] {
        home.run(wrong).exits(2);
    }
}

#[test]
fn a_server_is_for_its_owner_alone_and_there_is_one() {
    let home = Home::new();
    let mut server = home.serve(&[]);
    assert_eq!(home.socket().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let status = home.run(&["status", "--json"]).exits(0).json();
    assert_eq!((&status["pid"], &status["tasks"]), (&json!(server.child.id()), &json!([])));
    assert_eq!(status["version"], env!("CARGO_PKG_VERSION"));
    let refused = home.run(&["serve"]).exits(1);
    let names = format!("already, process {}", server.child.id());
    assert!(refused.err.contains(&names), "{refused:?}");
    server.signal(Signal::TERM);
    assert_eq!(server.ends(), Some(0));
    assert!(!home.socket().exists());
    home.run(&["status"]).exits(3);
}

#[test]
fn each_signal_ends_it() {
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let home = Home::new();
        let mut server = home.serve(&[]);
        server.signal(signal);
        assert_eq!(server.ends(), Some(0), "{signal:?}");
        assert!(!home.socket().exists());
    }
}

#[test]
fn what_a_killed_server_left_is_replaced() {
    let home = Home::new();
    let mut first = home.serve(&[]);
    first.signal(Signal::KILL);
    first.ends();
    assert!(home.socket().exists());
    home.run(&["status"]).exits(3);
    let second = home.serve(&[]);
    assert_eq!(home.run(&["status", "--json"]).exits(0).json()["pid"], second.child.id());
}

#[test]
fn without_a_runtime_folder_one_of_our_own_is_made_and_must_be_ours_alone() {
    let home = Home::new();
    let bare = |args: &[&str]| {
        let mut command = home.command(args);
        command.env_remove("XDG_RUNTIME_DIR");
        command
    };
    let uid = rustix::process::geteuid().as_raw();
    let folder = home.path().join(format!("cdp-supervisor-{uid}"));
    let mut server = bare(&["serve"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains(&folder.display().to_string()), "{line}");
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(bare(&["status"]).output().unwrap().status.code(), Some(0));
    kill_process(Pid::from_child(&server), Signal::TERM).unwrap();
    server.wait().unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o755)).unwrap();
    let refused = Said::from(bare(&["serve"]).output().unwrap()).exits(1);
    assert!(
        refused.err.contains("not yours alone") && refused.err.contains("XDG_RUNTIME_DIR"),
        "{refused:?}"
    );
}

#[test]
fn in_the_background_it_says_where_it_is_and_outlives_whoever_started_it() {
    let home = Home::new();
    let ready = home.run(&["serve", "--detach", "--json", "--log-file", "my.log"]).exits(0).json();
    assert_eq!((&ready["socket"], &ready["log"]), (&json!(home.socket()), &json!("my.log")));
    let status = home.run(&["status", "--json"]).exits(0).json();
    assert_eq!(status["pid"], ready["pid"]);
    let pid = Pid::from_raw(i32::try_from(ready["pid"].as_i64().unwrap()).unwrap()).unwrap();
    assert_eq!(rustix::process::getsid(Some(pid)).unwrap(), pid, "it has a session of its own");
    kill_process(pid, Signal::TERM).unwrap();
    until("it ends", || !home.socket().exists());
    let log = home.path().join("my.log");
    until("it logs its end", || std::fs::read_to_string(&log).unwrap().contains("ending"));
    assert_eq!(log.metadata().unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn in_the_background_it_says_why_it_does_not_start() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let refused = home.run(&["serve", "--detach"]).exits(1);
    for part in
        ["did not start (exit code 1)", "there is a server at", ".local/state/cdp-supervisor/serve.log"]
    {
        assert!(refused.err.contains(part), "{part}: {refused:?}");
    }
    let mut command = home.command(&["serve", "--detach", "--launch", "--socket", "other.sock"]);
    let none = Said::from(command.env("CHROME", "/nonexistent/chrome").output().unwrap()).exits(3);
    assert!(none.err.contains("/nonexistent/chrome"), "{none:?}");
    std::fs::write(home.path().join("config.yaml"), "serve: {sockt: x}\n").unwrap();
    let wrong = home.run(&["serve", "--detach"]).exits(2);
    assert!(wrong.err.contains("config.yaml:1: serve.sockt"), "{wrong:?}");
}

/// One protocol for all: MCP, a line a message.
#[test]
fn any_mcp_client_can_use_the_socket() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let stream = UnixStream::connect(home.socket()).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut lines = BufReader::new(stream.try_clone().unwrap())
        .lines()
        .map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
    let initialize = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}});
    writeln!(&stream, "{initialize}").unwrap();
    assert_eq!(lines.next().unwrap()["result"]["serverInfo"]["name"], "cdp-supervisor");
    writeln!(&stream, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
    writeln!(&stream, "{}", json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})).unwrap();
    let listed = lines.next().unwrap();
    assert_eq!(listed["result"]["tools"][0]["name"], "browser_connect", "{listed}");
}

#[test]
fn one_client_too_many_is_told_why() {
    /// As many as are let in.
    const CLIENTS: usize = 256;
    let home = Home::new();
    let _server = home.serve(&[]);
    let _clients: Vec<_> = (0..CLIENTS).map(|_| UnixStream::connect(home.socket()).unwrap()).collect();
    let one_more = UnixStream::connect(home.socket()).unwrap();
    one_more.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut line = String::new();
    BufReader::new(one_more).read_line(&mut line).unwrap();
    assert!(line.contains("there are 256 clients already"), "{line}");
}

#[test]
fn what_listens_there_and_is_no_server_holds_nobody_up() {
    let home = Home::new();
    let silent = UnixListener::bind(home.socket()).unwrap();
    let said = home.run(&["snapshot"]).exits(1);
    assert!(said.err.contains("does not answer"), "{said:?}");
    drop(silent);
    std::fs::remove_file(home.socket()).unwrap();
    let rude = UnixListener::bind(home.socket()).unwrap();
    let hang_up = std::thread::spawn(move || drop(rude.accept().unwrap()));
    let said = home.run(&["snapshot"]).exits(1);
    assert!(said.err.contains("does not help"), "{said:?}");
    hang_up.join().unwrap();
}

#[test]
fn without_a_browser_a_client_is_told_what_comes_next() {
    let home = Home::new();
    let _server = home.serve(&[]);
    let snapshot = home.run(&["snapshot"]).exits(0);
    assert!(snapshot.out.contains("not connected: it was not connected yet"), "{snapshot:?}");
    let eval = home.run(&["eval", "1", "--task", "shop"]).exits(1);
    assert!(eval.err.contains("next: cdp-supervisor connect --task shop URL"), "{eval:?}");
    let json = home.run(&["eval", "1", "--json"]).exits(1);
    assert_eq!(json.json()["error"]["code"], "not_connected");
}

/// These need a Chromium.
mod browser {
    use super::*;

    fn profiles(home: &Home) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
        entries.filter(|path| path.to_string_lossy().contains("chromium-launcher-")).collect()
    }

    #[test]
    fn a_dialog_is_met_answered_and_its_call_followed_from_the_shell() {
        let home = Home::new();
        let _server = home.serve(&["--launch"]);
        let opened = home.run(&["eval", "prompt('Name?', 'me')"]).exits(1);
        assert!(
            opened.err.contains("dialog_opened: ") && opened.err.contains("dialog accept --id d-1"),
            "{opened:?}"
        );
        let call =
            opened.err.split("cdp-supervisor result ").nth(1).unwrap().split_whitespace().next().unwrap();
        let snapshot = home.run(&["snapshot"]).exits(0);
        assert!(snapshot.out.contains("? d-1 prompt \"Name?\", default \"me\""), "{snapshot:?}");
        let blocked = home.run(&["eval", "1", "--json"]).exits(1).json();
        assert_eq!(blocked["error"]["code"], "blocked_by_dialog");
        let status = home.run(&["status"]).exits(0);
        assert!(status.out.contains("1 waiting dialog"), "{status:?}");
        let answered = home.pipe(&["dialog", "accept", "--text", "-"], "two\nlines\n").exits(0);
        assert!(answered.out.contains("accepted with \"two"), "{answered:?}");
        let result = home.run(&["result", call]).exits(0);
        assert_eq!(result.out, "\"two\\nlines\"\n");
    }

    #[test]
    fn long_arguments_come_from_files_and_standard_input() {
        let home = Home::new();
        let _server = home.serve(&["--launch"]);
        std::fs::write(home.path().join("a.js"), "[1, 2].map(x => x * 2)").unwrap();
        let value = home.run(&["eval", "@a.js", "--json"]).exits(0).json();
        assert_eq!(value["value"], json!([2, 4]));
        assert_eq!(home.pipe(&["eval", "-"], "6 * 7\n").exits(0).out, "42\n");
        let url = "data:text/html,<title>T</title><iframe srcdoc=x>";
        home.pipe(&["cdp", "Page.navigate", "-"], &json!({"url": url}).to_string()).exits(0);
        until("the frames are there", || home.run(&["frames"]).exits(0).out.contains("about:srcdoc"));
        home.run(&["eval", "setTimeout(() => { throw new Error('no') })"]).exits(0);
        until("the console has it", || home.run(&["console"]).exits(0).out.contains("exception \"Error: no"));
        let thrown = home.run(&["eval", "nothing.there"]).exits(1);
        assert!(thrown.err.contains("js_exception"), "{thrown:?}");
    }

    #[test]
    fn clients_share_tasks_and_another_policy_reaches_them() {
        let home = Home::new();
        let _server = home.serve(&["--launch"]);
        let url = home.run(&["status", "--json"]).exits(0).json()["tasks"][0]["endpoint"]
            .as_str()
            .unwrap()
            .to_owned();
        home.run(&["connect", &url, "--task", "other", "--policy", "auto-accept"]).exits(0);
        let status = home.run(&["status", "--json"]).exits(0).json();
        let names: Vec<_> = status["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["task_id"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["default", "other"]);
        assert_eq!(
            home.run(&["disconnect", "--task", "other"]).exits(0).out,
            "✓ task other is disconnected\n"
        );
        home.run(&["connect", "--policy", "auto_accept"]).exits(0);
        home.run(&["eval", "confirm('Sure?')"]);
        until("the policy answers", || {
            home.run(&["snapshot"]).exits(0).out.contains("accepted by auto_policy")
        });
    }

    #[test]
    fn a_signal_answers_what_is_open_and_leaves_nothing() {
        let home = Home::new();
        let mut server = home.serve(&["--launch"]);
        home.run(&["eval", "confirm('Sure?')"]).exits(1);
        assert_eq!(profiles(&home).len(), 1);
        server.signal(Signal::TERM);
        assert_eq!(server.ends(), Some(0));
        let mut log = String::new();
        server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        assert!(log.contains("a dialog closed") && log.contains("AutoPolicy"), "{log}");
        assert_eq!(profiles(&home), [""; 0].map(PathBuf::from));
    }

    #[test]
    fn a_killed_server_takes_its_browser_with_it_and_its_clients_are_told_at_once() {
        let home = Home::new();
        let server = home.serve(&["--launch"]);
        let mut command = home.command(&["eval", "new Promise(() => {})", "--await", "--timeout", "3600"]);
        let client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        until("the client is served", || home.run(&["status", "--json"]).exits(0).json()["clients"] == 2);
        server.signal(Signal::KILL);
        let said = Said::from(client.wait_with_output().unwrap()).exits(1);
        assert!(said.err.contains("the server has gone while it was asked"), "{said:?}");
        until("its profile is deleted", || profiles(&home).is_empty());
    }

    #[test]
    fn what_the_browser_did_is_in_the_journal() {
        let home = Home::new();
        let mut server = home.serve(&["--launch"]);
        home.run(&["eval", "1"]).exits(0);
        server.signal(Signal::TERM);
        server.ends();
        let journal = home.path().join(".local/state/cdp-supervisor/journal");
        assert_eq!(std::fs::read_dir(&journal).unwrap().count(), 1);
        let mut server = home.serve(&["--launch", "--no-journal"]);
        home.run(&["eval", "1"]).exits(0);
        server.signal(Signal::TERM);
        server.ends();
        assert_eq!(std::fs::read_dir(&journal).unwrap().count(), 1);
    }
}
