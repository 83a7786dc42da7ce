//! Short ways to say what tests say often.

use serde_json::{Value, json};
use supervisor::{
    Action, Answered, CallResult, DialogChoice, DialogId, DialogView, EvalOptions, Failure, FrameId,
    FrameView, Place,
};

use crate::stage::Stage;

/// OK, with the page's default text for a prompt.
#[must_use]
pub fn accept() -> Action {
    Action::Accept { prompt_text: None }
}

/// OK, with this text for a prompt.
#[must_use]
pub fn accept_with(text: &str) -> Action {
    Action::Accept { prompt_text: Some(text.to_owned()) }
}

/// Cancel.
#[must_use]
pub fn dismiss() -> Action {
    Action::Dismiss
}

impl Stage {
    /// Navigates the active page and waits until its document is there, with its execution context.
    pub async fn open(&self, host: &str, path: &str) {
        let url = self.pages.url(host, path);
        self.call("Page.navigate", json!({ "url": url })).await.unwrap_or_else(|error| panic!("{error:?}"));
        self.until(|snapshot| snapshot.frame_tree.top.as_ref().is_some_and(|top| top.url == url)).await;
        self.value(None, "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))")
            .await;
    }

    /// Sends a CDP command to the active page.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn call(&self, method: &str, params: Value) -> Result<CallResult, Failure> {
        self.task.call(Place::Active, method, params.to_string(), None).await
    }

    /// Evaluates in a frame (the active page's top frame unless named), waiting for promises.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn eval(&self, frame: Option<&FrameId>, expression: &str) -> Result<Value, Failure> {
        let options = EvalOptions { await_promise: true, timeout: None };
        let value = self.task.eval(frame.cloned(), expression, options).await?;
        Ok(serde_json::from_str(value.value.get()).unwrap())
    }

    /// The same where it must succeed. A frame between two documents is tried again.
    pub async fn value(&self, frame: Option<&FrameId>, expression: &str) -> Value {
        loop {
            match self.eval(frame, expression).await {
                Ok(value) => return value,
                Err(failure) if failure.code == supervisor::Code::Navigated => tokio::task::yield_now().await,
                Err(failure) => panic!("{expression}: {failure:?}"),
            }
        }
    }

    /// Waits for a pending dialog that is as wished.
    pub async fn dialog_where(&self, wished: impl Fn(&DialogView) -> bool) -> DialogView {
        let snapshot = self.until(|snapshot| snapshot.pending_dialogs.iter().any(&wished)).await;
        snapshot.pending_dialogs.iter().find(|dialog| wished(dialog)).cloned().unwrap()
    }

    /// Waits for any pending dialog.
    pub async fn dialog(&self) -> DialogView {
        self.dialog_where(|_| true).await
    }

    /// Answers the only pending dialog.
    pub async fn answer(&self, action: Action) -> Answered {
        let answered = self.task.respond(DialogChoice::default(), action).await;
        answered.unwrap_or_else(|failure| panic!("{failure:?}"))
    }

    /// Answers this dialog.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn answer_to(&self, dialog: DialogId, action: Action) -> Result<Answered, Failure> {
        self.task.respond(DialogChoice { dialog_id: Some(dialog), target_id: None }, action).await
    }

    /// Waits until this dialog is among the recent ones.
    pub async fn ended(&self, dialog: DialogId) -> DialogView {
        let snapshot = self.until(|snapshot| snapshot.recent_dialogs.iter().any(|it| it.id == dialog)).await;
        snapshot.recent_dialogs.iter().find(|it| it.id == dialog).cloned().unwrap()
    }

    /// Waits for a frame of the active page that is as wished.
    pub async fn frame_where(&self, wished: impl Fn(&FrameView) -> bool) -> FrameView {
        let snapshot = self.until(|snapshot| snapshot.frame_tree.children.iter().any(&wished)).await;
        snapshot.frame_tree.children.iter().find(|frame| wished(frame)).cloned().unwrap()
    }

    /// Waits for a frame whose URL contains this.
    pub async fn frame(&self, url_part: &str) -> FrameView {
        self.frame_where(|frame| frame.url.contains(url_part)).await
    }
}
