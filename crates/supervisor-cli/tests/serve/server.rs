//! The server, and its clients without a browser.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::{Home, PATIENCE, Said, until};

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
    /// The server's bound.
    const MAX_CLIENTS: usize = 256;
    let home = Home::new();
    let _server = home.serve(&[]);
    let _clients: Vec<_> = (0..MAX_CLIENTS).map(|_| UnixStream::connect(home.socket()).unwrap()).collect();
    let one_more = UnixStream::connect(home.socket()).unwrap();
    one_more.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut line = String::new();
    BufReader::new(one_more).read_line(&mut line).unwrap();
    assert!(line.contains(&format!("there are {MAX_CLIENTS} clients already")), "{line}");
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
