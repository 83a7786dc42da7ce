//! A tab in which one of the ways is gone, by plain CDP.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard};

use integration_tests::{Alone, RawClient};
use serde_json::{Value, json};

/// A way for a strict page to get the agent's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// As the supervisor does it.
    Nothing,
    /// `Page.setBypassCSP`.
    BypassCsp,
    /// `Fetch.continueResponse` with other headers.
    Headers,
    /// `Fetch.fulfillRequest` with other headers and the document's body.
    Body,
    /// A `debugger` statement, from the beginning.
    Debugger,
    /// The same, on only after the first failure.
    LateDebugger,
}

/// "agent", as `Fetch.fulfillRequest` takes it.
const AGENT: &str = "YWdlbnQ=";

/// See the module.
pub(super) struct Tab {
    client: RawClient,
    target: String,
    session: String,
    way: Way,
    /// The requests and stops that were answered.
    seen: Mutex<HashSet<String>>,
}

impl Tab {
    pub(super) async fn open(alone: &Alone, way: Way) -> Self {
        let client = RawClient::connect(alone.browser.ws_url()).await;
        let created = client.send("Target.createTarget", json!({ "url": "about:blank" }), None).await;
        let target = created["result"]["targetId"].as_str().unwrap().to_owned();
        let session = client.attach(&target).await;
        let tab = Self { client, target, session, way, seen: Mutex::default() };
        tab.send("Page.enable", json!({})).await;
        tab.begins().await;
        tab
    }

    async fn begins(&self) {
        let mut patterns = vec![json!({ "urlPattern": "https://bridge.invalid/*" })];
        if matches!(self.way, Way::Headers | Way::Body) {
            patterns.push(json!({ "resourceType": "Document", "requestStage": "Response" }));
        }
        self.send("Fetch.enable", json!({ "patterns": patterns })).await;
        match self.way {
            Way::BypassCsp => drop(self.send("Page.setBypassCSP", json!({ "enabled": true })).await),
            Way::Debugger => drop(self.send("Debugger.enable", json!({})).await),
            Way::Nothing | Way::Headers | Way::Body | Way::LateDebugger => {}
        }
    }

    /// The first question has failed.
    pub(super) async fn begins_late(&self) {
        if self.way == Way::LateDebugger {
            self.send("Debugger.enable", json!({})).await;
        }
    }

    /// Shows a page until it is loaded.
    pub(super) async fn shows(&self, url: &str) {
        let shown = async {
            let reply = self.send("Page.navigate", json!({ "url": url })).await;
            assert!(reply["errorText"].is_null(), "{reply}");
            self.client.event("Page.loadEventFired").await;
        };
        self.attended(shown).await;
    }

    /// What an expression gives.
    pub(super) async fn value(&self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        self.attended(self.send("Runtime.evaluate", params)).await["result"]["value"].clone()
    }

    pub(super) async fn text(&self, expression: &str) -> String {
        self.value(expression).await.as_str().unwrap().to_owned()
    }

    pub(super) async fn close(self) {
        self.client.send("Target.closeTarget", json!({ "targetId": self.target }), None).await;
        self.client.close().await;
    }

    async fn send(&self, method: &str, params: Value) -> Value {
        let reply = self.client.send(method, params, Some(&self.session)).await;
        assert!(reply["error"].is_null(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Answers requests and stops meanwhile.
    async fn attended<T>(&self, done: impl Future<Output = T>) -> T {
        tokio::select! {
            biased;
            done = done => done,
            () = self.requests() => unreachable!(),
            () = self.stops() => unreachable!(),
        }
    }

    async fn requests(&self) {
        loop {
            let event = self.next("Fetch.requestPaused").await;
            let id = &event["requestId"];
            let (method, reply) = match event.get("responseStatusCode") {
                None => ("Fetch.fulfillRequest", bridge_reply(id)),
                Some(_) if self.way == Way::Headers => {
                    let headers = without_policies(&event);
                    let reply = json!({ "requestId": id, "responseCode": 200, "responseHeaders": headers });
                    ("Fetch.continueResponse", reply)
                }
                Some(_) => ("Fetch.fulfillRequest", self.whole(&event).await),
            };
            self.send(method, reply).await;
        }
    }

    /// The document with its body, and without its policies.
    async fn whole(&self, event: &Value) -> Value {
        let id = &event["requestId"];
        let body = self.send("Fetch.getResponseBody", json!({ "requestId": id })).await;
        assert_eq!(body["base64Encoded"], true);
        json!({ "requestId": id, "responseCode": 200, "responseHeaders": without_policies(event), "body": body["body"] })
    }

    async fn stops(&self) {
        loop {
            let event = self.next("Debugger.paused").await;
            let answer = json!({ "callFrameId": event["callFrames"][0]["callFrameId"], "expression": "answer = 'agent'" });
            self.send("Debugger.evaluateOnCallFrame", answer).await;
            self.send("Debugger.resume", json!({})).await;
        }
    }

    /// The parameters of the next event of this kind that was not seen yet; no two of them are the same.
    async fn next(&self, method: &str) -> Value {
        let event = self.client.event_where(method, |it| !self.seen().contains(&it.to_string())).await;
        self.seen().insert(event.to_string());
        event["params"].clone()
    }

    fn seen(&self) -> MutexGuard<'_, HashSet<String>> {
        self.seen.lock().unwrap()
    }
}

fn bridge_reply(id: &Value) -> Value {
    let headers = json!([{ "name": "Access-Control-Allow-Origin", "value": "*" }]);
    json!({ "requestId": id, "responseCode": 200, "responseHeaders": headers, "body": AGENT })
}

fn without_policies(event: &Value) -> Vec<Value> {
    let is_policy = |header: &&Value| {
        let name = header["name"].as_str().unwrap().to_lowercase();
        !name.ends_with("-policy")
    };
    event["responseHeaders"].as_array().unwrap().iter().filter(is_policy).cloned().collect()
}
