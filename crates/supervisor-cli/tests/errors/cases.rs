//! Errors of the command itself: its arguments, settings, connections and files.

use std::fmt::Write as _;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::path::Path;

use crate::seen::Seen;

pub(crate) fn command_line(seen: &mut Seen) {
    seen.title("The command line");
    seen.fails(&["snapshto"], 2);
    seen.fails(&["dialog", "acept"], 2);
    seen.fails(&["mcp", "--polcy", "auto_dismiss"], 2);
    seen.fails(&["watch", "--lines"], 2);
    seen.fails(&["record", "http://127.0.0.1:9222"], 2);
}

pub(crate) fn settings(seen: &mut Seen) {
    seen.title("The settings");
    let text = "browser:\n  dialog_polcy: auto_dismiss\n  guard: yes\ntimeouts:\n  call_s: 0\nreconnect:\n  tries: -1\n";
    let _ = write!(seen.text, "\nWith this `config.yaml`:\n\n```yaml\n{text}```\n");
    std::fs::write(seen.folder.path().join("config.yaml"), text).unwrap();
    seen.fails(&["config"], 2);
    std::fs::remove_file(seen.folder.path().join("config.yaml")).unwrap();
    seen.fails(&["config", "--proxy", "socks5://user:secret@proxy.example"], 2);
}

pub(crate) fn nothing_there(seen: &mut Seen) {
    seen.title("No browser, no server");
    seen.fails(&["watch", "--launch", "--browser", "/nonexistent/chrome"], 3);
    seen.fails(&["snapshot"], 3);
}

pub(crate) fn connections(seen: &mut Seen) {
    seen.title("It does not connect");
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    seen.fails(&["watch", &format!("http://127.0.0.1:{closed}")], 1);
    seen.fails(&["watch", "./profile"], 1);
    let missing = answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    seen.fails(&["watch", &format!("http://127.0.0.1:{missing}")], 1);
    let forbidding = answering("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    seen.fails(&["watch", &format!("ws://127.0.0.1:{forbidding}/devtools/browser/B?token=secret")], 1);
    seen.fails(&["watch", &format!("wss://127.0.0.1:{forbidding}/devtools/browser/B")], 1);
    let proxy = answering("HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n");
    let through = format!("http://user:secretive@127.0.0.1:{proxy}").replace("secretive", "password");
    seen.fails(&["watch", "wss://browser.example/", "--proxy", &through], 1);
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("ws://127.0.0.1:{}/", silent.local_addr().unwrap().port());
    seen.fails(&["watch", &url, "--start-timeout", "1"], 1);
}

pub(crate) fn files(seen: &mut Seen) {
    seen.title("Files");
    seen.fails(&["replay", "missing.cdp.jsonl"], 1);
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/transcripts/watchdog.cdp.jsonl");
    let whole = std::fs::read_to_string(whole).unwrap();
    let head: String = whole.lines().take(5).map(|line| format!("{line}\n")).collect();
    std::fs::write(seen.folder.path().join("damaged.cdp.jsonl"), head + "{\"t\":1.0,\"dir\":\"recv\",\"ms")
        .unwrap();
    std::fs::write(seen.folder.path().join("notes.txt"), "not a recording\n").unwrap();
    seen.fails(&["replay", "notes.txt"], 1);
    seen.fails(&["replay", "damaged.cdp.jsonl", "--check"], 1);
    seen.fails(&["timeline", "damaged.cdp.jsonl", "-o", "missing/run.html"], 1);
    seen.fails(&["record", "http://127.0.0.1:9", "-o", "notes.txt"], 1);
    seen.fails(&["eval", "@missing.js"], 1);
    seen.fails(&["journal", "export", "shopping"], 1);
}

/// A server that answers each request so, and hangs up. It is there as long as the process.
pub(crate) fn answering(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    port
}
