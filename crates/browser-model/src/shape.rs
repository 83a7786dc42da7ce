//! The shapes of messages as Chromium writes them, for every made-up browser of this repository: the model, the scripted peer of
//! the integration tests, and the synthetic one of the bench. Each is what is always there; who knows more puts it in.

use cdp_wire::page::DialogType;
use serde::Serialize;
use serde_json::{Value, json};

use crate::json::{put, put_some};

/// An event on a session, or on the root.
pub fn event(session: Option<impl Serialize>, method: &str, params: impl Serialize) -> Value {
    with_session(json!({ "method": method, "params": params }), session)
}

/// A command's result.
pub fn result(id: impl Serialize, session: Option<impl Serialize>, result: impl Serialize) -> Value {
    with_session(json!({ "id": id, "result": result }), session)
}

/// A command's error.
pub fn error(id: impl Serialize, session: Option<impl Serialize>, code: i64, message: &str) -> Value {
    with_session(json!({ "id": id, "error": { "code": code, "message": message } }), session)
}

fn with_session(mut message: Value, session: Option<impl Serialize>) -> Value {
    if let Some(session) = session {
        put(&mut message, "sessionId", json!(session));
    }
    message
}

/// What `Browser.getVersion` gives. A browser without dialogs of its own says so by its name.
#[must_use]
pub fn version(has_browser_handler: bool) -> Value {
    let name = if has_browser_handler { "Chrome" } else { "HeadlessChrome" };
    json!({
        "protocolVersion": "1.3",
        "product": format!("{name}/156.0.8078.114"),
        "revision": "@0",
        "userAgent": "Mozilla/5.0",
        "jsVersion": "15.6",
    })
}

/// `Target.TargetInfo` of a page, an iframe, or something else.
pub fn target(kind: &str, id: impl Serialize, title: &str, url: &str, attached: bool) -> Value {
    json!({
        "targetId": id,
        "type": kind,
        "title": title,
        "url": url,
        "attached": attached,
        "canAccessOpener": false,
        "browserContextId": "CONTEXT1",
    })
}

/// `Target.attachedToTarget`.
pub fn attached(session: impl Serialize, info: impl Serialize, waiting: bool) -> Value {
    json!({ "sessionId": session, "targetInfo": info, "waitingForDebugger": waiting })
}

/// `Page.Frame` of a main frame; others have a `parentId` and a `name`, too.
pub fn frame(id: impl Serialize, loader: impl Serialize, url: &str, origin: &str) -> Value {
    json!({
        "id": id,
        "loaderId": loader,
        "url": url,
        "domainAndRegistry": "",
        "securityOrigin": origin,
        "mimeType": "text/html",
        "secureContextType": "InsecureScheme",
        "crossOriginIsolatedContextType": "NotIsolated",
        "gatedAPIFeatures": [],
    })
}

/// `Runtime.executionContextCreated` for a document's own context.
pub fn context(id: impl Serialize, unique: impl Serialize, frame: impl Serialize, origin: &str) -> Value {
    json!({ "context": {
        "id": id,
        "origin": origin,
        "name": "",
        "uniqueId": unique,
        "auxData": { "isDefault": true, "type": "default", "frameId": frame },
    } })
}

/// A dialog that opens.
#[derive(Debug, Clone, Copy)]
pub struct Dialog<'a> {
    /// Its kind.
    pub kind: DialogType,
    /// What it says.
    pub message: &'a str,
    /// The text that a prompt shows at first.
    pub default_prompt: &'a str,
    /// The URL of its frame.
    pub url: &'a str,
    /// Whether the browser can show it itself.
    pub has_browser_handler: bool,
}

impl Dialog<'_> {
    /// `Page.javascriptDialogOpening`. Older browsers name no frame.
    pub fn opening(&self, frame: Option<impl Serialize>) -> Value {
        let mut params = json!({
            "url": self.url,
            "message": self.message,
            "type": kind_name(self.kind),
            "hasBrowserHandler": self.has_browser_handler,
            "defaultPrompt": self.default_prompt,
        });
        put_some(&mut params, "frameId", frame.map(|frame| json!(frame)));
        params
    }
}

/// `Page.javascriptDialogClosed`. Older browsers name no frame.
pub fn dialog_closed(accepted: bool, text: &str, frame: Option<impl Serialize>) -> Value {
    let mut params = json!({ "result": accepted, "userInput": text });
    put_some(&mut params, "frameId", frame.map(|frame| json!(frame)));
    params
}

pub(crate) fn kind_name(kind: DialogType) -> &'static str {
    match kind {
        DialogType::Alert => "alert",
        DialogType::Confirm => "confirm",
        DialogType::Prompt => "prompt",
        DialogType::Beforeunload => "beforeunload",
        DialogType::Other => "other",
    }
}
