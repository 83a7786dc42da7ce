//! Short ways to ask about frames.

use std::time::Duration;

use serde_json::Value;
use supervisor::{EvalOptions, Failure, FrameId, FrameView};

use crate::stage::Stage;

impl Stage {
    /// The active page's main frame.
    #[must_use]
    pub fn top(&self) -> FrameView {
        self.task.snapshot().frame_tree.top.clone().expect("a main frame")
    }

    /// The active page's whole tree, parents first, without the limits of a snapshot.
    #[must_use]
    pub fn frames(&self) -> Vec<FrameView> {
        self.task.frames(None).unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    /// Waits for a frame with this name.
    pub async fn frame_named(&self, name: &str) -> FrameView {
        self.frame_where(|frame| frame.name == name && !frame.url.is_empty()).await
    }

    /// Waits until the active page's tree is without this frame.
    pub async fn without(&self, frame: &FrameId) {
        self.until(|snapshot| snapshot.frame_tree.children.iter().all(|it| it.frame_id != *frame)).await;
    }

    /// Evaluates with a deadline of its own, waiting for promises.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn eval_within(
        &self,
        frame: Option<&FrameId>,
        expression: &str,
        limit: Duration,
    ) -> Result<Value, Failure> {
        let options = EvalOptions { await_promise: true, timeout: Some(limit) };
        let value = self.task.eval(frame.cloned(), expression, options).await?;
        Ok(serde_json::from_str(value.value.get()).unwrap())
    }
}
