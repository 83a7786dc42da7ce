//! Short ways to say what tests say often.

use serde_json::{Value, json};
use supervisor::{
    Action, Answered, CallId, CallResult, DialogChoice, DialogId, DialogView, EvalOptions, Failure, FrameId,
    FrameView, LateResult, Place, TargetId,
};

use crate::stage::{Stage, patience};

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

/// A call that a dialog holds.
#[derive(Debug, Clone)]
pub struct Held {
    /// The dialog.
    pub dialog: DialogView,
    /// The call.
    pub call: CallId,
}

impl Held {
    /// From the failure of a call that ran when a dialog opened.
    ///
    /// # Panics
    /// When it is another failure.
    #[must_use]
    pub fn from_failure(failure: &Failure) -> Self {
        assert_eq!(failure.code, supervisor::Code::DialogOpened, "{failure:?}");
        Self { dialog: failure.detail.dialog.clone().unwrap(), call: failure.detail.call_id.unwrap() }
    }
}

/// Between two tries of what fails for a moment only.
const TRY_AGAIN: std::time::Duration = std::time::Duration::from_millis(20);

impl Stage {
    /// Evaluates what opens a dialog.
    pub async fn ask(&self, frame: Option<&FrameId>, expression: &str) -> Held {
        Held::from_failure(&self.eval(frame, expression).await.unwrap_err())
    }

    /// What a call gave in the end that a dialog had held. The dialog must have been answered.
    pub async fn late(&self, call: CallId) -> Value {
        match self.task.result(call, None).await.unwrap_or_else(|failure| panic!("{failure:?}")) {
            LateResult::Call(call) => serde_json::from_str(call.result.get()).unwrap(),
            LateResult::Eval(value) => serde_json::from_str(value.value.get()).unwrap(),
        }
    }

    /// Answers the dialog that is open on this page.
    ///
    /// # Errors
    /// As the task gives them.
    pub async fn answer_on(&self, page: &TargetId, action: Action) -> Result<Answered, Failure> {
        self.task.respond(DialogChoice { dialog_id: None, target_id: Some(page.clone()) }, action).await
    }

    /// Whether the dialog is that frame's: older browsers do not name it.
    #[must_use]
    pub fn is_of_frame(&self, dialog: &DialogView, frame: &FrameId) -> bool {
        match &dialog.frame_id {
            Some(named) => named == frame,
            None => self.major_version() < 150,
        }
    }

    /// Clicks into the active page, once it has been painted: before that a browser lets no input through.
    ///
    /// # Errors
    /// As the task gives them for the release of the button.
    pub async fn click(&self, x: u32, y: u32) -> Result<CallResult, Failure> {
        let painted =
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))";
        self.value(None, painted).await;
        let event = |kind| json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
        self.call("Input.dispatchMouseEvent", event("mousePressed")).await?;
        self.call("Input.dispatchMouseEvent", event("mouseReleased")).await
    }

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

    /// The same where it must succeed. A frame between two documents is tried again, and a renderer that a busy machine has
    /// not let answer yet.
    pub async fn value(&self, frame: Option<&FrameId>, expression: &str) -> Value {
        let since = std::time::Instant::now();
        let passes = [supervisor::Code::Navigated, supervisor::Code::TargetUnresponsive];
        loop {
            match self.eval(frame, expression).await {
                Ok(value) => return value,
                Err(failure) if passes.contains(&failure.code) && since.elapsed() < patience() => {
                    tokio::time::sleep(TRY_AGAIN).await;
                }
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
