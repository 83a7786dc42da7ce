//! `browser_result`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use supervisor::{CallId, Failure, Json, LateResult};

use super::{Call, Definition, Hints};
use crate::limits::MAX_TIMEOUT;
use crate::seconds::MaybeNoSeconds;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The call, from its `dialog_opened` error.
    call_id: CallId,
    /// How long to wait for the result, in seconds; 30 unless configured otherwise.
    timeout_s: Option<MaybeNoSeconds<{ MAX_TIMEOUT.as_secs() }>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The call.
    call_id: CallId,
    /// Of browser_eval: the value. Untrusted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Value")]
    value: Option<Json>,
    /// Of browser_eval: its JavaScript type.
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<String>,
    /// Of browser_cdp: the browser's answer. Untrusted where it comes from the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<Map<String, Value>>")]
    result: Option<Json>,
    /// Of browser_cdp: the frame that it was for.
    #[serde(skip_serializing_if = "Option::is_none")]
    frame_id: Option<String>,
    /// Of browser_cdp: the CDP session that it went over.
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<String>,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_result";
    const TITLE: &'static str = "Fetch a late result";
    const DESCRIPTION: &'static str = "The result of a browser_eval or browser_cdp call that ended with `dialog_opened`, once \
        the dialog is answered. Gives `dialog_opened` again while a dialog still holds the call, or holds it anew. A result is \
        kept for 10 minutes and handed out once.";
    const HINTS: Hints = Hints { read_only: false, destructive: false, idempotent: false };
    const NEEDS_BROWSER: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        let timeout = input.timeout_s.map(|time| time.0);
        let late = call.task().await?.result(input.call_id, timeout).await?;
        let none = Output {
            call_id: input.call_id,
            value: None,
            r#type: None,
            result: None,
            frame_id: None,
            session_id: None,
        };
        Ok(match late {
            LateResult::Eval(eval) => Output { value: Some(eval.value), r#type: Some(eval.kind), ..none },
            LateResult::Call(call) => Output {
                result: Some(call.result),
                frame_id: call.frame_id.map(|id| id.to_string()),
                session_id: call.session_id.map(|id| id.to_string()),
                ..none
            },
        })
    }
}
