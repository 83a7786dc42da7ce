//! What is refused, and what it says.

use serde_json::{Value, json};
use supervisor_mcp::limits::{MAX_DIALOG_TIMEOUT, MAX_TIMEOUT, MAX_WAIT};

use crate::browser_like::BrowserLike;
use crate::client::{Client, request, within};

#[tokio::test]
async fn what_is_wrong_is_named() {
    let browser = BrowserLike::start().await;
    let client = Client::new().await;
    client.done("browser_connect", json!({"cdp_url": browser.url()})).await;
    for (tool, arguments, says) in [
        ("browser_connect", json!({"url": "x"}), "unknown field `url`, expected one of `cdp_url`"),
        ("browser_connect", json!({"dialog_policy": "ignore"}), "`dialog_policy`: unknown variant `ignore`"),
        ("browser_connect", json!({"dialog_timeout_s": 0}), "`dialog_timeout_s`: expected more than 0"),
        ("browser_connect", json!({"scope": {"target_id": "A", "browser_context_id": "B"}}), "`scope`"),
        ("browser_connect", json!({"task_id": 7}), "`task_id`"),
        ("browser_snapshot", json!({"wait_s": "soon"}), "`wait_s`: expected a number of seconds"),
        ("browser_snapshot", json!({"wait_s": 601}), "`wait_s`: expected a number of seconds from 0 to 600"),
        ("browser_dialog", json!({}), "missing field `action`"),
        ("browser_dialog", json!({"action": "ok"}), "unknown variant `ok`, expected `accept` or `dismiss`"),
        (
            "browser_dialog",
            json!({"action": "dismiss", "prompt_text": "x"}),
            "`prompt_text` goes with `accept`",
        ),
        ("browser_dialog", json!({"action": "accept", "dialog_id": "1"}), "an id such as `d-1`, got `1`"),
        (
            "browser_dialog",
            json!({"action": "accept", "dialog_id": "d-1", "target_id": "T"}),
            "`dialog_id` and `target_id`",
        ),
        ("browser_recover", json!({"target_id": "T", "remedy": "navigate"}), "`navigate` needs a `url`"),
        ("browser_recover", json!({"target_id": "T", "remedy": "close", "url": "x"}), "`url` goes with"),
        ("browser_cdp", json!({"method": "Page.reload", "params": []}), "`params`"),
        ("browser_cdp", json!({"method": "reload"}), "expected a method such as `Page.navigate`"),
        ("browser_cdp", json!({"method": "A.b", "frame_id": "F", "target_id": "T"}), "give one of them"),
        ("browser_cdp", json!({"method": "A.b", "timeout_s": 0}), "`timeout_s`: expected more than 0"),
        ("browser_eval", json!({"expression": " "}), "`expression` is empty"),
        ("browser_eval", json!({"expression": 1}), "`expression`: invalid type: integer `1`"),
        ("browser_result", json!({"call_id": "d-1"}), "an id such as `c-1`"),
        ("browser_console", json!({"frame": "F"}), "unknown field `frame`, expected `frame_id`"),
    ] {
        let content = client.fails(tool, arguments.clone(), "invalid_argument").await;
        let message = content["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{tool} {arguments}: {message}");
    }
}

/// The longest are taken, and a second more is refused. What is not there, or never was, is told after that.
#[tokio::test]
async fn times_have_their_bounds() {
    let client = Client::new().await;
    let [wait, call, dialog] = [MAX_WAIT, MAX_TIMEOUT, MAX_DIALOG_TIMEOUT].map(|time| time.as_secs());
    for (tool, name, longest, others) in [
        ("browser_snapshot", "wait_s", wait, json!({})),
        ("browser_eval", "timeout_s", call, json!({"expression": "1"})),
        ("browser_cdp", "timeout_s", call, json!({"method": "Browser.getVersion"})),
        ("browser_result", "timeout_s", call, json!({"call_id": "c-1"})),
        ("browser_connect", "dialog_timeout_s", dialog, json!({})),
    ] {
        let with = |time: u64| {
            let mut arguments = others.clone();
            arguments[name] = time.into();
            arguments
        };
        let says = |content: &Value| content["error"]["message"].to_string().contains(&format!("`{name}`"));
        let taken = client.running.call_tool(request(tool, with(longest))).await.unwrap();
        assert!(!taken.structured_content.as_ref().is_some_and(says), "{tool}: {taken:?}");
        let refused = client.fails(tool, with(longest + 1), "invalid_argument").await;
        assert!(says(&refused) && refused.to_string().contains(&longest.to_string()), "{tool}: {refused}");
    }
}

#[tokio::test]
async fn without_a_url_anywhere_it_is_asked_for() {
    let client = Client::new().await;
    let content = client.fails("browser_connect", json!({}), "invalid_argument").await;
    assert!(content["error"]["message"].as_str().unwrap().contains("`cdp_url` is missing"), "{content}");
}

#[tokio::test]
async fn an_explicit_null_is_as_if_it_were_left_out() {
    let browser = BrowserLike::start().await;
    let client = Client::new().await;
    let arguments = json!({"cdp_url": browser.url(), "scope": null, "dialog_policy": null, "task_id": null,
        "dialog_timeout_s": null, "bridge": null, "guard": null});
    client.done("browser_connect", arguments).await;
    client.done("browser_eval", json!({"expression": "1", "frame_id": null, "await_promise": null})).await;
}

#[tokio::test]
async fn an_endpoint_that_is_none_is_not_repeated() {
    let client = Client::new().await;
    let content = client.fails("browser_connect", json!({"cdp_url": "ftp://secret/"}), "start_failed").await;
    assert!(!content.to_string().contains("secret"), "{content}");
}

/// Whoever drops a line that is too long leaves its sender without an answer.
#[tokio::test]
async fn an_expression_beyond_its_bound_is_refused_and_not_dropped() {
    let (_browser, client) = BrowserLike::with_client().await;
    let expression = "0".repeat(supervisor::supervisor_core::limits::MAX_CALL_PARAMS + 1);
    let content = client.fails("browser_eval", json!({ "expression": expression }), "invalid_argument").await;
    assert!(content["error"]["message"].as_str().unwrap().contains("bytes, at most"), "{content}");
}

#[tokio::test]
async fn a_tool_that_is_none_is_an_error_of_the_protocol() {
    let client = Client::new().await;
    let error = within(client.running.call_tool(request("browser_click", json!({})))).await.unwrap_err();
    assert!(
        error.to_string().contains("there is no tool \"browser_click\"; there are browser_connect"),
        "{error}"
    );
}
