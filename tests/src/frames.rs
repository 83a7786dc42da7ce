//! Short ways to ask about frames.

use std::time::Duration;

use serde_json::Value;
use supervisor::{EvalOptions, Event, EventStream, Failure, FrameId, FrameView, Observed, TargetId};

use crate::stage::{Stage, patience};

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

    /// Waits until the document of the frame with this name is there; a blank one comes before it.
    pub async fn frame_loaded(&self, name: &str) -> FrameView {
        self.frame_where(|frame| frame.name == name && frame.url.starts_with("http")).await
    }

    /// The frames directly below this one, by their names, sorted.
    #[must_use]
    pub fn names_below(&self, parent: &FrameId) -> Vec<String> {
        let frames = self.frames();
        let below = frames.iter().filter(|frame| frame.parent_frame_id.as_ref() == Some(parent));
        let mut names: Vec<_> = below.map(|frame| frame.name.clone()).collect();
        names.sort();
        names
    }

    /// Waits until the active page's tree is without this frame.
    pub async fn without(&self, frame: &FrameId) {
        self.until(|snapshot| snapshot.frame_tree.children.iter().all(|it| it.frame_id != *frame)).await;
    }

    /// Waits until a condition holds in a frame's document.
    pub async fn comes_true(&self, frame: Option<&FrameId>, condition: &str) {
        let look = format!(
            "new Promise(done => {{ const look = () => {condition} ? done(1) : setTimeout(look, 5); look() }})"
        );
        self.value(frame, &look).await;
    }

    /// The same in the main frame of any page.
    pub async fn comes_true_on(&self, page: &TargetId, condition: &str) {
        let frame = self.main_frame(page).await;
        self.comes_true(Some(&frame), condition).await;
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

    /// Everything that happens until something wished for does, that included.
    pub async fn happened(
        &self,
        stream: &mut EventStream,
        mut wished: impl FnMut(&Event) -> bool,
    ) -> Vec<Event> {
        let mut seen = Vec::new();
        let read = async {
            while let Some(observed) = stream.recv().await {
                let Observed::Event(recorded) = observed else {
                    panic!("the test was too slow for its events")
                };
                seen.push(recorded.event.clone());
                if wished(&recorded.event) {
                    return;
                }
            }
            panic!("the task ended");
        };
        let in_time = tokio::time::timeout(patience(), read).await;
        assert!(in_time.is_ok(), "it did not happen; this did: {seen:#?}");
        seen
    }
}
