//! What a client hears of without asking.

#![expect(deprecated, reason = "newer protocols have no log for clients; the clients of today read it")]

use browser_model::Action;
use cdp_wire::page::DialogType;
use rmcp::model::{LoggingLevel, SetLevelRequestParams};
use serde_json::json;

use crate::browser_like::BrowserLike;
use crate::client::{Client, Told, within};

#[tokio::test]
async fn dialogs_are_told_when_they_open_and_when_they_close() {
    let browser = BrowserLike::start().await;
    let mut client = Client::new().await;
    browser.connect(&client, "a").await;
    browser.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    let opened = client.logged("dialog_opened").await;
    assert_eq!((&opened["task_id"], &opened["dialog"]["id"]), (&json!("a"), &json!("d-1")));
    client.done("browser_dialog", json!({"action": "dismiss", "task_id": "a"})).await;
    let closed = client.logged("dialog_closed").await;
    assert_eq!((&closed["dialog"]["id"], &closed["dialog"]["closed_by"]), (&json!("d-1"), &json!("agent")));
    assert_eq!(closed["dialog"]["accepted"], false);
}

#[tokio::test]
async fn a_lost_connection_is_told_and_its_return() {
    let (browser, mut client) = BrowserLike::with_client().await;
    browser.act(Action::DropSocket);
    assert!(client.logged("connection_lost").await["reason"].is_string());
    client.logged("connected").await;
}

#[tokio::test]
async fn a_client_hears_only_what_is_important_enough_to_it() {
    let browser = BrowserLike::start().await;
    let mut client = Client::new().await;
    let level = SetLevelRequestParams::new(LoggingLevel::Warning);
    within(client.running.set_level(level)).await.unwrap();
    browser.connect(&client, "default").await;
    for _ in 0..2 {
        browser.act(Action::OpenDialog { frame: 0, kind: DialogType::Alert });
        client.done("browser_snapshot", json!({"wait_s": 60})).await;
        client.done("browser_dialog", json!({"action": "accept"})).await;
    }
    // Messages come in order: with the second one that opened, a first one that closed would have come.
    client.logged("dialog_opened").await;
    let between = client.told(|told| matches!(told, Told::Log(_))).await;
    assert!(matches!(&between, Told::Log(data) if data["event"] == "dialog_opened"), "{between:?}");
}
