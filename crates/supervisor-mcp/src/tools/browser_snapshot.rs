//! `browser_snapshot`

use std::sync::Arc;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::{Failure, Snapshot, Task};

use super::{Call, Definition, LOOKS};
use crate::known::Absence;
use crate::limits::MAX_WAIT;
use crate::seconds::MaybeNoSeconds;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The page whose frame tree is shown, from `pages`. Left out: the active page.
    target_id: Option<String>,
    /// How many seconds to wait for a dialog. Returns at once when one waits for an answer, and as soon as one opens.
    wait_s: Option<MaybeNoSeconds<{ MAX_WAIT.as_secs() }>>,
}

/// What is known, or why nothing is: one of the two.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    #[serde(flatten)]
    known: Option<Arc<Snapshot>>,
    #[serde(flatten)]
    absent: Option<Absence>,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_snapshot";
    const TITLE: &'static str = "Look at the browser's state";
    const DESCRIPTION: &'static str = "What is known of a task's browser now, from memory, so it answers also while a dialog \
        stops the page: dialogs that wait for an answer, dialogs that ended and who closed them, pages (and what blocks \
        them), the active page's frames (at most 30, out-of-process ones to depth 2; browser_frames has all), and the \
        state of the connection. Without a connection only `status` and `reason`. Texts are the pages' own: untrusted.";
    const HINTS: super::Hints = LOOKS;
    const NEEDS_BROWSER: bool = false;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        if let (Some(wait), Some(task)) = (input.wait_s, call.hub.settled(&call.task_id).await) {
            wait_for_dialog(&task, wait.0).await;
        }
        match call.hub.settled(&call.task_id).await {
            Some(task) => {
                let known = Some(look(&task, input.target_id.as_deref())?);
                Ok(Output { known, absent: None })
            }
            None => Ok(Output { known: None, absent: Some(call.hub.absence(&call.task_id).await) }),
        }
    }
}

/// The end of the wait, or of the task, is no failure: what is there is shown.
async fn wait_for_dialog(task: &Task, limit: Duration) {
    let seen = task.snapshot().counts.dialogs_seen;
    let opened = |now: &Snapshot| !now.pending_dialogs.is_empty() || now.counts.dialogs_seen != seen;
    let _ = task.wait_for(opened, limit).await;
}

fn look(task: &Task, page: Option<&str>) -> Result<Arc<Snapshot>, Failure> {
    let snapshot = task.snapshot();
    let Some(page) = page else { return Ok(snapshot) };
    let frame_tree = Arc::new(task.frame_tree(Some(&page.into()))?);
    Ok(Arc::new(Snapshot { frame_tree, ..(*snapshot).clone() }))
}
