//! What scenarios do, in the words of a host.

use anyhow::{Context, Result};
use page_server::PageServer;
use serde_json::{Value, json};
use supervisor::{Action, DialogChoice, EvalOptions, FrameId, FrameView, Place, Snapshot, Task};

use super::PATIENCE;

/// Resolves when the document and what it loads are there.
const LOADED: &str = "new Promise(done => document.readyState === 'complete' ? done() : addEventListener('load', () => done()))";

/// A task on a browser, and a server with pages for it.
pub(super) struct Stage<'a> {
    task: Task,
    server: &'a PageServer,
}

impl<'a> Stage<'a> {
    pub(super) fn new(task: Task, server: &'a PageServer) -> Self {
        Self { task, server }
    }

    pub(super) fn url(&self, host: &str, path: &str) -> String {
        self.server.url(host, path)
    }

    /// Shows a page in the active tab, and waits until it is loaded. The browser answers before the new document is there.
    pub(super) async fn open(&self, host: &str, path: &str) -> Result<()> {
        let url = self.url(host, path);
        self.call("Page.navigate", &json!({ "url": url })).await?;
        let there = |snapshot: &Snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == url);
        self.wait_for(&url, there).await?;
        self.loaded(None).await
    }

    /// Waits until a frame's document is loaded; the top frame's unless named.
    pub(super) async fn loaded(&self, frame: Option<&FrameId>) -> Result<()> {
        let options = EvalOptions { await_promise: true, timeout: Some(PATIENCE) };
        self.task.eval(frame.cloned(), LOADED, options).await.context("waiting for a document")?;
        Ok(())
    }

    /// The value of an expression in a frame's document; the top frame's unless named.
    pub(super) async fn eval(&self, frame: Option<&FrameId>, expression: &str) -> Result<Value> {
        let value = self.task.eval(frame.cloned(), expression, EvalOptions::default()).await;
        let value = value.with_context(|| format!("evaluating {expression}"))?.value;
        Ok(value.parse()?)
    }

    /// Evaluates as if the user had clicked: pages may open windows and ask before they are left.
    pub(super) async fn eval_as_user(&self, expression: &str) -> Result<()> {
        self.call("Runtime.evaluate", &json!({ "expression": expression, "userGesture": true })).await
    }

    async fn call(&self, method: &str, params: &Value) -> Result<()> {
        let called = self.task.call(Place::Active, method, params.to_string(), Some(PATIENCE)).await;
        called.map(drop).with_context(|| method.to_owned())
    }

    pub(super) async fn wait_for(&self, what: &str, wished: impl FnMut(&Snapshot) -> bool) -> Result<()> {
        let waited = self.task.wait_for(wished, PATIENCE).await;
        waited.map(drop).with_context(|| format!("waiting for {what}; there is {:#?}", self.task.snapshot()))
    }

    pub(super) async fn dialog(&self) -> Result<()> {
        self.wait_for("a dialog", |snapshot| !snapshot.pending_dialogs.is_empty()).await
    }

    /// Waits until so many dialogs have ended.
    pub(super) async fn ended(&self, count: usize) -> Result<()> {
        self.wait_for("the end of a dialog", |snapshot| snapshot.recent_dialogs.len() == count).await
    }

    /// Waits until the active page has this title: the pages tell by it what became of their dialog. The page is asked,
    /// because a browser does not tell of each change.
    pub(super) async fn title(&self, title: &str) -> Result<()> {
        let look = format!("document.title === {} ? done() : setTimeout(look, 10)", json!(title));
        let wait = format!("new Promise(done => {{ const look = () => {look}; look(); }})");
        let options = EvalOptions { await_promise: true, timeout: Some(PATIENCE) };
        self.task
            .eval(None, wait, options)
            .await
            .map(drop)
            .with_context(|| format!("waiting for the title {title}"))
    }

    pub(super) async fn accept(&self, prompt_text: Option<&str>) -> Result<()> {
        self.respond(Action::Accept { prompt_text: prompt_text.map(str::to_owned) }).await
    }

    pub(super) async fn dismiss(&self) -> Result<()> {
        self.respond(Action::Dismiss).await
    }

    async fn respond(&self, action: Action) -> Result<()> {
        self.task.respond(DialogChoice::default(), action).await.map(drop).context("answering")
    }

    /// Waits until there is such a frame below the top one.
    pub(super) async fn frame(&self, what: &str, wished: impl Fn(&FrameView) -> bool) -> Result<FrameId> {
        self.wait_for(what, |snapshot| snapshot.frame_tree.children.iter().any(&wished)).await?;
        let snapshot = self.task.snapshot();
        let found = snapshot.frame_tree.children.iter().find(|frame| wished(frame));
        Ok(found.with_context(|| format!("{what} came and went"))?.frame_id.clone())
    }
}
