//! What the synthetic browser answers: as little as makes each client believe that it is a browser with one page.

use bench::ids::{CONTEXT, PAGE, SESSION, TAB, TAB_SESSION, URL};
use bench::load::event;
use serde_json::{Value, json};

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
    let params = json!({"sessionId": session, "targetInfo": target, "waitingForDebugger": false});
    event(parent, "Target.attachedToTarget", &params)
}

fn page() -> Value {
    json!({"targetId": PAGE, "type": "page", "title": "Bench", "url": URL, "attached": true,
        "canAccessOpener": false, "browserContextId": CONTEXT})
}

fn tab() -> Value {
    json!({"targetId": TAB, "type": "tab", "title": "Bench", "url": URL, "attached": true,
        "canAccessOpener": false, "browserContextId": CONTEXT})
}

fn frame() -> Value {
    json!({"id": PAGE, "loaderId": "L0", "url": URL, "domainAndRegistry": "bench.test",
        "securityOrigin": "http://bench.test", "securityOriginDetails": {"isLocalhost": false},
        "mimeType": "text/html", "secureContextType": "InsecureScheme",
        "crossOriginIsolatedContextType": "NotIsolated", "gatedAPIFeatures": []})
}

fn context(id: u64, world: &str) -> String {
    let kind = if world.is_empty() { "default" } else { "isolated" };
    let data = json!({"isDefault": world.is_empty(), "type": kind, "frameId": PAGE});
    let context = json!({"id": id, "origin": "http://bench.test", "name": world,
        "uniqueId": format!("{id}.1"), "auxData": data});
    event(Some(SESSION), "Runtime.executionContextCreated", &json!({"context": context}))
}
