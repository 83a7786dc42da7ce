//! A paused target is resumed in the very step in which it is seen.

use serde_json::Value;
use supervisor_core::Effect;

use crate::rules::check;

pub(crate) fn holds(text: &str, effects: &[Effect]) {
    if !text.contains("\"waitingForDebugger\":true") {
        return;
    }
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    let session = message["params"]["sessionId"].as_str().unwrap_or_default();
    let resumes = |effect: &Effect| {
        let Effect::Send { text, .. } = effect else { return false };
        text.contains("Runtime.runIfWaitingForDebugger") && text.contains(&format!("\"{session}\""))
    };
    check("a paused target is resumed at once", effects.iter().any(resumes), || session.to_owned());
}
