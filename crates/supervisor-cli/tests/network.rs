//! The way through the network, for each subcommand that connects to a browser.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection};

/// Where the browser would be, if anybody let us through.
const URL: &str = "ws://browser.example:9222/devtools/browser/B?token=secret";

/// Long enough for any machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// They connect to a browser.
const SUBCOMMANDS: [&[&str]; 5] = [
    &["watch", "--lines"],
    &["record", "-o", "run.cdp.jsonl", "--force"],
    &["probe"],
    &["mcp"],
    &["serve", "--socket", "s.sock"],
];

/// A proxy that lets nobody through. Tells what it was asked for, and with which credentials.
fn proxy() -> (u16, Receiver<(String, bool)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (tell, asked) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut client = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") && client.read_line(&mut head).unwrap() > 0 {}
            // `user:secret`, as HTTP writes it.
            let is_known = head.contains("Basic dXNlcjpzZWNyZXQ=");
            let first = head.lines().next().unwrap_or_default().to_owned();
            let refusal = b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n";
            client.get_mut().write_all(refusal).unwrap();
            if tell.send((first, is_known)).is_err() {
                return;
            }
        }
    });
    (port, asked)
}

/// A command in a folder of its own, where nothing is configured but what is given here.
fn command(folder: &tempfile::TempDir, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.args(args).current_dir(folder).env_clear().env("HOME", folder.path());
    command.env("CDP_SUPERVISOR_JOURNAL_ENABLED", "false");
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    command
}

/// Starts it, waits until the proxy was asked, and ends it. Gives its exit code, if it ended by itself, and what it said.
fn until_asked(mut command: Command, asked: &Receiver<(String, bool)>) -> (Option<i32>, String) {
    let mut child = command.spawn().unwrap();
    let (first, is_known) = asked.recv_timeout(PATIENCE).unwrap();
    assert_eq!(first, "CONNECT browser.example:9222 HTTP/1.1", "{command:?}");
    assert!(is_known, "{command:?}");
    // A server goes on without its task, until its input ends.
    drop(child.stdin.take());
    if command.get_args().next().is_some_and(|name| name == "serve") {
        child.kill().unwrap();
    }
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn each_subcommand_that_connects_goes_through_the_proxy_of_a_flag_a_variable_and_a_file() {
    let (port, asked) = proxy();
    let proxy = format!("http://user:secret@127.0.0.1:{port}");
    for subcommand in SUBCOMMANDS {
        let folder = tempfile::tempdir().unwrap();
        let args = [subcommand, &[URL]].concat();
        let by_flag = command(&folder, &[&args[..], &["--proxy", &proxy]].concat());
        let mut by_variable = command(&folder, &args);
        by_variable.env("CDP_SUPERVISOR_NETWORK_PROXY", &proxy);
        let by_file = command(&folder, &args);
        for (layer, command) in ["flag", "variable", "file"].into_iter().zip([by_flag, by_variable, by_file])
        {
            if layer == "file" {
                let text = format!("network:\n  proxy: {proxy}\n");
                std::fs::write(folder.path().join("config.yaml"), text).unwrap();
            }
            let (code, said) = until_asked(command, &asked);
            assert!(!said.contains("secret"), "{subcommand:?} by {layer}: {said}");
            if !matches!(subcommand[0], "mcp" | "serve") {
                assert_eq!(code, Some(1), "{subcommand:?} by {layer}: {said}");
                assert!(said.contains("the proxy answered HTTP 407"), "{subcommand:?} by {layer}: {said}");
                assert!(said.contains("next: look at the proxy (network.proxy"), "{said}");
            }
        }
    }
}

#[test]
fn a_flag_leads_past_the_proxy_of_a_file() {
    let (port, asked) = proxy();
    let folder = tempfile::tempdir().unwrap();
    let text = format!("network:\n  proxy: http://127.0.0.1:{port}\n");
    std::fs::write(folder.path().join("config.yaml"), text).unwrap();
    for past in [["--no-proxy", "127.0.0.1"], ["--proxy", "direct"]] {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let url = format!("ws://{free}/devtools/browser/B");
        let output = command(&folder, &[&["watch", "--lines", &url], &past[..]].concat()).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("Connection refused"), "{said}");
    }
    assert!(asked.try_recv().is_err(), "nobody asked the proxy");
}

/// A server with a certificate for `localhost` that only the tests' own root vouches for. It hangs up on each request.
fn encrypted() -> u16 {
    const TLS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../supervisor/tests/tls/");
    let read = |name: &str| std::fs::read(format!("{TLS}{name}")).unwrap();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(read("localhost.key.der")));
    let chain = vec![CertificateDer::from(read("localhost.der"))];
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = Arc::new(builder.with_no_client_auth().with_single_cert(chain, key).unwrap());
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, mut tls) =
                (stream.unwrap(), ServerConnection::new(Arc::clone(&config)).unwrap());
            let mut first = [0; 1];
            // What a client that does not trust it says instead of a request is an error here.
            let _ = rustls::Stream::new(&mut tls, &mut stream).read(&mut first);
        }
    });
    port
}

#[test]
fn each_subcommand_that_connects_trusts_whom_it_is_told_to() {
    let url = format!("wss://localhost:{}/devtools/browser/B?token=secret", encrypted());
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../supervisor/tests/tls/root.pem");
    for subcommand in SUBCOMMANDS.into_iter().filter(|words| !matches!(words[0], "mcp" | "serve")) {
        let folder = tempfile::tempdir().unwrap();
        let stage = |more: &[&str]| {
            let output = command(&folder, &[subcommand, &[&url], more].concat()).output().unwrap();
            let said = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{said}");
            assert!(!said.contains("secret"), "{said}");
            said.lines().find_map(|line| line.trim().strip_prefix("stage: ")).map(str::to_owned)
        };
        assert_eq!(stage(&[]).as_deref(), Some("tls"), "{subcommand:?}");
        assert_eq!(stage(&["--ca-file", root]).as_deref(), Some("upgrade"), "{subcommand:?}");
        assert_eq!(stage(&["--insecure-tls"]).as_deref(), Some("upgrade"), "{subcommand:?}");
    }
}
