//! What the synthetic browser answers: as little as makes each client believe that it is a browser with one page.

use bench::ids::{CONTEXT, PAGE, SESSION, TAB, TAB_SESSION, URL};
use bench::load::event;
use browser_model::shape;
use serde_json::{Value, json};

/// The origin of the page's document.
const ORIGIN: &str = "http://bench.test";

/// One browser, as far as it remembers.
#[derive(Debug, Default)]
pub(crate) struct Script {
    announced: bool,
    loader: u64,
    contexts: u64,
}

impl Script {
    /// The messages that a command is answered with, in order.
    pub(crate) fn answer(&mut self, command: &Value) -> Vec<String> {
        let method = command["method"].as_str().unwrap_or_default();
        let session = command["sessionId"].as_str();
        let mut messages = self.before(method, session, &command["params"]);
        let mut reply = json!({"id": command["id"], "result": self.result(method)});
        if let Some(session) = session {
            reply["sessionId"] = session.into();
        }
        messages.push(reply.to_string());
        messages
    }

    /// The events that come before the reply.
    fn before(&mut self, method: &str, session: Option<&str>, params: &Value) -> Vec<String> {
        match method {
            "Target.setDiscoverTargets" => {
                vec![event(None, "Target.targetCreated", &json!({"targetInfo": page()}))]
            }
            "Target.setAutoAttach" => self.attach(session, params),
            // Who attaches by himself is told so before the reply, as browsers do it.
            "Target.attachToTarget" => vec![attached(session, SESSION, &page())],
            "Runtime.enable" => vec![context(1, "")],
            "Page.createIsolatedWorld" => {
                self.contexts += 1;
                vec![context(1 + self.contexts, params["worldName"].as_str().unwrap_or_default())]
            }
            _ => Vec::new(),
        }
    }

    /// Clients that leave out pages at the root attach to tabs, and to the page below its tab.
    fn attach(&mut self, session: Option<&str>, params: &Value) -> Vec<String> {
        let filter = params["filter"].as_array().map(Vec::as_slice).unwrap_or_default();
        let wants_tabs = filter.iter().any(|entry| entry["type"] == "page" && entry["exclude"] == true);
        match session {
            None if wants_tabs => vec![attached(None, TAB_SESSION, &tab())],
            None | Some(TAB_SESSION) if !self.announced => {
                self.announced = true;
                vec![attached(session, SESSION, &page())]
            }
            _ => Vec::new(),
        }
    }

    fn result(&mut self, method: &str) -> Value {
        match method {
            "Browser.getVersion" => json!({"protocolVersion": "1.3", "product": "Chrome/156.0.8078.114",
                "revision": "@0", "userAgent": "Mozilla/5.0 Chrome/156.0.0.0", "jsVersion": "15.6"}),
            "Target.getBrowserContexts" => json!({"browserContextIds": []}),
            "Target.getTargets" => json!({"targetInfos": [page()]}),
            "Target.getTargetInfo" => json!({"targetInfo": page()}),
            "Target.attachToTarget" => json!({"sessionId": SESSION}),
            "Page.getFrameTree" | "Page.getResourceTree" => {
                json!({"frameTree": {"frame": frame(), "resources": []}})
            }
            "Page.addScriptToEvaluateOnNewDocument" => {
                self.loader += 1;
                json!({"identifier": self.loader.to_string()})
            }
            "Page.createIsolatedWorld" => json!({"executionContextId": 1 + self.contexts}),
            "Page.getNavigationHistory" => json!({"currentIndex": 0, "entries": []}),
            "Runtime.evaluate" | "Runtime.callFunctionOn" => json!({"result": {"type": "undefined"}}),
            _ => json!({}),
        }
    }
}

fn attached(parent: Option<&str>, session: &str, target: &Value) -> String {
    event(parent, "Target.attachedToTarget", &shape::attached(session, target, false))
}

fn page() -> Value {
    target("page", PAGE)
}

fn tab() -> Value {
    target("tab", TAB)
}

fn target(kind: &str, id: &str) -> Value {
    let mut info = shape::target(kind, id, "Bench", URL, true);
    info["browserContextId"] = CONTEXT.into();
    info
}

fn frame() -> Value {
    let mut frame = shape::frame(PAGE, "L0", URL, ORIGIN);
    frame["domainAndRegistry"] = "bench.test".into();
    frame["securityOriginDetails"] = json!({"isLocalhost": false});
    frame
}

fn context(id: u64, world: &str) -> String {
    let mut params = shape::context(id, format!("{id}.1"), PAGE, ORIGIN);
    if !world.is_empty() {
        let context = &mut params["context"];
        context["name"] = world.into();
        context["auxData"] = json!({"isDefault": false, "type": "isolated", "frameId": PAGE});
    }
    event(Some(SESSION), "Runtime.executionContextCreated", &params)
}
