//! A server with many clients, and our own client of it.

use browser_model::NEVER;
use serde_json::{Map, Value, json};
use supervisor::supervisor_core::call::CallEnd;
use supervisor::{Event, Observed, Status, Supervisor};
use supervisor_mcp::{ClientError, Defaults, McpServer, ServeError, ToolClient};
use tokio::task::JoinHandle;

use crate::browser_like::BrowserLike;
use crate::client::within;

async fn client(server: &McpServer) -> (ToolClient, JoinHandle<Result<(), ServeError>>) {
    let (ours, theirs) = tokio::io::duplex(1 << 20);
    let (reader, writer) = tokio::io::split(theirs);
    let server = server.clone();
    let serving = tokio::spawn(async move { server.serve(reader, writer).await });
    let (reader, writer) = tokio::io::split(ours);
    (within(ToolClient::connect(reader, writer)).await.unwrap(), serving)
}

fn object(arguments: Value) -> Map<String, Value> {
    arguments.as_object().cloned().unwrap()
}

#[tokio::test]
async fn what_one_client_connects_all_see() {
    let browser = BrowserLike::start().await;
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let ((first, _), (second, _)) = (client(&server).await, client(&server).await);
    let status = within(second.status()).await.unwrap();
    assert_eq!((status.pid, status.clients, status.tasks.len()), (std::process::id(), 2, 0));
    let connect = object(json!({"cdp_url": format!("{}?token=secret", browser.url()), "task_id": "shared"}));
    within(first.call("browser_connect", connect)).await.unwrap();
    let status = within(second.status()).await.unwrap();
    assert_eq!((status.tasks[0].task_id.as_str(), status.tasks[0].status), ("shared", Status::Connected));
    assert!(!json!(status).to_string().contains("secret"));
    let eval = object(json!({"expression": "1", "task_id": "shared"}));
    let answer = within(second.call("browser_eval", eval)).await.unwrap();
    assert!(!answer.is_error(), "{answer:?}");
}

#[tokio::test]
async fn the_end_of_the_server_answers_calls_that_run_and_ends_its_clients() {
    let browser = BrowserLike::start().await;
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let (client, serving) = client(&server).await;
    within(client.call("browser_connect", object(json!({"cdp_url": browser.url()})))).await.unwrap();
    let call = object(json!({"expression": NEVER, "timeout_s": 3600}));
    let (answer, ()) = tokio::join!(within(client.call("browser_eval", call)), async {
        // The server reads in order, so that it has read the call when it has answered this.
        within(client.status()).await.unwrap();
        within(server.end()).await;
    });
    assert_eq!(answer.unwrap().content["error"]["code"], "not_connected");
    within(serving).await.unwrap().unwrap();
    assert!(matches!(within(client.status()).await, Err(ClientError::Gone)));
    assert!(server.supervisor().tasks().await.is_empty());
}

#[tokio::test]
async fn what_a_client_asked_for_is_given_up_when_it_is_gone() {
    let browser = BrowserLike::start().await;
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let (client, serving) = client(&server).await;
    within(client.call("browser_connect", object(json!({"cdp_url": browser.url()})))).await.unwrap();
    let mut events = server.supervisor().get("default").await.unwrap().events();
    let mut until = async |wished: fn(&Event) -> bool| {
        within(async {
            while let Some(observed) = events.recv().await {
                if matches!(&observed, Observed::Event(recorded) if wished(&recorded.event)) {
                    return;
                }
            }
            panic!("the task ended");
        })
        .await;
    };
    let calling = tokio::spawn(async move {
        let call = object(json!({"expression": NEVER, "timeout_s": 3600}));
        client.call("browser_eval", call).await
    });
    until(|event| matches!(event, Event::CallStarted { .. })).await;
    calling.abort();
    until(|event| matches!(event, Event::CallEnded { end: CallEnd::Forgotten, .. })).await;
    within(serving).await.unwrap().unwrap();
    assert_eq!(server.supervisor().tasks().await.len(), 1, "the task goes on");
}

#[tokio::test]
async fn what_is_no_server_is_told() {
    let (ours, theirs) = tokio::io::duplex(1024);
    drop(theirs);
    let (reader, writer) = tokio::io::split(ours);
    let error = within(ToolClient::connect(reader, writer)).await.unwrap_err();
    assert!(matches!(error, ClientError::Greeting(_)), "{error}");
    let server = McpServer::new(Supervisor::start(), Defaults::default());
    let (client, _) = client(&server).await;
    let refused = within(client.call("browser_sing", Map::new())).await;
    assert!(
        matches!(&refused, Err(ClientError::Refused(why)) if why.contains("browser_sing")),
        "{refused:?}"
    );
}
