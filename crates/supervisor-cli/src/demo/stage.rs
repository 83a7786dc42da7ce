//! Where the demo plays: one supervised browser, its first page, and what every step does on it.

use std::fmt::Display;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use page_server::PageServer;
use serde_json::{Value, json};
use supervisor::{
    Action, Answered, Code, DialogChoice, DialogView, EvalOptions, Failure, FrameId, Place, Snapshot,
    TargetId, Task,
};

use crate::escape::quoted;
use crate::teller::{asks, word};

use super::narrate::Narrator;

/// Each wait of a step. A loaded machine takes seconds for what takes milliseconds as a rule; longer means that it hangs.
const LIMIT: Duration = Duration::from_secs(30);

/// Becomes true when the page is loaded: its scripts have run, and so have the listeners of the `load` event.
pub(super) const LOADED: &str = "new Promise(done => document.readyState === 'complete' ? done(true) : \
                                 addEventListener('load', () => setTimeout(done, 0, true)))";

/// Becomes what the page got for its question, as soon as it has got it.
const ANSWER: &str = "new Promise(done => { const look = () => window.answer === undefined ? setTimeout(look, 5) \
                      : done(window.answer); look(); })";

/// A step did not go as it must.
#[derive(Debug, thiserror::Error)]
#[error(
    "the demo failed at: {step}\n  expected: {expected}\n  got: {got}\n  next: run it again with --record FILE, and report it with that file"
)]
pub(crate) struct StepFailed {
    step: &'static str,
    expected: String,
    got: String,
}

/// What a step wanted and what it got.
#[derive(Debug)]
pub(super) struct Mismatch {
    expected: String,
    got: String,
}

impl Mismatch {
    pub(super) fn new(expected: impl Display, got: impl Display) -> Self {
        Self { expected: expected.to_string(), got: got.to_string() }
    }

    pub(super) fn in_step(self, step: &'static str) -> StepFailed {
        StepFailed { step, expected: self.expected, got: self.got }
    }
}

impl From<io::Error> for Mismatch {
    fn from(error: io::Error) -> Self {
        Self::new("a standard output that can be written", error)
    }
}

pub(super) type Outcome<T> = Result<T, Mismatch>;

/// Everything a step needs.
pub(super) struct Stage {
    pub(super) task: Task,
    pub(super) narrator: Arc<Narrator>,
    pages: PageServer,
    answered: AtomicU64,
}

impl Stage {
    pub(super) fn new(task: Task, pages: PageServer, narrator: Arc<Narrator>) -> Self {
        Self { task, narrator, pages, answered: AtomicU64::new(0) }
    }

    /// Dialogs that were answered so far.
    pub(super) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    /// Where a page of the demo is.
    pub(super) fn url(&self, path: &str) -> String {
        self.pages.url("a.test", path)
    }

    /// Opens a page of the demo, and waits until it is loaded.
    pub(super) async fn open(&self, path: &str) -> Outcome<()> {
        let url = self.url(path);
        self.narrator.act(&format!("open {url}"))?;
        let expected = "Page.navigate without an error";
        let result = self.navigate(&url).await.map_err(|failure| Mismatch::new(expected, failure))?;
        equal(expected, &Value::Null, &result["errorText"])?;
        self.arrived(&url).await
    }

    /// Waits until the first page shows this URL and is loaded: the browser may abort a navigation that begins earlier.
    pub(super) async fn arrived(&self, url: &str) -> Outcome<()> {
        let shows = |snapshot: &Snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == url);
        self.until(&format!("the page to show {url}"), shows).await?;
        self.eval(None, LOADED).await.map(drop)
    }

    /// Sends the first page somewhere, and gives what the browser says.
    pub(super) async fn navigate(&self, url: &str) -> Result<Value, Failure> {
        let params = json!({ "url": url }).to_string();
        self.task.call(Place::Active, "Page.navigate", params, None).await?.result.parse()
    }

    /// Waits until the snapshot is as wished.
    pub(super) async fn until(
        &self,
        what: &str,
        wished: impl FnMut(&Snapshot) -> bool,
    ) -> Outcome<Arc<Snapshot>> {
        self.task.wait_for(wished, LIMIT).await.map_err(|failure| Mismatch::new(what, failure))
    }

    /// Evaluates an expression in a frame (the first page's top frame unless named), and waits for its promise.
    pub(super) async fn eval(&self, frame: Option<&FrameId>, expression: &str) -> Outcome<Value> {
        let options = EvalOptions { await_promise: true, timeout: None };
        let value = match self.task.eval(frame.cloned(), expression, options).await {
            Ok(value) => value.value.parse(),
            Err(failure) => Err(failure),
        };
        value.map_err(|failure| Mismatch::new(format!("a value of `{expression}`"), failure))
    }

    /// What the page in this frame got for its question.
    pub(super) async fn answer_in(&self, frame: Option<&FrameId>) -> Outcome<Value> {
        self.eval(frame, ANSWER).await
    }

    /// Has the page raise its dialog, and gives the dialog.
    pub(super) async fn raise(&self, frame: Option<&FrameId>) -> Outcome<DialogView> {
        unless_dialog(self.task.eval(frame.cloned(), "raise()", EvalOptions::default()).await)?;
        self.dialog().await
    }

    /// The same as a user would do it: some things a page may do only then.
    pub(super) async fn raise_by_gesture(&self) -> Outcome<DialogView> {
        self.gesture("raise()").await?;
        self.dialog().await
    }

    /// Evaluates an expression on the first page as if a user had touched it.
    pub(super) async fn gesture(&self, expression: &str) -> Outcome<()> {
        let params = json!({ "expression": expression, "userGesture": true }).to_string();
        unless_dialog(self.task.call(Place::Active, "Runtime.evaluate", params, None).await)
    }

    /// The dialog that waits, once there is one.
    pub(super) async fn dialog(&self) -> Outcome<DialogView> {
        let snapshot =
            self.until("a dialog to be pending", |snapshot| !snapshot.pending_dialogs.is_empty()).await?;
        match snapshot.pending_dialogs.as_slice() {
            [dialog] => {
                self.narrator.ask(&described(dialog))?;
                Ok(dialog.clone())
            }
            more => Err(Mismatch::new("one pending dialog", format!("{}", more.len()))),
        }
    }

    /// Answers a dialog.
    pub(super) async fn respond(&self, dialog: &DialogView, action: Action) -> Outcome<Answered> {
        let expected = format!(
            "{} to be {} by the agent",
            dialog.id,
            if action.accepts() { "accepted" } else { "dismissed" }
        );
        let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
        let answered = match self.task.respond(choice, action.clone()).await {
            Ok(answered) => answered,
            Err(failure) => return Err(Mismatch::new(expected, failure)),
        };
        let by = answered.dialog.closed_by.map_or("nobody", |by| by.as_str());
        equal(expected, &(action.accepts(), "agent"), &(answered.accepted, by))?;
        self.answered.fetch_add(1, Ordering::Relaxed);
        self.narrator.act(&answer_told(&answered))?;
        Ok(answered)
    }

    /// Holds what came against what must come, and says it when they agree.
    pub(super) fn check(&self, what: &str, expected: impl Into<Value>, got: &Value) -> Outcome<()> {
        let expected = expected.into();
        equal(format!("{what}: {expected}"), &expected, got)?;
        self.narrator.good(&format!("{what}: {got}"))?;
        Ok(())
    }

    /// The browser's first page.
    pub(super) fn first_page(&self) -> Outcome<TargetId> {
        let snapshot = self.task.snapshot();
        let active = snapshot.pages.iter().find(|page| page.active).map(|page| page.target_id.clone());
        active.ok_or_else(|| Mismatch::new("an active page", "none"))
    }
}

/// Fails unless both are the same.
pub(super) fn equal<T: PartialEq + std::fmt::Debug>(
    what: impl Display,
    expected: &T,
    got: &T,
) -> Outcome<()> {
    if expected == got { Ok(()) } else { Err(Mismatch::new(what, format!("{got:?}"))) }
}

/// A request that only raises a dialog may end before or after it opens: no order between the two is promised.
fn unless_dialog<T>(outcome: Result<T, Failure>) -> Outcome<()> {
    match outcome {
        Err(failure) if failure.code != Code::DialogOpened => {
            Err(Mismatch::new("the page to raise its dialog", failure))
        }
        _ => Ok(()),
    }
}

fn described(dialog: &DialogView) -> String {
    let asks = asks(dialog.id, &word(&dialog.kind), &dialog.message, dialog.frame_id.as_ref());
    if dialog.default_prompt.is_empty() {
        return asks;
    }
    format!("{asks}, default {}", quoted(&dialog.default_prompt))
}

fn answer_told(answered: &Answered) -> String {
    let typed = answered.dialog.user_input.as_ref().map(|text| format!(" with {}", quoted(text)));
    let how = if answered.accepted { "accepted" } else { "dismissed" };
    let by = answered.dialog.closed_by.map_or("nobody", |by| by.as_str());
    format!("{} {how}{}, closed by {by}", answered.dialog.id, typed.unwrap_or_default())
}
