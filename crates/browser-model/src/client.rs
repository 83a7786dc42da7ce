//! The simplest client that keeps a browser going: it attaches to everything, and resumes it.

use serde_json::{Value, json};

/// It answers each attached page and iframe with its set-up, as a supervisor would, and knows nothing else.
#[derive(Debug, Clone, Default)]
pub struct Client {
    last: u64,
}

impl Client {
    /// What it sends when the connection is open.
    pub fn greet(&mut self) -> Vec<String> {
        let pages = json!([{ "type": "page" }]);
        let attach =
            json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true, "filter": pages });
        vec![
            self.command(None, "Target.setDiscoverTargets", json!({ "discover": true, "filter": pages })),
            self.command(None, "Target.setAutoAttach", attach),
        ]
    }

    /// What it sends when it hears this.
    pub fn hear(&mut self, text: &str) -> Vec<String> {
        let Ok(message) = serde_json::from_str::<Value>(text) else { return Vec::new() };
        if message.get("method").and_then(Value::as_str) != Some("Target.attachedToTarget") {
            return Vec::new();
        }
        let params = message.get("params").unwrap_or(&Value::Null);
        match params.get("sessionId").and_then(Value::as_str) {
            Some(session) => self.set_up(session),
            None => Vec::new(),
        }
    }

    /// The set-up of a session, in one go.
    pub fn set_up(&mut self, session: &str) -> Vec<String> {
        let attach = json!({ "autoAttach": true, "waitForDebuggerOnStart": true, "flatten": true });
        [
            ("Page.enable", json!({})),
            ("Runtime.enable", json!({})),
            ("Target.setAutoAttach", attach),
            ("Page.getFrameTree", json!({})),
            ("Runtime.runIfWaitingForDebugger", json!({})),
        ]
        .into_iter()
        .map(|(method, params)| self.command(Some(session), method, params))
        .collect()
    }

    /// The text of a command with the next id.
    pub fn command(&mut self, session: Option<&str>, method: &str, params: Value) -> String {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        crate::json::put_some(&mut message, "sessionId", session);
        message.to_string()
    }
}
