//! The beginning and the end of a server.

use browser_model::{Action, NEVER};
use cdp_wire::page::DialogType;
use rmcp::model::{ProtocolVersion, SubscriptionFilter};
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt as _};
use serde_json::{Value, json};
use supervisor::{Status, Supervisor};
use supervisor_mcp::limits::MAX_LINE;
use supervisor_mcp::{Defaults, McpServer, ServeError};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use crate::browser_like::BrowserLike;
use crate::client::{request, within};

#[tokio::test]
async fn the_end_of_the_input_answers_what_is_open_and_stops_all_tasks() {
    let (browser, client) = BrowserLike::with_client().await;
    browser.act(Action::OpenDialog { frame: 0, kind: DialogType::Alert });
    client.done("browser_snapshot", json!({"wait_s": 60})).await;
    let task = client.server.supervisor().get("default").await.unwrap();
    within(client.running.cancel()).await.unwrap();
    within(client.serving).await.unwrap().unwrap();
    let snapshot = task.snapshot();
    assert_eq!(snapshot.status.status, Status::Stopped);
    assert!(snapshot.pending_dialogs.is_empty());
    assert_eq!(json!(snapshot.recent_dialogs)[0]["closed_by"], "auto_policy");
}

#[tokio::test]
async fn the_end_of_the_input_does_not_wait_for_long_calls() {
    let browser = BrowserLike::start().await;
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let connect = json!({"cdp_url": browser.url()}).as_object().cloned().unwrap();
    assert!(!server.call("browser_connect", connect).await.unwrap().is_error());
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let serving = tokio::spawn(async move { server.serve_to_the_end(reader, writer).await });
    let (mut read, mut write) = tokio::io::split(ours);
    for line in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
            "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "browser_eval",
            "arguments": {"expression": NEVER, "timeout_s": 3600}}}),
    ] {
        write.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }
    write.shutdown().await.unwrap();
    within(serving).await.unwrap().unwrap();
    let mut text = String::new();
    within(read.read_to_string(&mut text)).await.unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let answer = lines.iter().find(|line| line["id"] == 2).expect("the call was answered");
    assert_eq!(answer["result"]["structuredContent"]["error"]["code"], "not_connected");
}

#[tokio::test]
async fn tasks_outlive_a_client_that_is_one_of_many() {
    let browser = BrowserLike::start().await;
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let (mut clients, mut ends) = (Vec::new(), Vec::new());
    for _ in 0..2 {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let server = server.clone();
        ends.push(tokio::spawn(async move { server.serve(reader, writer).await }));
        clients.push(within(rmcp::ServiceExt::serve((), ours)).await.unwrap());
    }
    let connect = request("browser_connect", json!({"cdp_url": browser.url()}));
    within(clients[0].call_tool(connect)).await.unwrap();
    within(clients.remove(0).cancel()).await.unwrap();
    within(ends.remove(0)).await.unwrap().unwrap();
    let eval =
        within(clients[0].call_tool(request("browser_eval", json!({"expression": "1"})))).await.unwrap();
    assert_eq!(eval.is_error, Some(false));
}

#[tokio::test]
async fn a_client_that_says_nothing_is_no_error_and_one_that_speaks_otherwise_is() {
    let serve = async |line: &str| {
        let server = McpServer::new(Supervisor::start(), Defaults::default());
        let (reader, mut writer) = tokio::io::simplex(1024);
        writer.write_all(line.as_bytes()).await.unwrap();
        writer.shutdown().await.unwrap();
        within(server.serve_to_the_end(reader, tokio::io::sink())).await
    };
    serve("").await.unwrap();
    serve("GET / HTTP/1.1\n\n").await.unwrap();
    let wrong = serve("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n").await;
    assert!(matches!(wrong, Err(ServeError::Greeting(_))), "{wrong:?}");
}

struct Quiet;

impl ClientHandler for Quiet {}

/// The protocol without `initialize`: each request says all, and changes are subscribed to.
#[tokio::test]
async fn a_client_of_the_newest_protocol_is_served_and_told_of_changed_tools() {
    let browser = BrowserLike::start().await;
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    tokio::spawn(async move { server.serve(reader, writer).await });
    let newest = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] };
    let client = within(Quiet.serve_with_lifecycle(ours, newest)).await.unwrap();
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = Some(true);
    let mut changes = within(client.listen(filter)).await.unwrap();
    assert_eq!(within(client.list_all_tools()).await.unwrap().len(), 3);
    let connect = request("browser_connect", json!({"cdp_url": browser.url()}));
    within(client.call_tool(connect)).await.unwrap();
    within(changes.next()).await.unwrap();
    assert_eq!(within(client.list_all_tools()).await.unwrap().len(), 10);
}

/// Whoever reads the lines of the server one by one finds nothing but the protocol.
#[tokio::test]
async fn a_line_is_a_message() {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    tokio::spawn(async move { server.serve(reader, writer).await });
    let (read, mut write) = tokio::io::split(ours);
    let initialize = json!({"jsonrpc": "2.0", "id": "a", "method": "initialize", "params": {"protocolVersion":
        "2024-11-05", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}});
    write.write_all(format!("{initialize}\n").as_bytes()).await.unwrap();
    let line = within(BufReader::new(read).lines().next_line()).await.unwrap().unwrap();
    let answer: Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&answer["id"], &answer["result"]["protocolVersion"]), (&json!("a"), &json!("2024-11-05")));
    assert_eq!(answer["result"]["capabilities"]["tools"]["listChanged"], true);
    assert!(answer["result"]["instructions"].as_str().unwrap().contains("pending_dialogs"));
}

/// A line of so many bytes, with its end, is a message like any other. A longer one is passed over, and the client is served
/// on.
#[tokio::test]
async fn a_line_has_a_longest_length() {
    let initialize = |id| {
        json!({"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}})
        .to_string()
    };
    for (length, answered) in [(MAX_LINE, 1), (MAX_LINE + 1, 2)] {
        let server = McpServer::new(Supervisor::start(), Defaults::default());
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (reader, writer) = tokio::io::split(theirs);
        let serving = tokio::spawn(async move { server.serve_to_the_end(reader, writer).await });
        let (read, mut write) = tokio::io::split(ours);
        let long = initialize(1);
        let blanks = " ".repeat(length - long.len() - 1);
        within(write.write_all(format!("{long}{blanks}\n").as_bytes())).await.unwrap();
        if answered == 2 {
            within(write.write_all(format!("{}\n", initialize(2)).as_bytes())).await.unwrap();
        }
        let mut said = String::new();
        within(BufReader::new(read).read_line(&mut said)).await.unwrap();
        let said: Value = serde_json::from_str(&said).unwrap();
        assert_eq!(
            (&said["id"], said["result"]["serverInfo"].is_object()),
            (&json!(answered), true),
            "{said}"
        );
        write.shutdown().await.unwrap();
        within(serving).await.unwrap().unwrap();
    }
}
