//! `browser_connect`

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use supervisor::{DialogPolicy, Endpoint, Failure, Options, PageView, Scope, Snapshot};
use supervisor_core::Bridge;

use super::{Call, Definition, Hints};
use crate::limits::{FIRST_FRAMES, MAX_DIALOG_TIMEOUT};
use crate::seconds::Seconds;
use crate::wish::Wish;

pub(crate) struct Tool;

/// What a task is connected with. What is left out stays as it is for a connected task, and is as configured otherwise.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Where the browser is: http://HOST:PORT, ws://…/devtools/browser/ID, ws://…/devtools/page/ID, a signed wss://… URL, or
    /// the path of its user-data-dir. Left out: where the task is connected, else the configured browser.
    cdp_url: Option<String>,
    /// Who answers dialogs. `must_respond`: you do, by browser_dialog; `auto_dismiss` and `auto_accept`: each is answered at
    /// once and shown in `recent_dialogs`.
    dialog_policy: Option<DialogPolicy>,
    /// After how many seconds a dialog that nobody answers is dismissed under `must_respond`.
    dialog_timeout_s: Option<Seconds<{ MAX_DIALOG_TIMEOUT.as_secs() }>>,
    /// Whether dialogs are caught inside of the pages, for backends that close them by themselves. `auto`: when needed.
    bridge: Option<Bridge>,
    /// Whether a second connection keeps open dialogs answerable when the first is lost. Where it cannot (a browser without
    /// a user interface, a backend that starts a browser per connection), the snapshot's `guard` says why.
    guard: Option<bool>,
    /// The part of the browser that this task sees: `browser` (all of it), one page with the popups it opens, or one browser
    /// context.
    scope: Option<Part>,
}

/// How to get along with what a backend does by itself.
#[derive(Debug, Default)]
pub(crate) struct BackendWishes {
    bridge: Option<Bridge>,
    guard: Option<bool>,
}

impl BackendWishes {
    /// Puts them into the options of a task.
    pub(crate) fn apply(&self, options: &mut Options) {
        if let Some(bridge) = self.bridge {
            options.bridge = bridge;
        }
        if let Some(guard) = self.guard {
            options.guard = guard;
        }
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Part {
    /// All of it.
    Browser,
    /// A page and its popups.
    TargetId(String),
    /// A browser context.
    BrowserContextId(String),
}

impl Definition for Tool {
    const NAME: &'static str = "browser_connect";
    const TITLE: &'static str = "Connect to a browser";
    const DESCRIPTION: &'static str = "Connects a task to a browser by the Chrome DevTools Protocol and keeps the connection: \
        from then on its dialogs, frames and console are known at every moment. Idempotent: with the same cdp_url it gives \
        what runs, with changed options applied. Another cdp_url or scope ends the old connection and makes a new one. \
        Answers with the snapshot. More tools appear once something is connected.";
    const HINTS: Hints = Hints { read_only: false, destructive: false, idempotent: true };
    const NEEDS_BROWSER: bool = false;
    type Input = Input;
    type Output = Arc<Snapshot>;

    async fn run(call: Call, input: Input) -> Result<Arc<Snapshot>, Failure> {
        let endpoint = input.cdp_url.as_deref().map(Endpoint::parse).transpose()?;
        let wish = Wish {
            endpoint,
            dialog_policy: input.dialog_policy,
            dialog_timeout: input.dialog_timeout_s.map(|time| time.0),
            scope: input.scope.map(Scope::from),
            backend: BackendWishes { bridge: input.bridge, guard: input.guard },
        };
        let task = call.hub.connect(&call.task_id, wish).await?;
        // Whether it came in time or not, what is known by then is the answer.
        let _ = task.wait_for(has_frames, FIRST_FRAMES).await;
        Ok(task.snapshot())
    }
}

/// Whether the active page's frames are known, or cannot be: there is none, or it does not answer.
fn has_frames(snapshot: &Snapshot) -> bool {
    let silent = |page: &PageView| page.blocked.is_some() || page.unresponsive || page.crashed;
    let active = snapshot.pages.iter().find(|page| page.active);
    snapshot.frame_tree.top.is_some() || active.is_none_or(silent)
}

impl From<Part> for Scope {
    fn from(part: Part) -> Self {
        match part {
            Part::Browser => Scope::Browser,
            Part::TargetId(id) => Scope::TargetId(id.as_str().into()),
            Part::BrowserContextId(id) => Scope::BrowserContextId(id.as_str().into()),
        }
    }
}
