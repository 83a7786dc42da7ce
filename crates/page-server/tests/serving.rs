//! Over a real socket, byte by byte: what a browser would see.

// The lint's exception for tests covers test functions only, not their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::time::Duration;

use page_server::{Gate, PageServer, Site};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// For what comes at once unless something is wrong.
const PATIENCE: Duration = Duration::from_secs(30);

async fn ask(server: &PageServer, host: &str, path: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", server.port())).await.unwrap();
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: {host}:{}\r\nConnection: close\r\n\r\n", server.port());
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn read(mut stream: TcpStream) -> String {
    let mut text = String::new();
    timeout(PATIENCE, stream.read_to_string(&mut text)).await.expect("an answer").unwrap();
    text
}

async fn get(server: &PageServer, host: &str, path: &str) -> String {
    read(ask(server, host, path).await).await
}

#[tokio::test]
async fn a_page_knows_the_port_in_its_text_and_headers() {
    let headers = [("Content-Security-Policy", "frame-src http://b.test:{PORT}")];
    let site = Site::new().page_with("/", "<iframe src='http://b.test:{PORT}/x'>", &headers);
    let server = PageServer::start(site).await.unwrap();
    let text = get(&server, "a.test", "/?query=1").await;

    assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
    assert!(text.contains("content-type: text/html; charset=utf-8\r\n"), "{text}");
    let b = format!("http://b.test:{}", server.port());
    assert!(text.contains(&format!("content-security-policy: frame-src {b}\r\n")), "{text}");
    assert!(text.ends_with(&format!("\r\n\r\n<iframe src='{b}/x'>")), "{text}");
    assert_eq!(server.url("b.test", "/x"), format!("{b}/x"));
}

#[tokio::test]
async fn a_page_for_a_host_goes_before_the_page_for_all() {
    let server =
        PageServer::start(Site::new().page("/x", "all").page_for("b.test", "/x", "only b")).await.unwrap();
    assert!(get(&server, "a.test", "/x").await.ends_with("\r\n\r\nall"));
    assert!(get(&server, "b.test", "/x").await.ends_with("\r\n\r\nonly b"));
}

#[tokio::test]
async fn a_file_has_its_own_content_type() {
    let server = PageServer::start(Site::new().file("/a.pdf", "application/pdf", "%PDF-1.4")).await.unwrap();
    let text = get(&server, "a.test", "/a.pdf").await;
    assert_eq!(text.matches("content-type:").count(), 1, "{text}");
    assert!(text.contains("content-type: application/pdf\r\n") && text.ends_with("%PDF-1.4"), "{text}");
}

#[tokio::test]
async fn other_answers_than_pages() {
    let site = Site::new().status("/204", 204).redirect("/from", "http://b.test:{PORT}/to").download("/d");
    let server = PageServer::start(site).await.unwrap();

    assert!(get(&server, "a.test", "/204").await.starts_with("HTTP/1.1 204 No Content\r\n"));
    assert!(get(&server, "a.test", "/favicon.ico").await.starts_with("HTTP/1.1 204 No Content\r\n"));
    let redirect = get(&server, "a.test", "/from").await;
    assert!(redirect.starts_with("HTTP/1.1 302 Found\r\n"), "{redirect}");
    assert!(redirect.contains(&format!("location: http://b.test:{}/to\r\n", server.port())), "{redirect}");
    assert!(get(&server, "a.test", "/d").await.contains("content-disposition: attachment;"));
    let missing = get(&server, "a.test", "/missing").await;
    assert!(missing.starts_with("HTTP/1.1 404 Not Found\r\n"), "{missing}");
    assert!(missing.ends_with("\r\n\r\nno page /missing on a.test"), "{missing}");
}

#[tokio::test]
async fn a_slow_page_waits_for_its_gate_and_holds_nobody_up() {
    let gate = Gate::new();
    let server = PageServer::start(Site::new().slow("/slow", &gate, "late").page("/", "now")).await.unwrap();
    let mut slow = ask(&server, "a.test", "/slow").await;
    timeout(PATIENCE, gate.arrived(1)).await.unwrap();

    assert!(get(&server, "a.test", "/").await.ends_with("now"));
    let early = slow.try_read(&mut [0; 1]).unwrap_err();
    assert_eq!(early.kind(), std::io::ErrorKind::WouldBlock, "nothing comes before the release");

    gate.release();
    let mut text = String::new();
    timeout(PATIENCE, slow.read_to_string(&mut text)).await.unwrap().unwrap();
    assert!(text.ends_with("late"), "{text}");
    assert!(get(&server, "a.test", "/slow").await.ends_with("late"), "an open gate stays open");
}

#[tokio::test]
async fn stopping_closes_the_port_and_what_waits() {
    let gate = Gate::new();
    let server = PageServer::start(Site::new().slow("/slow", &gate, "")).await.unwrap();
    let waiting = ask(&server, "a.test", "/slow").await;
    timeout(PATIENCE, gate.arrived(1)).await.unwrap();
    let port = server.port();

    server.stop().await;
    assert_eq!(read(waiting).await, "", "closed without an answer");
    assert!(TcpStream::connect(("127.0.0.1", port)).await.is_err());
}

#[tokio::test]
async fn the_demo_has_its_pages() {
    let server = PageServer::start(Site::demo()).await.unwrap();
    assert!(get(&server, "a.test", "/").await.contains("<title>cdp-supervisor demo</title>"));
    let frames = get(&server, "a.test", "/frames").await;
    assert!(frames.contains(&format!("http://b.test:{}/frame-b", server.port())), "{frames}");
    for path in ["/alert", "/confirm", "/prompt", "/beforeunload", "/popup", "/frame-c", "/loop"] {
        let page = get(&server, "a.test", path).await;
        assert!(page.contains("function raise()") && !page.contains("{PORT}"), "{path}: {page}");
    }
}
