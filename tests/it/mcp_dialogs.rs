//! What MCP clients do about dialogs that are not the only one, or that nobody can answer.

mod browser {
    use integration_tests::{Alone, McpWire, is_headless_shell};
    use page_server::{PageServer, Site};
    use serde_json::{Value, json};

    /// In seconds; longer than any test runs: a call that ends in spite of it did not end by its deadline.
    const TEN_HOURS: u32 = 36_000;

    /// Two clients of one browser, each with a server of its own. The second comes when a dialog is open already.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_page_that_nobody_can_answer_is_freed_by_a_remedy() {
        let alone = Alone::new().await;
        let mut first = connected(&alone, &json!({}));
        holds(&mut first, json!({"expression": "confirm('early')"}));
        let mut second = connected(&alone, &json!({}));
        let blocked = |content: &Value| content["pages"][0]["blocked"].is_object();
        let snapshot = second.until("browser_snapshot", &json!({}), blocked);
        let page = &snapshot.content()["pages"][0];
        assert_eq!(page["blocked"]["reason"], "unresponsive", "{page}");
        let refused = second.call("browser_dialog", json!({"action": "accept"}));
        assert_eq!(refused.content()["error"]["code"], "unanswerable", "{refused:?}");
        let message = refused.content()["error"]["message"].as_str().unwrap();
        assert!(
            message.contains("Next: look in browser_snapshot") && message.contains("browser_recover"),
            "{message}"
        );

        match is_headless_shell() {
            // There a new document waits for the script of the old one.
            true => drop(first.call("browser_dialog", json!({"action": "accept"}))),
            false => reload(&mut second, &page["target_id"]),
        }
        second.until("browser_snapshot", &json!({}), |content| {
            content["pages"][0].get("blocked").is_none() && content["pages"][0]["unresponsive"] == false
        });
        let value = second.call("browser_eval", json!({"expression": "6 * 7", "timeout_s": TEN_HOURS}));
        assert_eq!(value.content()["value"], 42, "{value:?}");
        first.end();
        second.end();
        alone.end().await;
    }

    fn reload(client: &mut McpWire, page: &Value) {
        let recovered = client.call("browser_recover", json!({"target_id": page, "remedy": "reload"}));
        let done = recovered.content();
        assert_eq!((&done["success"], &done["remedy"]), (&json!(true), &json!("reload")), "{done}");
        assert_eq!(&done["target_id"], page);
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn of_dialogs_on_two_pages_one_must_be_named() {
        let alone = Alone::new().await;
        let mut client = connected(&alone, &json!({}));
        client
            .call("browser_cdp", json!({"method": "Target.createTarget", "params": {"url": "about:blank"}}));
        let both = |content: &Value| content["pages"].as_array().is_some_and(|pages| pages.len() == 2);
        let pages = client.until("browser_snapshot", &json!({}), both).content()["pages"].clone();
        for page in pages.as_array().unwrap() {
            let is_told = |content: &Value| content["frames"][0].is_object();
            let frames = client.until("browser_frames", &json!({"target_id": page["target_id"]}), is_told);
            let frame = &frames.content()["frames"][0]["frame_id"];
            holds(&mut client, json!({"expression": "confirm('Which?')", "frame_id": frame}));
        }
        let ambiguous = client.call("browser_dialog", json!({"action": "accept"}));
        let error = &ambiguous.content()["error"];
        assert_eq!(error["code"], "ambiguous_dialog", "{error}");
        let ids: Vec<_> =
            error["candidates"].as_array().unwrap().iter().map(|dialog| dialog["id"].clone()).collect();
        assert_eq!(ids, ["d-1", "d-2"]);
        let named = client.call("browser_dialog", json!({"action": "accept", "dialog_id": "d-2"}));
        assert_eq!(named.content()["dialog"]["target_id"], pages[1]["target_id"], "{named:?}");
        let left = client.call("browser_dialog", json!({"action": "dismiss"}));
        assert_eq!(left.content()["dialog"]["id"], "d-1", "{left:?}");
        client.end();
        alone.end().await;
    }

    /// With the bridge, frames in two processes of a page ask at the same time.
    #[tokio::test(flavor = "multi_thread")]
    async fn what_the_page_asks_besides_comes_with_the_answer() {
        let inner = "<iframe src='http://localhost:{PORT}/inner'></iframe>";
        let site = PageServer::start(Site::new().page("/", inner).page("/inner", "<p>inner")).await.unwrap();
        let alone = Alone::new().await;
        let mut client = connected(&alone, &json!({"bridge": "on"}));
        let go = json!({"method": "Page.navigate", "params": {"url": site.url("127.0.0.1", "/")}});
        client.call("browser_cdp", go);
        let loaded = |content: &Value| content["frames"][1]["is_oopif"] == true;
        let frames = client.until("browser_frames", &json!({}), loaded).content()["frames"].clone();
        for frame in frames.as_array().unwrap() {
            let asks = json!({"expression": "confirm('Which?')", "frame_id": frame["frame_id"]});
            holds(&mut client, asks);
        }
        let answered = client.call("browser_dialog", json!({"action": "accept", "dialog_id": "d-1"}));
        let content = answered.content();
        assert_eq!((&content["dialog"]["id"], &content["next_dialog"]["id"]), (&json!("d-1"), &json!("d-2")));
        let last = client.call("browser_dialog", json!({"action": "accept", "dialog_id": "d-2"}));
        assert_eq!(last.content()["success"], true, "{last:?}");
        assert!(last.content().get("next_dialog").is_none(), "{last:?}");
        client.end();
        alone.end().await;
        site.stop().await;
    }

    /// A client whose page is set up: a dialog that opens before is another story.
    fn connected(alone: &Alone, options: &Value) -> McpWire {
        let mut client = McpWire::start(&[]);
        let mut arguments = json!({"cdp_url": alone.browser.ws_url()});
        arguments.as_object_mut().unwrap().extend(options.as_object().unwrap().clone());
        let connected = client.call("browser_connect", arguments);
        assert_eq!(connected.content()["status"], "connected", "{connected:?}");
        client
    }

    /// Makes a call that the dialog it opens must end.
    fn holds(client: &mut McpWire, mut arguments: Value) {
        arguments["timeout_s"] = TEN_HOURS.into();
        let held = client.call("browser_eval", arguments);
        assert_eq!(held.content()["error"]["code"], "dialog_opened", "{held:?}");
    }
}
