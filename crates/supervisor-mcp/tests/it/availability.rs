//! Which tools are there, and what one that is not there says.

use std::time::Duration;

use browser_model::Action;
use cdp_wire::page::DialogType;
use serde_json::json;
use supervisor::{Endpoint, Options, Reconnect, StartOptions};
use supervisor_mcp::Defaults;

use crate::browser_like::BrowserLike;
use crate::client::{Client, Told};

const ALWAYS: [&str; 3] = ["browser_connect", "browser_disconnect", "browser_snapshot"];
const ALL: [&str; 10] = [
    "browser_connect",
    "browser_disconnect",
    "browser_snapshot",
    "browser_frames",
    "browser_dialog",
    "browser_recover",
    "browser_cdp",
    "browser_eval",
    "browser_result",
    "browser_console",
];

#[tokio::test]
async fn tools_come_with_a_browser_and_go_with_it() {
    let browser = BrowserLike::start().await;
    let mut client = Client::new().await;
    assert_eq!(client.tools().await, ALWAYS);
    client.done("browser_connect", json!({"cdp_url": browser.url()})).await;
    assert_eq!(client.tools().await, ALL);
    client.told(|told| *told == Told::ToolsChanged).await;
    let ended = client.done("browser_disconnect", json!({})).await;
    assert_eq!(ended, json!({"success": true, "task_id": "default", "disconnected": true}));
    assert_eq!(client.tools().await, ALWAYS);
    client.told(|told| *told == Told::ToolsChanged).await;
    assert_eq!(client.done("browser_disconnect", json!({})).await["disconnected"], false);
}

#[tokio::test]
async fn without_a_browser_a_snapshot_says_why_and_nothing_else() {
    let client = Client::new().await;
    let snapshot = client.done("browser_snapshot", json!({"wait_s": 600})).await;
    let reason = "it was not connected yet";
    let expected =
        json!({"success": true, "task_id": "default", "status": "not_connected", "reason": reason});
    assert_eq!(snapshot, expected);
}

#[tokio::test]
async fn an_absent_tool_that_is_called_all_the_same_gives_not_connected() {
    let client = Client::new().await;
    for (tool, arguments) in [
        ("browser_frames", json!({})),
        ("browser_dialog", json!({"action": "accept"})),
        ("browser_recover", json!({"target_id": "T", "remedy": "reload"})),
        ("browser_cdp", json!({"method": "Page.reload"})),
        ("browser_eval", json!({"expression": "1"})),
        ("browser_result", json!({"call_id": "c-1"})),
        ("browser_console", json!({})),
    ] {
        let content = client.fails(tool, arguments, "not_connected").await;
        assert!(content["error"]["message"].as_str().unwrap().contains("browser_connect"), "{content}");
        assert!(content.get("pending_dialogs").is_none(), "{content}");
    }
}

#[tokio::test]
async fn one_task_with_a_browser_is_enough_for_the_tools() {
    let browser = BrowserLike::start().await;
    let client = Client::new().await;
    client.done("browser_connect", json!({"cdp_url": browser.url(), "task_id": "a"})).await;
    assert_eq!(client.tools().await, ALL);
    client.fails("browser_eval", json!({"expression": "1"}), "not_connected").await;
    client.done("browser_eval", json!({"expression": "1", "task_id": "a"})).await;
}

#[tokio::test]
async fn while_reconnecting_the_tools_stay_and_calls_say_disconnected() {
    let browser = BrowserLike::start().await;
    let mut client = Client::new().await;
    client.done("browser_connect", json!({"cdp_url": browser.url()})).await;
    client.told(|told| *told == Told::ToolsChanged).await;
    // Gone with its port: nothing answers until the budget is spent, which takes minutes.
    drop(browser);
    let snapshot = client.snapshot_where(|snapshot| snapshot["status"] == "reconnecting").await;
    assert_eq!((&snapshot["stale"], &snapshot["pending_dialogs"]), (&json!(true), &json!([])));
    assert_eq!(client.tools().await, ALL);
    client.fails("browser_eval", json!({"expression": "1"}), "disconnected").await;
    client.fails("browser_dialog", json!({"action": "accept"}), "disconnected").await;
    assert!(!client.told_already().contains(&Told::ToolsChanged));
}

#[tokio::test]
async fn when_the_browser_is_lost_for_good_the_tools_go() {
    let browser = BrowserLike::start().await;
    let mut options = Options::default();
    options.reconnect = Reconnect { tries: 1, within: Duration::from_secs(60) };
    let mut client = Client::with(Defaults::default().with_start(options)).await;
    client.done("browser_connect", json!({"cdp_url": browser.url()})).await;
    client.told(|told| *told == Told::ToolsChanged).await;
    drop(browser);
    client.told(|told| *told == Told::ToolsChanged).await;
    assert_eq!(client.tools().await, ALWAYS);
    let snapshot = client.done("browser_snapshot", json!({})).await;
    assert_eq!(snapshot["status"], "failed");
    assert!(snapshot.get("pending_dialogs").is_none() && snapshot.get("frame_tree").is_none(), "{snapshot}");
    client.fails("browser_eval", json!({"expression": "1"}), "not_connected").await;
}

#[tokio::test]
async fn a_configured_browser_is_connected_before_the_tools_are_listed() {
    let browser = BrowserLike::start().await;
    let endpoint = Endpoint::parse(&browser.url()).unwrap();
    let client = Client::with(Defaults::default().with_endpoint(endpoint)).await;
    assert_eq!(client.tools().await, ALL);
    client.done("browser_eval", json!({"expression": "1"})).await;
}

/// A client lists the tools first of all, and must not wait for a browser that says nothing.
#[tokio::test]
async fn a_configured_browser_that_does_not_answer_holds_nobody_up() {
    let silent = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("ws://{}/devtools/browser/B", silent.local_addr().unwrap());
    let mut start = StartOptions::default();
    start.start_timeout = Duration::from_secs(3600);
    let defaults = Defaults::default().with_endpoint(Endpoint::parse(&url).unwrap()).with_start(start);
    let client = Client::with(defaults).await;
    assert_eq!(client.tools().await, ALWAYS);
}

#[tokio::test]
async fn a_browser_that_cannot_be_reached_is_told_with_its_stage() {
    let browser = BrowserLike::start().await;
    let url = browser.url();
    drop(browser);
    let client = Client::new().await;
    let content = client.fails("browser_connect", json!({"cdp_url": url}), "start_failed").await;
    assert_eq!(content["error"]["stage"], "tcp");
    assert_eq!(client.tools().await, ALWAYS);
    let why = client.done("browser_snapshot", json!({})).await["reason"].to_string();
    assert!(why.contains("could not connect"), "{why}");
}

#[tokio::test]
async fn another_url_rebinds_and_the_same_one_does_not() {
    let (first, second) = (BrowserLike::start().await, BrowserLike::start().await);
    let mut client = Client::new().await;
    client.done("browser_connect", json!({"cdp_url": first.url()})).await;
    client.told(|told| *told == Told::ToolsChanged).await;
    let bound = client.server.supervisor().get("default").await.unwrap();
    client.done("browser_connect", json!({"dialog_policy": "auto_accept"})).await;
    assert!(bound.is_same(&client.server.supervisor().get("default").await.unwrap()));
    client.done("browser_eval", json!({"expression": "1"})).await;
    first.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    client.snapshot_where(|snapshot| snapshot["recent_dialogs"][0]["closed_by"] == "auto_policy").await;

    let snapshot = client.done("browser_connect", json!({"cdp_url": second.url()})).await;
    assert_eq!(snapshot["recent_dialogs"], json!([]));
    assert!(!bound.is_same(&client.server.supervisor().get("default").await.unwrap()));
    assert!(!client.told_already().contains(&Told::ToolsChanged), "they were there all the time");
}

/// `FIRST_FRAMES`
#[tokio::test]
async fn connecting_gives_the_frames_and_waits_no_longer_than_first_frames_for_a_silent_page() {
    let browser = BrowserLike::start().await;
    let client = Client::new().await;
    let snapshot = client.done("browser_connect", json!({"cdp_url": browser.url()})).await;
    assert!(snapshot["frame_tree"]["top"].is_object(), "{snapshot}");

    let held = BrowserLike::start().await;
    held.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    let snapshot = client.done("browser_connect", json!({"cdp_url": held.url()})).await;
    assert_eq!((&snapshot["status"], &snapshot["frame_tree"]["top"]), (&json!("connected"), &json!(null)));
}
