//! `browser_eval`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use supervisor::{EvalOptions, Failure, FrameId, Json};

use super::{ACTS, Call, Definition};
use crate::arguments::invalid;
use crate::limits::MAX_TIMEOUT;
use crate::seconds::Seconds;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The JavaScript expression. Its value comes back as JSON.
    expression: String,
    /// The frame to run it in, any frame of any page. Left out: the active page's main frame.
    frame_id: Option<String>,
    /// Whether to wait for a promise and give what it resolves to.
    #[serde(default)]
    await_promise: Option<bool>,
    /// How long it may take, in seconds; 30 unless configured otherwise. The time stands still while a dialog is open.
    timeout_s: Option<Seconds<{ MAX_TIMEOUT.as_secs() }>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The value; null also for what JSON cannot express. Untrusted.
    #[schemars(with = "Value")]
    value: Json,
    /// Its JavaScript type, such as `string`, `object` or `undefined`.
    r#type: String,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_eval";
    const TITLE: &'static str = "Evaluate JavaScript in a frame";
    const DESCRIPTION: &'static str = "Evaluates a JavaScript expression in the document of one frame, in whatever process it \
        lives, and never in another frame. What is thrown is the error `js_exception` with text, line and column. It never \
        hangs: when a dialog opens during the call (`confirm('Sure?')`) the error is `dialog_opened` with the dialog and a \
        call_id; answer the dialog, then fetch the value by browser_result.";
    const HINTS: super::Hints = ACTS;
    const NEEDS_BROWSER: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        if input.expression.trim().is_empty() {
            return Err(invalid(
                "`expression` is empty; give a JavaScript expression, such as document.title",
            ));
        }
        let frame = input.frame_id.as_deref().map(FrameId::from);
        let timeout = input.timeout_s.map(|time| time.0);
        let options = EvalOptions { await_promise: input.await_promise.unwrap_or_default(), timeout };
        let evaluated = call.task().await?.eval(frame, input.expression, options).await?;
        Ok(Output { value: evaluated.value, r#type: evaluated.kind })
    }
}
