//! Short ways to say what tests with several pages say.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use supervisor::{CallResult, EvalOptions, Failure, FrameId, PageView, Place, StartOptions, TargetId};

use crate::raw_client::RawClient;
use crate::stage::Stage;

impl Stage {
    /// Opens a page in a tab of its own, which does not become the active one, and waits until it can be evaluated in.
    pub async fn add_page(&self, host: &str, path: &str) -> PageView {
        self.add_page_in(host, path, json!({})).await
    }

    /// The same with more parameters of `Target.createTarget`.
    pub async fn add_page_in(&self, host: &str, path: &str, more: Value) -> PageView {
        let url = self.pages.url(host, path);
        let mut params = json!({ "url": url });
        for (name, value) in more.as_object().unwrap() {
            params[name] = value.clone();
        }
        let created = self.call("Target.createTarget", params).await.unwrap_or_else(|it| panic!("{it:?}"));
        let created: Value = serde_json::from_str(created.result.get()).unwrap();
        let target = TargetId::from(created["targetId"].as_str().unwrap());
        self.until(|it| it.pages.iter().any(|page| page.target_id == target && page.url == url)).await;
        self.value_on(
            &target,
            "document.readyState === 'complete' || new Promise(done => onload = () => done(1))",
        )
        .await;
        self.page_of(&target).unwrap()
    }

    /// The main frame of any page.
    pub async fn main_frame(&self, target: &TargetId) -> FrameId {
        let known = |task: &supervisor::Task| task.frame_tree(Some(target)).ok().and_then(|tree| tree.top);
        self.until(|_| known(&self.task).is_some()).await;
        known(&self.task).unwrap().frame_id
    }

    /// Evaluates on any page, waiting for promises.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn eval_on(&self, target: &TargetId, expression: &str) -> Result<Value, Failure> {
        let options = EvalOptions { await_promise: true, timeout: None };
        let value = self.task.eval(Some(self.main_frame(target).await), expression, options).await?;
        Ok(serde_json::from_str(value.value.get()).unwrap())
    }

    /// The same where it must succeed.
    pub async fn value_on(&self, target: &TargetId, expression: &str) -> Value {
        let frame = self.main_frame(target).await;
        self.value(Some(&frame), expression).await
    }

    /// Sends a CDP command to any page.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn call_on(
        &self,
        target: &TargetId,
        method: &str,
        params: Value,
    ) -> Result<CallResult, Failure> {
        self.task.call(Place::Target(target.clone()), method, params.to_string(), None).await
    }

    /// Supervises with a task of its own instead, which comes when the browser is as it is now.
    pub async fn rejoin(&mut self, cdp_url: &str, options: impl Into<StartOptions>) {
        self.supervisor.stop(self.task.task_id().clone()).await;
        let started = self.supervisor.get_or_start("test", cdp_url, options).await;
        self.task = started.unwrap_or_else(|error| panic!("{error:?}"));
    }

    /// The pages that the task knows.
    #[must_use]
    pub fn known_pages(&self) -> BTreeSet<String> {
        self.task.snapshot().pages.iter().map(|page| page.target_id.to_string()).collect()
    }
}

impl RawClient {
    /// All targets of the browser, whether anybody is attached to them or not.
    pub async fn targets(&self) -> Vec<Value> {
        // Without a filter, tabs (which contain pages) and the browser itself are left out.
        let reply = self.send("Target.getTargets", json!({}), None).await;
        reply["result"]["targetInfos"].as_array().unwrap_or_else(|| panic!("{reply}")).clone()
    }

    /// The browser's tabs.
    pub async fn tabs(&self) -> BTreeSet<String> {
        let targets = self.targets().await;
        let pages = targets.iter().filter(|it| it["type"] == "page");
        pages.map(|it| it["targetId"].as_str().unwrap().to_owned()).collect()
    }
}
