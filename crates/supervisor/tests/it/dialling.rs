//! How far a start comes, and what it says when it fails.

use std::time::Duration;

use futures_util::StreamExt;
use supervisor::{Code, Failure, Stage, StartOptions, Status, Supervisor};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::peer::{LIMIT, Peer, within};

async fn failure(url: &str, limit: Duration) -> Failure {
    let mut options = StartOptions::default();
    options.start_timeout = limit;
    let supervisor = Supervisor::start();
    let failure = within(supervisor.get_or_start("t", url, options)).await.unwrap_err();
    assert_eq!(failure.code, Code::StartFailed, "{failure}");
    assert!(supervisor.get("t").await.is_none(), "a failed start leaves no entry");
    failure
}

/// A server that answers each connection with this text once it was asked, and reads on.
async fn server(answer: &'static str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 4096];
                while stream.read(&mut buffer).await.is_ok_and(|length| length > 0) {
                    if stream.write_all(answer.as_bytes()).await.is_err() {
                        return;
                    }
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn a_closed_port_is_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    for url in [format!("ws://127.0.0.1:{port}/devtools/browser/B"), format!("http://127.0.0.1:{port}")] {
        let failure = failure(&url, LIMIT).await;
        assert_eq!(failure.detail.stage, Some(Stage::Tcp), "{failure}");
        assert!(failure.message.contains("--remote-debugging-port"), "{failure}");
    }
}

#[tokio::test]
async fn each_refused_upgrade_has_its_status_and_what_to_do() {
    for (answer, status, says) in [
        ("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", 401, "credentials"),
        ("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n", 403, "forbidden"),
        ("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", 404, "no such browser"),
        ("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n", 410, "start a new one"),
        ("HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n", 500, "server failed"),
        (
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 22\r\n\r\nNo such target id: ABC",
            500,
            "no such page",
        ),
        (
            "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 65\r\n\r\n\
             Host header is specified and is not an IP address or localhost.  ",
            500,
            "IP address or localhost",
        ),
    ] {
        let port = server(answer).await;
        let failure = failure(&format!("ws://127.0.0.1:{port}/devtools/browser/B?token=secret"), LIMIT).await;
        assert_eq!((failure.detail.stage, failure.detail.http_status), (Some(Stage::Upgrade), Some(status)));
        assert!(failure.message.contains(says), "{failure}");
        assert!(!failure.message.contains("secret"), "{failure}");
    }
}

#[tokio::test]
async fn a_silent_peer_runs_into_the_limit_and_the_stage_is_named() {
    let port = server("").await;
    let limit = Duration::from_millis(300);
    for (url, stage, says) in [
        (format!("ws://127.0.0.1:{port}/devtools/browser/B"), Stage::Upgrade, "WebSocket upgrade"),
        (format!("wss://127.0.0.1:{port}/devtools/browser/B"), Stage::Tls, "TLS handshake"),
        (format!("http://127.0.0.1:{port}"), Stage::Resolve, "endpoint to be resolved"),
    ] {
        let failure = failure(&url, limit).await;
        assert_eq!(failure.detail.stage, Some(stage), "{failure}");
        assert!(failure.message.contains(says), "{failure}");
    }
}

#[tokio::test]
async fn a_peer_without_tls_is_tls() {
    let port = server("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n").await;
    let failure = failure(&format!("wss://127.0.0.1:{port}/?token=secret"), LIMIT).await;
    assert_eq!(failure.detail.stage, Some(Stage::Tls), "{failure}");
    assert!(!failure.message.contains("secret"), "{failure}");
}

#[tokio::test]
async fn a_socket_that_closes_at_once_is_the_handshake() {
    let mut peer = Peer::start().await;
    let url = peer.url();
    let (failure, ()) = tokio::join!(failure(&url, LIMIT), async { drop(peer.connection().await) });
    // The peer may answer the first commands before it is dropped only if it read them, and then it would be connected.
    assert_eq!(failure.detail.stage, Some(Stage::Handshake), "{failure}");
}

#[tokio::test]
async fn a_browser_that_says_nothing_is_the_handshake() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/devtools/browser/B", listener.local_addr().unwrap());
    let silent = tokio::spawn(async move {
        let (stream, _) = listener.accept().await.unwrap();
        let mut socket = tokio_tungstenite::accept_async(stream).await.unwrap();
        while let Some(Ok(_)) = socket.next().await {}
    });
    let failure = failure(&url, Duration::from_millis(300)).await;
    assert_eq!(failure.detail.stage, Some(Stage::Handshake), "{failure}");
    within(silent).await.expect("the socket is closed");
}

#[tokio::test]
async fn a_browser_without_json_version_is_told_by_its_profile() {
    let port = server("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await;
    let failure = failure(&format!("http://127.0.0.1:{port}"), LIMIT).await;
    assert_eq!((failure.detail.stage, failure.detail.http_status), (Some(Stage::Resolve), Some(404)));
    assert!(failure.message.contains("DevToolsActivePort"), "{failure}");
}

#[tokio::test]
async fn what_is_no_browser_is_resolve() {
    let length = supervisor::limits::MAX_VERSION_BODY + 1;
    let endless = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n{}", " ".repeat(length)).leak();
    for answer in ["SSH-2.0-OpenSSH\r\n", endless] {
        let port = server(answer).await;
        let failure = failure(&format!("http://127.0.0.1:{port}"), LIMIT).await;
        assert_eq!(failure.detail.stage, Some(Stage::Resolve), "{failure}");
        assert!(failure.message.contains("debugging port"), "{failure}");
    }
}

#[tokio::test]
async fn a_profile_leads_to_its_browser_and_says_when_it_does_not() {
    let profile = tempfile::tempdir().unwrap();
    let path = profile.path().to_str().unwrap().to_owned();
    let missing = failure(&path, LIMIT).await;
    assert_eq!(missing.detail.stage, Some(Stage::Resolve), "{missing}");
    assert!(missing.message.contains("DevToolsActivePort"), "{missing}");

    let peer = Peer::start().await;
    let text = format!("{}\n/devtools/browser/B\n", peer.port());
    std::fs::write(profile.path().join("DevToolsActivePort"), text).unwrap();
    let supervisor = Supervisor::start();
    let task = within(supervisor.get_or_start("t", &path, StartOptions::default())).await.unwrap();
    assert_eq!(task.snapshot().status.status, Status::Connected);
}

#[tokio::test]
async fn an_http_endpoint_leads_to_the_socket_at_the_hosts_own_port() {
    let peer = Peer::start().await;
    let body = r#"{"webSocketDebuggerUrl":"ws://10.9.8.7:1/devtools/browser/B"}"#;
    let version = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let port = forwarded(peer.port(), version).await;
    let supervisor = Supervisor::start();
    let url = format!("http://127.0.0.1:{port}");
    let task = within(supervisor.get_or_start("t", &url, StartOptions::default())).await.unwrap();
    assert_eq!(task.snapshot().status.status, Status::Connected);
    let resolved = format!("ws://127.0.0.1:{port}/devtools/browser/B");
    let again = within(supervisor.get_or_start("t", &resolved, StartOptions::default())).await.unwrap();
    assert!(task.is_same(&again), "the resolved endpoint is the same endpoint");
    assert_eq!(peer.accepted(), 1);
}

/// A forwarded port: `/json/version` is answered with this text, everything else goes to the browser.
async fn forwarded(browser: u16, version: String) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let version = version.clone();
            tokio::spawn(async move {
                let mut start = [0; 17];
                stream.read_exact(&mut start).await.unwrap();
                if &start == b"GET /json/version" {
                    stream.write_all(version.as_bytes()).await.unwrap();
                    return;
                }
                let mut browser = tokio::net::TcpStream::connect(("127.0.0.1", browser)).await.unwrap();
                browser.write_all(&start).await.unwrap();
                let _ = tokio::io::copy_bidirectional(&mut stream, &mut browser).await;
            });
        }
    });
    port
}

#[tokio::test]
async fn the_upgrade_has_the_hosts_headers_and_no_origin() {
    let mut peer = Peer::start().await;
    let url = format!("ws://user:pass@localhost:{}/devtools/browser/B?sign=1#x", peer.port());
    let mut options = StartOptions::default();
    options.headers = vec![("X-Key".to_owned(), "k".into())];
    let supervisor = Supervisor::start();
    let _task = within(supervisor.get_or_start("t", &url, options)).await.unwrap();
    let headers = peer.connection().await.headers;
    let has = |header: &str| headers.iter().any(|it| it == header);
    assert!(has("path: /devtools/browser/B?sign=1"), "{headers:?}");
    assert!(has(&format!("host: localhost:{}", peer.port())), "{headers:?}");
    assert!(has("x-key: k") && has("authorization: Basic dXNlcjpwYXNz"), "{headers:?}");
    assert!(!headers.iter().any(|it| it.starts_with("origin")), "{headers:?}");
}

mod knocking {
    use futures_util::SinkExt as _;
    use supervisor::{Endpoint, knock};
    use tokio_tungstenite::accept_async;
    use tokio_tungstenite::tungstenite::Message;

    use super::*;

    #[tokio::test]
    async fn a_browser_says_what_it_is() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/devtools/browser/B", listener.local_addr().unwrap());
        let asked = tokio::spawn(async move {
            let mut socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
            let asked = socket.next().await.unwrap().unwrap().into_text().unwrap();
            // An event may come first, and something that is no JSON.
            for text in [r#"{"method":"x"}"#, "?", r#"{"id":1,"result":{"product":"Chrome/1"}}"#] {
                socket.send(Message::text(text)).await.unwrap();
            }
            (asked, socket.next().await.is_none_or(|end| end.is_ok_and(|message| message.is_close())))
        });
        let endpoint = Endpoint::parse(&url).unwrap();
        assert_eq!(
            knock(&endpoint, &[], &supervisor::Network::default(), LIMIT).await.unwrap().as_deref(),
            Some("Chrome/1")
        );
        let (asked, hung_up) = asked.await.unwrap();
        assert!(asked.contains("Browser.getVersion") && hung_up, "{asked}");
    }

    #[tokio::test]
    async fn what_says_nothing_is_no_browser() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("ws://{}/", listener.local_addr().unwrap());
        let silent = tokio::spawn(async move {
            let socket = accept_async(listener.accept().await.unwrap().0).await.unwrap();
            std::future::pending::<()>().await;
            drop(socket);
        });
        let endpoint = Endpoint::parse(&url).unwrap();
        let failure = knock(&endpoint, &[], &supervisor::Network::default(), Duration::from_millis(300))
            .await
            .unwrap_err();
        assert_eq!(failure.detail.stage, Some(Stage::Handshake), "{failure}");
        silent.abort();
    }
}
