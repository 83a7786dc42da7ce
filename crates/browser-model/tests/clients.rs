//! A client that is asked instead of the browser, and one that listens on two connections.
#![cfg(test)]

use browser_model::{Acted, Action, Browser, Client, Config, Place, Wire};
use cdp_wire::page::DialogType;
use serde_json::{Value, json};

/// What the client's script sends, as far as the browser reads it.
const SCRIPT: &str = r#"'{"token":"t0","kind":"' + kind; open('POST', 'https://bridge.invalid/p0', false)"#;

struct Pair {
    browser: Browser,
    client: Client,
}

impl Pair {
    /// A page with an iframe in another process, and a client that is attached to both.
    fn new() -> Self {
        let mut pair = Self { browser: Browser::new(Config::default()), client: Client::default() };
        for command in pair.client.greet() {
            pair.browser.receive(&command);
        }
        pair.said();
        pair.act(Action::NavigatePage { page: 0, to: Place::Site(0), cache: false });
        pair.act(Action::AddFrame { parent: 0, to: Place::Site(1) });
        pair.said();
        pair
    }

    /// The same with the script in both.
    fn bridged() -> Self {
        let mut pair = Self::new();
        for session in ["SESSION1.1", "SESSION2.1"] {
            let patterns = json!({ "patterns": [{ "urlPattern": "https://bridge.invalid/*" }] });
            pair.send(session, "Fetch.enable", patterns);
            let script = json!({ "source": SCRIPT, "runImmediately": true });
            pair.send(session, "Page.addScriptToEvaluateOnNewDocument", script);
        }
        pair.said();
        pair
    }

    fn act(&mut self, action: Action) {
        assert_eq!(self.browser.act(action), Acted::Done, "{action:?}");
    }

    fn send(&mut self, session: &str, method: &str, params: Value) {
        let command = self.client.command(Some(session), method, params);
        self.browser.receive(&command);
    }

    /// Everything is said; the client attaches to what comes.
    fn said(&mut self) -> Vec<Value> {
        let mut said = Vec::new();
        while let Some(source) = self.browser.ready().first().copied() {
            let text = self.browser.emit(source).unwrap();
            let answers = if source.wire() == Wire::Main { self.client.hear(&text) } else { Vec::new() };
            answers.iter().for_each(|command| self.browser.receive(command));
            said.push(serde_json::from_str(&text).unwrap());
        }
        said
    }

    /// The request that a dialog became.
    fn asked(&mut self, frame: u8) -> Value {
        self.act(Action::OpenDialog { frame, kind: DialogType::Confirm });
        let said = self.said();
        assert_eq!(said.len(), 1, "{said:?}");
        assert_eq!(said[0]["method"], "Fetch.requestPaused");
        said[0].clone()
    }
}

fn methods(said: &[Value]) -> Vec<&str> {
    said.iter().filter_map(|message| message["method"].as_str()).collect()
}

#[test]
fn a_script_of_the_client_asks_the_client_and_waits() {
    let mut pair = Pair::bridged();
    let asked = pair.asked(1);
    assert_eq!(asked["sessionId"], "SESSION2.1");
    let (params, request) = (&asked["params"], &asked["params"]["request"]);
    assert_eq!((&params["frameId"], &params["resourceType"]), (&json!("FRAME2"), &json!("XHR")));
    assert_eq!(request["url"], "https://bridge.invalid/p0");
    let body: Value = serde_json::from_str(request["postData"].as_str().unwrap()).unwrap();
    assert_eq!((&body["token"], &body["kind"]), (&json!("t0"), &json!("confirm")));
    pair.send("SESSION2.1", "Runtime.evaluate", json!({ "expression": "1" }));
    assert!(pair.said().is_empty(), "its renderer waits");
    assert_eq!(pair.browser.truth().asking.len(), 1);
    pair.send("SESSION2.1", "Fetch.fulfillRequest", json!({ "requestId": params["requestId"] }));
    assert_eq!(pair.said().len(), 2, "the confirmation, and the value");
    assert!(pair.browser.truth().asking.is_empty() && pair.browser.truth().dialogs.is_empty());
    pair.send("SESSION2.1", "Fetch.failRequest", json!({ "requestId": params["requestId"] }));
    assert_eq!(pair.said()[0]["error"]["code"], -32602);
}

#[test]
fn a_request_that_fails_or_that_nobody_stops_any_more_becomes_a_dialog_of_the_page() {
    let mut pair = Pair::bridged();
    let asked = pair.asked(0);
    pair.send("SESSION1.1", "Fetch.failRequest", json!({ "requestId": asked["params"]["requestId"] }));
    assert_eq!(methods(&pair.said()), ["Page.javascriptDialogOpening"]);
    pair.send("SESSION1.1", "Page.handleJavaScriptDialog", json!({ "accept": true }));
    pair.said();
    pair.asked(0);
    pair.send("SESSION1.1", "Fetch.disable", json!({}));
    assert_eq!(methods(&pair.said()), ["Page.javascriptDialogOpening"]);
}

#[test]
fn a_request_ends_with_its_frame_its_renderer_and_its_page() {
    for end in [Action::RemoveFrame { frame: 0 }, Action::Crash { frame: 1 }, Action::ClosePage { page: 0 }] {
        let mut pair = Pair::bridged();
        pair.asked(1);
        pair.act(end);
        let said = pair.said();
        assert!(pair.browser.truth().asking.is_empty(), "{end:?}");
        assert!(!methods(&said).contains(&"Page.javascriptDialogOpening"), "{end:?}: {said:?}");
    }
}

#[test]
fn new_documents_have_the_script_too() {
    let mut pair = Pair::bridged();
    pair.act(Action::NavigatePage { page: 0, to: Place::Site(0), cache: false });
    pair.said();
    pair.asked(0);
}

#[test]
fn a_second_connection_hears_of_dialogs_and_can_answer_when_the_first_is_gone() {
    let mut pair = Pair::new();
    let attach = r#"{"id":1,"method":"Target.attachToTarget","params":{"targetId":"FRAME1","flatten":true}}"#;
    pair.browser.receive_on(Wire::Guard, attach);
    pair.browser
        .receive_on(Wire::Guard, r#"{"id":2,"method":"Page.enable","params":{},"sessionId":"GUARD1.1"}"#);
    assert!(pair.said().iter().any(|it| it["result"]["sessionId"] == "GUARD1.1"));
    let answer =
        r#"{"id":3,"method":"Page.handleJavaScriptDialog","params":{"accept":true},"sessionId":"GUARD1.1"}"#;
    pair.browser.receive_on(Wire::Main, answer);
    assert_eq!(pair.said()[0]["error"]["code"], -32001, "the other one's session");
    pair.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    assert_eq!(pair.said().len(), 2, "both are told");
    pair.act(Action::DropSocket);
    let truth = pair.browser.truth();
    assert!(truth.dialogs[0].answerable && truth.sessions.is_empty());
    pair.browser.receive_on(Wire::Guard, answer);
    assert_eq!(methods(&pair.said()), ["Page.javascriptDialogClosed"]);
    pair.browser.drop_wire(Wire::Guard);
    pair.act(Action::OpenDialog { frame: 0, kind: DialogType::Confirm });
    assert!(pair.said().is_empty() && !pair.browser.truth().dialogs[0].answerable);
}
