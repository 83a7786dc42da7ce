//! A paused target is resumed in the very step in which it is seen.

use serde_json::Value;
use supervisor_core::Effect;

use crate::rules::check;

pub(crate) fn holds(text: &str, effects: &[Effect]) {
    if text.contains("\"waitingForDebugger\":true") {
        holds_if_read(text, effects);
    }
}

/// Of a message that may be anything.
pub(crate) fn holds_if_read(text: &str, effects: &[Effect]) {
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    let (params, is_event) = (&message["params"], message["method"] == "Target.attachedToTarget");
    let (Some(session), true) =
        (params["sessionId"].as_str(), is_event && params["waitingForDebugger"] == true)
    else {
        return;
    };
    let resumes = |effect: &Effect| {
        let Effect::Send { text, .. } = effect else { return false };
        text.contains("Runtime.runIfWaitingForDebugger") && text.contains(&format!("\"{session}\""))
    };
    check("a paused target is resumed at once", effects.iter().any(resumes), || session.to_owned());
}
