//! Calls, and the dialogs that come in between.

use browser_model::{Action, NEVER, Place};
use cdp_wire::page::DialogType;
use rmcp::model::{CallToolRequest, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::json;
use supervisor::supervisor_core::call::CallEnd;
use supervisor::{Event, Observed};

use crate::browser_like::BrowserLike;
use crate::client::{Client, Told, request, within};

/// In seconds; longer than any test runs: a call that ends in spite of it did not end by its deadline.
const TEN_HOURS: u32 = 36_000;

#[tokio::test]
async fn an_interrupted_call_is_followed_to_its_late_result() {
    let (_browser, client) = BrowserLike::with_client().await;
    let asks = json!({"expression": "confirm('Sure?')", "timeout_s": TEN_HOURS});
    let held = client.fails("browser_eval", asks, "dialog_opened").await;
    assert_eq!(held["error"]["dialog"]["id"], "d-1");
    let call_id = held["error"]["call_id"].clone();
    assert_eq!(held["pending_dialogs"][0]["id"], "d-1");
    assert_eq!(held["opened_dialogs"][0]["id"], "d-1");
    let message = held["error"]["message"].as_str().unwrap();
    assert!(message.contains("browser_dialog") && message.contains("browser_result"), "{message}");

    let next = json!({"expression": "1", "timeout_s": TEN_HOURS});
    client.fails("browser_eval", next, "blocked_by_dialog").await;
    let late = json!({"call_id": call_id, "timeout_s": TEN_HOURS});
    client.fails("browser_result", late, "dialog_opened").await;
    let snapshot = client.done("browser_snapshot", json!({"wait_s": 600})).await;
    assert_eq!(snapshot["pending_dialogs"][0]["type"], "confirm");
    assert!(snapshot.get("opened_dialogs").is_none(), "it was open before this call");

    let answered = client.done("browser_dialog", json!({"action": "accept", "dialog_id": "d-1"})).await;
    assert_eq!((&answered["action"], &answered["dialog"]["closed_by"]), (&json!("accept"), &json!("agent")));
    assert_eq!(answered["pending_dialogs"], json!([]));
    let late = client.done("browser_result", json!({"call_id": call_id})).await;
    assert_eq!((&late["type"], &late["call_id"]), (&json!("string"), &call_id));
    assert!(late["value"].is_string(), "{late}");
    client.fails("browser_result", json!({"call_id": call_id}), "unknown_call").await;
    client.fails("browser_dialog", json!({"action": "accept"}), "no_dialog").await;
    client.fails("browser_dialog", json!({"action": "accept", "dialog_id": "d-1"}), "already_closed").await;
}

#[tokio::test]
async fn a_dialog_is_named_beside_any_result() {
    let (browser, client) = BrowserLike::with_client().await;
    let waiting = client.running.call_tool(request("browser_snapshot", json!({"wait_s": 600})));
    let (result, ()) = tokio::join!(within(waiting), async {
        browser.act(Action::OpenDialog { frame: 0, kind: DialogType::Alert });
    });
    let result = result.unwrap();
    assert_eq!(result.structured_content.unwrap()["pending_dialogs"][0]["id"], "d-1");
    let note = &result.content[1].as_text().unwrap().text;
    assert!(note.starts_with("Dialog d-1 waits for an answer (browser_dialog): alert"), "{note}");
    let console = client.result("browser_console", json!({})).await;
    assert_eq!(console.structured_content.unwrap()["pending_dialogs"][0]["id"], "d-1");
    assert_eq!(console.content.len(), 2);
}

#[tokio::test]
async fn frames_are_found_and_called_into() {
    let (browser, client) = BrowserLike::with_client().await;
    browser.act(Action::NavigatePage { page: 0, to: Place::Site(0), cache: false });
    browser.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
    browser.act(Action::AddFrame { parent: 0, to: Place::Srcdoc });
    let snapshot = client
        .snapshot_where(|snapshot| {
            let children = snapshot["frame_tree"]["children"].as_array().cloned().unwrap_or_default();
            children.iter().filter(|child| child["url"] != "").count() == 2
        })
        .await;
    let page = snapshot["pages"][0]["target_id"].clone();
    let listed = client.done("browser_frames", json!({"target_id": page})).await;
    let frames = listed["frames"].as_array().unwrap();
    assert_eq!((frames.len(), &listed["stale"]), (3, &json!(false)));
    for frame in frames {
        let id = &frame["frame_id"];
        let own = client.done("browser_eval", json!({"expression": "frame", "frame_id": id})).await;
        assert_eq!(own["value"], *id, "each document says the frame that it is in");
    }
    let local =
        frames.iter().find(|frame| frame["is_oopif"] == false && frame.get("parent_frame_id").is_some());
    let arguments = json!({"method": "Page.getFrameTree", "frame_id": local.unwrap()["frame_id"]});
    client.fails("browser_cdp", arguments, "not_an_oopif").await;
    let away = frames.iter().find(|frame| frame["is_oopif"] == true).unwrap();
    let tree = client
        .done("browser_cdp", json!({"method": "Page.getFrameTree", "frame_id": away["frame_id"]}))
        .await;
    assert_eq!((&tree["session_id"], &tree["frame_id"]), (&away["session_id"], &away["frame_id"]));
    assert_eq!(tree["result"]["frameTree"]["frame"]["id"], away["frame_id"]);
    let shown = client.done("browser_snapshot", json!({"target_id": page})).await;
    assert_eq!(shown["frame_tree"]["children"].as_array().unwrap().len(), 2);
    client.fails("browser_snapshot", json!({"target_id": "X"}), "page_gone").await;
}

#[tokio::test]
async fn a_page_that_is_not_blocked_is_not_recovered() {
    let (_browser, client) = BrowserLike::with_client().await;
    let snapshot = client.done("browser_snapshot", json!({})).await;
    let page = &snapshot["pages"][0]["target_id"];
    client.fails("browser_recover", json!({"target_id": page, "remedy": "reload"}), "invalid_argument").await;
    client.fails("browser_recover", json!({"target_id": "X", "remedy": "close"}), "page_gone").await;
}

#[tokio::test]
async fn a_long_call_says_that_it_is_at_work() {
    let (_browser, mut client) = BrowserLike::with_client().await;
    let eval = json!({"expression": NEVER, "timeout_s": 2.5});
    let content = client.fails("browser_eval", eval, "timeout").await;
    assert_eq!(content["pending_dialogs"], json!([]));
    let told = client.told_already();
    let progress: Vec<f64> = told
        .iter()
        .filter_map(|told| match told {
            Told::Progress(seconds) => Some(*seconds),
            _ => None,
        })
        .collect();
    assert!(!progress.is_empty() && progress.is_sorted(), "{told:?}");
}

#[tokio::test]
async fn a_cancelled_call_is_given_up() {
    let (_browser, client) = BrowserLike::with_client().await;
    let task = client.server.supervisor().get("default").await.unwrap();
    let mut events = task.events();
    let call = CallToolRequest::new(request("browser_eval", json!({"expression": NEVER})));
    let sent = client
        .running
        .send_cancellable_request(ClientRequest::CallToolRequest(call), PeerRequestOptions::no_options())
        .await
        .unwrap();
    let mut wait_for = async |wished: fn(&Event) -> bool| {
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
    wait_for(|event| matches!(event, Event::CallStarted { .. })).await;
    sent.cancel(Some("changed my mind".into())).await.unwrap();
    wait_for(|event| matches!(event, Event::CallEnded { end: CallEnd::Forgotten, .. })).await;
}

#[tokio::test]
async fn tasks_have_dialogs_of_their_own() {
    let (first, second) = (BrowserLike::start().await, BrowserLike::start().await);
    let client = Client::new().await;
    first.connect(&client, "a").await;
    second.connect(&client, "b").await;
    let held = client
        .fails("browser_eval", json!({"expression": "alert(1)", "task_id": "a"}), "dialog_opened")
        .await;
    assert_eq!(held["task_id"], "a");
    let other = client.done("browser_eval", json!({"expression": "1", "task_id": "b"})).await;
    assert_eq!((&other["task_id"], &other["pending_dialogs"]), (&json!("b"), &json!([])));
    client.fails("browser_dialog", json!({"action": "dismiss", "task_id": "b"}), "no_dialog").await;
    client.done("browser_dialog", json!({"action": "dismiss", "task_id": "a"})).await;
}
