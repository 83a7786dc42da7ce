//! What the driver does to one tab.

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use supervisor::{Action, DialogChoice, DialogView, EvalOptions, FrameId, FrameView, Place, TargetId, Task};
use tokio::time::sleep;

use super::world::PATIENCE;

/// Between two looks at a page that has no other way to tell.
const LOOK_AGAIN: Duration = Duration::from_millis(50);

/// The driver's hand in one tab.
pub(super) struct Hand {
    pub(super) task: Task,
    pub(super) target: TargetId,
}

impl Hand {
    pub(super) async fn call(&self, method: &str, params: Value) -> Result<Value> {
        self.call_at(Place::Target(self.target.clone()), method, params).await
    }

    pub(super) async fn call_at(&self, place: Place, method: &str, params: Value) -> Result<Value> {
        let called = self.task.call(place, method, params.to_string(), Some(PATIENCE)).await;
        Ok(serde_json::from_str(called.with_context(|| method.to_owned())?.result.get())?)
    }

    /// Shows a page, and waits until its document is there.
    pub(super) async fn open(&self, url: &str) -> Result<()> {
        self.call("Page.navigate", json!({ "url": url })).await?;
        self.comes_true(
            None,
            &format!("location.href === {} && document.readyState === 'complete'", json!(url)),
        )
        .await
    }

    /// Evaluates in a frame of the tab, its top one unless named.
    pub(super) async fn eval(&self, frame: Option<&FrameId>, expression: &str) -> Result<Value> {
        let frame = match frame {
            Some(frame) => frame.clone(),
            None => self.top()?.frame_id,
        };
        let options = EvalOptions { await_promise: false, timeout: Some(PATIENCE) };
        let value = self.task.eval(Some(frame), expression, options).await;
        Ok(serde_json::from_str(value.with_context(|| expression.to_owned())?.value.get())?)
    }

    /// As if the user had done it: a page may open windows then, and ask before it is left.
    pub(super) async fn eval_as_user(&self, expression: &str) -> Result<()> {
        let params = json!({ "expression": expression, "userGesture": true });
        self.call("Runtime.evaluate", params).await.map(drop)
    }

    /// Waits until a condition holds in a frame. What fails meanwhile (a dialog is open, a document is on its way) may
    /// succeed later.
    pub(super) async fn comes_true(&self, frame: Option<&FrameId>, condition: &str) -> Result<()> {
        let since = Instant::now();
        loop {
            let looked = self.eval(frame, condition).await;
            let found = match looked {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(other) => other.to_string(),
                Err(error) => format!("{error:#}"),
            };
            if since.elapsed() > PATIENCE {
                bail!("{condition}: {found}");
            }
            sleep(LOOK_AGAIN).await;
        }
    }

    pub(super) fn top(&self) -> Result<FrameView> {
        let tree = self.task.frame_tree(Some(&self.target))?;
        tree.top.context("the tab has no frame")
    }

    /// Waits for a frame of the tab, and for its document.
    pub(super) async fn frame(&self, url: &str, oopif: bool) -> Result<FrameId> {
        let is_it = |frame: &FrameView| frame.url == url && frame.is_oopif == oopif;
        let find = || self.task.frames(Some(&self.target)).ok()?.into_iter().find(is_it);
        let there = self.task.wait_for(|_| find().is_some(), PATIENCE).await;
        there.with_context(|| format!("the frame {url}"))?;
        let frame = find().context("the frame came and went")?.frame_id;
        let here = format!("location.href === {} && document.readyState === 'complete'", json!(url));
        self.comes_true(Some(&frame), &here).await?;
        Ok(frame)
    }

    fn dialog_on(&self, target: &TargetId) -> Option<DialogView> {
        let snapshot = self.task.snapshot();
        snapshot.pending_dialogs.iter().find(|dialog| dialog.target_id == *target).cloned()
    }

    /// Answers a dialog of the tab that is for the other client, as that.
    pub(super) async fn answer_other(&self, accept: bool) -> Result<()> {
        let is_there =
            |dialog: &DialogView| dialog.target_id == self.target && dialog.message.starts_with("other");
        self.task
            .wait_for(|snapshot| snapshot.pending_dialogs.iter().any(is_there), PATIENCE)
            .await
            .context("a dialog for another client")?;
        let dialog = self.dialog_on(&self.target).context("it came and went")?;
        let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
        let action = if accept { Action::Accept { prompt_text: None } } else { Action::Dismiss };
        self.task.respond(choice, action).await.map(drop).context("answering as another client")
    }

    /// Whatever is the matter with the tab: closes its popups, answers, leaves the page, until it shows an empty one.
    pub(super) async fn free(&self, blank: &str) -> Result<()> {
        let mut last = Ok(());
        for _ in 0..5 {
            for popup in self.popups() {
                self.dismiss_on(&popup).await;
                let _ = self.call("Target.closeTarget", json!({ "targetId": popup })).await;
            }
            self.dismiss_on(&self.target).await;
            last = self.open(blank).await;
            if last.is_ok() {
                break;
            }
            sleep(LOOK_AGAIN * 10).await;
        }
        last
    }

    /// They share a process with the tab: a dialog of theirs blocks both.
    fn popups(&self) -> Vec<TargetId> {
        let snapshot = self.task.snapshot();
        let pages = snapshot.pages.iter().filter(|page| page.opener_target_id.as_ref() == Some(&self.target));
        pages.map(|page| page.target_id.clone()).collect()
    }

    async fn dismiss_on(&self, target: &TargetId) {
        if let Some(dialog) = self.dialog_on(target) {
            let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
            // Whoever else answers it is as welcome.
            let _ = self.task.respond(choice, Action::Dismiss).await;
        }
    }
}
