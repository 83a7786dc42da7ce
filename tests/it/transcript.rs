//! `docs/mcp-transcript.md`: what an MCP client and the server say to each other, from a run on a real Chromium. Each
//! further run must say the same, ids and times apart.

pub(crate) mod likeness;
mod markdown;

mod browser {
    use std::path::Path;

    use integration_tests::{Alone, Exchange, McpWire, Proxy, major_version};
    use serde_json::{Value, json};

    use super::likeness::likeness;
    use super::markdown::{Markdown, Moment};

    /// Set, the document is written instead of compared.
    const UPDATE: &str = "UPDATE_DOCS";

    #[tokio::test(flavor = "multi_thread")]
    async fn the_document_says_what_a_client_and_the_server_say() {
        let alone = Alone::new().await;
        let mut markdown = Markdown::new();
        dialog(&mut markdown, alone.browser.ws_url());
        let moments = [&while_all_is_well(alone.browser.ws_url())[..], &lost(&alone).await].concat();
        let names_frames = names_frames(alone.browser.version());
        alone.end().await;
        markdown.moments(&moments);

        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mcp-transcript.md");
        if std::env::var_os(UPDATE).is_some() {
            std::fs::write(&path, markdown.text()).unwrap();
        }
        let there = std::fs::read_to_string(&path).unwrap();
        let alike = |text: &str| {
            let text = likeness(text);
            if names_frames { text } else { text.replace(r##""frame_id": "#""##, r#""frame_id": null"#) }
        };
        let (there, now) = (alike(&there), alike(markdown.text()));
        for (line, (there, now)) in there.lines().zip(now.lines()).enumerate() {
            assert_eq!(now, there, "line {} of {}; set {UPDATE}=1 to write it", line + 1, path.display());
        }
        assert_eq!(now.lines().count(), there.lines().count());
    }

    /// Whether a browser says whose a dialog is: 111 and 123 do not.
    fn names_frames(version: &str) -> bool {
        major_version(version) > 123
    }

    /// From the connection to the late result.
    fn dialog(markdown: &mut Markdown, url: &str) {
        let mut client = McpWire::start(&[]);
        let connected = client.call("browser_connect", json!({"cdp_url": url}));
        assert_eq!(connected.content()["status"], "connected");
        markdown.exchange("Connect", &connected);
        markdown.notification(&client.told("notifications/tools/list_changed"));

        let held = client.call("browser_eval", json!({"expression": "confirm('Delete all 3 files?')"}));
        assert_eq!(held.content()["error"]["code"], "dialog_opened");
        markdown.exchange("Evaluate something that opens a dialog: the answer comes at once", &held);

        let snapshot = client.call("browser_snapshot", json!({}));
        assert_eq!(snapshot.content()["pending_dialogs"].as_array().map(Vec::len), Some(1));
        markdown.exchange("The dialog is in the snapshot", &snapshot);

        let blocked = client.call("browser_eval", json!({"expression": "document.title"}));
        assert_eq!(blocked.content()["error"]["code"], "blocked_by_dialog");
        markdown.exchange("Another call into that page would hang: it is not sent", &blocked);

        let id = &held.content()["error"]["dialog"]["id"];
        let answered = client.call("browser_dialog", json!({"action": "accept", "dialog_id": id}));
        assert_eq!(answered.content()["success"], true);
        markdown.exchange("Accept it", &answered);

        let call = &held.content()["error"]["call_id"];
        let late = client.call("browser_result", json!({"call_id": call}));
        assert_eq!(late.content()["value"], true);
        markdown.exchange("Fetch what the first call returned", &late);
        client.end();
    }

    fn while_all_is_well(url: &str) -> [Moment; 2] {
        let mut client = McpWire::start(&[]);
        let before =
            Moment::new("before `browser_connect`", tools(&mut client), &evaluate(&mut client), false);
        client.call("browser_connect", json!({"cdp_url": url}));
        client.told("notifications/tools/list_changed");
        let after = Moment::new("after it", tools(&mut client), &evaluate(&mut client), true);
        client.end();
        [before, after]
    }

    /// The way to the browser is cut, and nothing answers there any more.
    async fn lost(alone: &Alone) -> [Moment; 2] {
        let wire = Proxy::to(
            alone.browser.http_url().rsplit(':').next().unwrap().trim_end_matches('/').parse().unwrap(),
        )
        .await;
        let url = wire.through(alone.browser.ws_url());
        // One that tries for an hour, and one that does not try at all: no moment has to be caught.
        let (mut patient, mut hasty) = (
            McpWire::start(&[&url, "--reconnect-tries", "10000", "--reconnect-seconds", "3600"]),
            McpWire::start(&[&url, "--reconnect-tries", "0"]),
        );
        for client in [&mut patient, &mut hasty] {
            client.until("browser_snapshot", &json!({}), |content| content["status"] == "connected");
            assert_eq!(tools(client).len(), 10);
        }
        wire.cut_for_good();
        patient.until("browser_snapshot", &json!({}), |content| content["status"] == "reconnecting");
        let while_trying = Moment::new(
            "while a lost connection is made again",
            tools(&mut patient),
            &evaluate(&mut patient),
            false,
        );
        hasty.told("notifications/tools/list_changed");
        let failed = hasty.call("browser_snapshot", json!({}));
        assert_eq!(failed.content()["status"], "failed", "{failed:?}");
        let spent =
            Moment::new("once the budget for that is spent", tools(&mut hasty), &evaluate(&mut hasty), true);
        patient.end();
        hasty.end();
        [while_trying, spent]
    }

    fn tools(client: &mut McpWire) -> Vec<String> {
        let listed = client.request("tools/list", json!({}));
        let tools = listed.response["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }

    fn evaluate(client: &mut McpWire) -> Value {
        let exchange: Exchange = client.call("browser_eval", json!({"expression": "6 * 7"}));
        exchange.content().clone()
    }
}
