//! `browser_disconnect`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::Failure;

use super::{Call, Definition, Hints};

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// Whether there was a connection to end.
    disconnected: bool,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_disconnect";
    const TITLE: &'static str = "Disconnect from a browser";
    const DESCRIPTION: &'static str = "Ends a task's connection, within a second. Dialogs that still wait are dismissed first, \
        because one that outlives its last client can never be answered again. The browser and its pages stay as they are.";
    const HINTS: Hints = Hints { read_only: false, destructive: true, idempotent: true };
    const NEEDS_BROWSER: bool = false;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, _: Input) -> Result<Output, Failure> {
        Ok(Output { disconnected: call.hub.disconnect(&call.task_id).await })
    }
}
