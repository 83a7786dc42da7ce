//! `Runtime.evaluate`: an expression tells, as its value, the frame in which it ran.

use cdp_wire::page::DialogType;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::command::Command;
use crate::ids::{FrameNo, SessionNo};
use crate::json;
use crate::session::{Held, Target};

/// An expression whose promise nobody settles.
pub const NEVER: &str = "new Promise(() => {})";

impl Browser {
    /// The value of any expression is the id of its frame. `alert(…)`, `confirm(…)` and `prompt(…)` open a dialog and
    /// are answered when it has closed; [`NEVER`] is not answered while its document is there.
    pub(crate) fn evaluate(&mut self, session: SessionNo, command: &Command) {
        let frame = match self.context_frame(session, &command.params) {
            Ok(frame) => frame,
            Err(message) => {
                let text = json::error(command.id, Some(session), -32000, message);
                return self.queues.pipe(session, text, None);
            }
        };
        let expression = command.params.get("expression").and_then(Value::as_str).unwrap_or_default();
        let result = json!({ "result": { "type": "string", "value": frame } });
        let text = json::result(command.id, Some(session), result);
        if expression == NEVER {
            if let Some(session) = self.sessions.get_mut(session) {
                session.promises.push(command.id);
            }
            return;
        }
        let Some(dialog) = dialog_in(expression).and_then(|kind| self.open_dialog(frame, kind)) else {
            return self.queues.pipe(session, text, None);
        };
        if let Some(session) = self.sessions.get_mut(session) {
            session.held.insert(0, Held::Reply { dialog, text });
        }
    }

    fn context_frame(&self, session: SessionNo, params: &Value) -> Result<FrameNo, &'static str> {
        const NO_CONTEXT: &str = "Cannot find context with specified id";
        let Some(Target::Frame(root)) = self.sessions.get(session).map(|session| session.target) else {
            return Err(NO_CONTEXT);
        };
        let id = params.get("contextId").and_then(Value::as_i64);
        let unique = params.get("uniqueContextId").and_then(Value::as_str);
        if id.is_none() && unique.is_none() {
            return Ok(root);
        }
        let is_meant = |frame: &FrameNo| {
            let context = self.frames.get(*frame).and_then(|frame| frame.document.context);
            context.is_some_and(|it| id == Some(it.id) || unique == Some(it.unique().as_str()))
        };
        self.frames.island(root).into_iter().find(is_meant).ok_or(NO_CONTEXT)
    }
}

fn dialog_in(expression: &str) -> Option<DialogType> {
    match expression.split('(').next() {
        Some("alert") => Some(DialogType::Alert),
        Some("confirm") => Some(DialogType::Confirm),
        Some("prompt") => Some(DialogType::Prompt),
        _ => None,
    }
}
