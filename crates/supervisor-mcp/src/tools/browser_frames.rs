//! `browser_frames`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::{Failure, FrameView, TargetId};

use super::{Call, Definition, LOOKS};

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The page, from `pages` of the snapshot. Left out: the active page.
    target_id: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// All frames, parents before their children; the main frame has no `parent_frame_id`. Untrusted texts.
    frames: Vec<FrameView>,
    /// Whether this is the last known state, because the connection is being made again.
    stale: bool,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_frames";
    const TITLE: &'static str = "List all frames of a page";
    const DESCRIPTION: &'static str = "All frames of a page, at any depth, with their frame_id, parent, URL, origin and whether \
        they live in another process (`is_oopif`). From memory, so it answers also while a dialog stops the page.";
    const HINTS: super::Hints = LOOKS;
    const NEEDS_BROWSER: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        let task = call.task().await?;
        let page = input.target_id.as_deref().map(TargetId::from);
        Ok(Output { frames: task.frames(page.as_ref())?, stale: task.snapshot().status.stale })
    }
}
