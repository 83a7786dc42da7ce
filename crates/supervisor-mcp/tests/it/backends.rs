//! Backends without CDP: recognised, and nothing is offered that they cannot do.

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

use crate::browser_like::BrowserLike;
use crate::client::Client;

/// A server that is driven by REST, as Camofox is: it says what it is at `/health`.
async fn rest_only() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = [0; 4096];
            let length = stream.read(&mut head).await.unwrap();
            let (status, body) = match head[..length].starts_with(b"GET /health ") {
                true => ("200 OK", r#"{"ok":true,"engine":"camoufox","browserConnected":false}"#),
                false => ("404 Not Found", r#"{"error":"Not found"}"#),
            };
            let length = body.len();
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
            stream.write_all(answer.as_bytes()).await.unwrap();
        }
    });
    url
}

#[tokio::test]
async fn a_backend_without_cdp_is_recognised_and_its_tools_stay_away() {
    let url = rest_only().await;
    let client = Client::new().await;
    let refused = client.fails("browser_connect", json!({ "cdp_url": url }), "unsupported_backend").await;
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("Camofox"), "{why}");
    assert_eq!(client.tools().await.len(), 3);
    let snapshot = client.done("browser_snapshot", json!({})).await;
    assert_eq!(snapshot["status"], "not_connected");
    assert!(snapshot["reason"].as_str().unwrap().contains("Camofox"), "{snapshot}");
    assert!(snapshot.get("pending_dialogs").is_none() && snapshot.get("frame_tree").is_none(), "{snapshot}");
    let absent = client.fails("browser_eval", json!({"expression": "1"}), "not_connected").await;
    assert!(absent["error"]["message"].as_str().unwrap().contains("Camofox"), "{absent}");
}

/// This backend serves one connection at a time.
#[tokio::test]
async fn a_guard_that_is_not_there_is_not_claimed() {
    let browser = BrowserLike::start().await;
    let client = Client::new().await;
    let guarded = json!({"cdp_url": browser.url(), "guard": true});
    let snapshot = client.done("browser_connect", guarded).await;
    let connecting = json!({"state": "unavailable", "reason": "connecting"});
    assert_eq!((&snapshot["status"], &snapshot["guard"]), (&json!("connected"), &connecting));
    // What is left out stays as it is; what is given is applied to what runs.
    let left_out = client.done("browser_connect", json!({"bridge": "off"})).await;
    assert_eq!(left_out["guard"], connecting);
    client.done("browser_connect", json!({"guard": false})).await;
    client.snapshot_where(|snapshot| snapshot["guard"]["state"] == "off").await;
}
