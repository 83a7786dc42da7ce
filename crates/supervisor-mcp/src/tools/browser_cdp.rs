//! `browser_cdp`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use supervisor::{Failure, Json, Place};

use super::{ACTS, Call, Definition};
use crate::arguments::invalid;
use crate::limits::MAX_TIMEOUT;
use crate::seconds::Seconds;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The command, as `Domain.command`, such as `Page.navigate`.
    method: String,
    /// Its parameters.
    #[serde(default)]
    params: Option<Map<String, Value>>,
    /// The frame to send it to: a page's main frame, or one with `is_oopif`. For a frame in its parent's process use
    /// browser_eval.
    frame_id: Option<String>,
    /// Instead of frame_id: the page to send it to. With neither it goes to the active page.
    target_id: Option<String>,
    /// How long it may take, in seconds; 30 unless configured otherwise. The time stands still while a dialog is open.
    timeout_s: Option<Seconds<{ MAX_TIMEOUT.as_secs() }>>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The command.
    method: String,
    /// The frame that it was for.
    frame_id: Option<String>,
    /// The CDP session that it went over.
    session_id: Option<String>,
    /// The browser's answer. Untrusted where it comes from the page.
    #[schemars(with = "Map<String, Value>")]
    result: Json,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_cdp";
    const TITLE: &'static str = "Send a CDP command";
    const DESCRIPTION: &'static str = "Sends a command of the Chrome DevTools Protocol to a page or an out-of-process iframe. It \
        never hangs: while a dialog stops the page it needs, the error is `blocked_by_dialog` and nothing is sent; when one \
        opens during the call the error is `dialog_opened` with a call_id for browser_result. Commands that would break the \
        supervision or kill the browser are `refused`, with what to use instead.";
    const HINTS: super::Hints = ACTS;
    const NEEDS_BROWSER: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        let place = place(input.frame_id.as_deref(), input.target_id.as_deref())?;
        let params = Value::Object(input.params.unwrap_or_default()).to_string();
        let timeout = input.timeout_s.map(|time| time.0);
        let answer = call.task().await?.call(place, input.method.as_str(), params, timeout).await?;
        Ok(Output {
            method: input.method,
            frame_id: answer.frame_id.map(|id| id.to_string()),
            session_id: answer.session_id.map(|id| id.to_string()),
            result: answer.result,
        })
    }
}

fn place(frame: Option<&str>, target: Option<&str>) -> Result<Place, Failure> {
    match (frame, target) {
        (None, None) => Ok(Place::Active),
        (Some(frame), None) => Ok(Place::Frame(frame.into())),
        (None, Some(target)) => Ok(Place::Target(target.into())),
        (Some(_), Some(_)) => {
            Err(invalid("`frame_id` and `target_id` are two ways to name one place; give one of them"))
        }
    }
}
