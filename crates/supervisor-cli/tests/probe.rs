//! `probe` without a backend, as a user runs it. With one it is measured in the integration tests.
#![allow(clippy::unwrap_used)]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};

fn probe(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.arg("probe").args(args).stdin(Stdio::null()).output().unwrap()
}

/// It says nothing on standard output, and this on standard error.
#[track_caller]
fn assert_fails(output: &Output, code: i32, says: &[&str]) {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!((output.status.code(), &*out), (Some(code), ""), "{err}");
    says.iter().for_each(|part| assert!(err.contains(part), "{part}: {err}"));
    assert!(!err.contains("secret"), "{err}");
}

#[test]
fn a_port_that_nobody_listens_on_is_told_with_the_stage() {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("ws://127.0.0.1:{port}/devtools/browser/1?token=secret");
    let place = format!("cannot probe ws://127.0.0.1:{port}/devtools/browser/1\n");
    assert_fails(&probe(&[&url]), 1, &[&place, "stage: tcp", "why: ", "next: "]);
}

/// A server that takes one WebSocket connection, and says nothing on it.
fn silent() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut head = [0; 4096];
        let length = stream.read(&mut head).unwrap();
        let head = String::from_utf8_lossy(&head[..length]).into_owned();
        let key = head.lines().find_map(|line| {
            let (name, value) = line.split_once(": ")?;
            name.eq_ignore_ascii_case("sec-websocket-key").then(|| value.trim().to_owned())
        });
        let accept = tokio_tungstenite::tungstenite::handshake::derive_accept_key(key.unwrap().as_bytes());
        let answer = format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
        );
        stream.write_all(answer.as_bytes()).unwrap();
        // Until the other side leaves.
        while stream.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
    });
    format!("ws://127.0.0.1:{port}")
}

#[test]
fn a_server_that_answers_no_command_is_given_up() {
    let url = format!("{}/devtools/browser/1", silent());
    let output = probe(&[&url, "--start-timeout", "1"]);
    assert_fails(&output, 1, &["expected an answer to the first commands, got none within 1 s", "next: "]);
}

#[test]
fn the_endpoint_of_one_page_is_refused() {
    let url = format!("{}/devtools/page/1", silent());
    assert_fails(&probe(&[&url]), 1, &["the probe opens pages of its own", "http://HOST:PORT"]);
}

#[test]
fn what_it_cannot_do_is_told_before_anything_is_done() {
    assert_fails(&probe(&[]), 2, &["where the browser is"]);
    assert_fails(&probe(&["ws://127.0.0.1:1", "--launch"]), 2, &["--launch"]);
    assert_fails(&probe(&["ws://127.0.0.1:1", "--check-timeout", "0"]), 2, &["--check-timeout"]);
    assert_fails(&probe(&["--launch", "--browser", "/nonexistent/chrome"]), 3, &["/nonexistent/chrome"]);
}
