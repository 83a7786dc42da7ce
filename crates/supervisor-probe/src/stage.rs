//! What checks stand on: a task that supervises the probe's pages as a host's task would, and the hand that opens them.

use std::time::Duration;

use cdp_wire::BrowserContextId;
use serde_json::{Value, json};
use supervisor::{
    Bridge, Code, DialogId, DialogPolicy, DialogView, EvalOptions, Failure, FrameId, FrameView, Network,
    Options, PageView, Place, Reconnect, Scope, Snapshot, Supervisor, TargetId, Task,
};
use tokio::time::timeout;

use crate::close;
use crate::error::{ProbeError, Trouble};
use crate::guest::{self, Door};
use crate::hand::{Hand, Opened};
use crate::limits::SHARE;
use crate::pages;
use crate::run::Request;

/// The only task.
pub(crate) const TASK: &str = "probe";

/// Looks again and again until the script has its answer.
const ANSWER: &str = "new Promise(done => { const look = () => window.answer ? done(answer[0]) : setTimeout(look, 5); look() })";

/// Waits until the document is there.
const LOADED: &str =
    "document.readyState === 'complete' || new Promise(done => addEventListener('load', () => done(1)))";

/// See the module.
pub(crate) struct Stage<'p> {
    pub(crate) hand: &'p Hand,
    pub(crate) request: &'p Request,
    pub(crate) task: Task,
    options: Options,
    context: Option<BrowserContextId>,
    /// The one page of all checks, where there is no context of its own.
    only: Option<Opened>,
}

impl<'p> Stage<'p> {
    /// Makes room for the pages, and starts the task.
    pub(crate) async fn set(
        hand: &'p Hand,
        supervisor: &Supervisor,
        request: &'p Request,
    ) -> Result<Self, ProbeError> {
        let context = hand.context().await?;
        let only = if context.is_some() { None } else { Some(hand.open(None).await?) };
        let mut options = request.start.options.clone();
        options.dialog_policy = DialogPolicy::MustRespond;
        options.dialog_timeout = Options::default().dialog_timeout;
        (options.bridge, options.guard) = (Bridge::Off, false);
        options.reconnect = Reconnect { tries: 0, within: Duration::ZERO };
        options.scope = match (&context, &only) {
            (Some(context), _) => Scope::BrowserContextId(context.clone()),
            (None, Some(page)) => Scope::TargetId(page.target.clone()),
            (None, None) => Scope::Browser,
        };
        let task = start(hand, supervisor, request, &options).await?;
        Ok(Self { hand, request, task, options, context, only })
    }

    /// Whether the pages are in a browser context of their own.
    pub(crate) fn has_its_own_context(&self) -> bool {
        self.context.is_some()
    }

    /// Turns the bridge on for documents that are loaded from now on.
    pub(crate) async fn bridge(&self) -> Result<(), Trouble> {
        let mut options = self.options.clone();
        options.bridge = Bridge::On;
        Ok(self.task.configure(options).await?)
    }

    /// How long something is waited for that may never come.
    pub(crate) fn patience(&self) -> Duration {
        self.request.check_timeout / SHARE
    }

    /// A page of the probe, at one of its documents.
    pub(crate) async fn open(&self, path: &str) -> Result<Opened, Trouble> {
        let page = self.blank().await?;
        self.set_off(&page, path).await?;
        self.is_at(&page, path).await?;
        Ok(page)
    }

    /// A page of the probe without a document.
    pub(crate) async fn blank(&self) -> Result<Opened, Trouble> {
        let page = match &self.only {
            Some(page) => page.clone(),
            None => self.hand.open(self.context.as_ref()).await?,
        };
        self.main_frame(&page.target).await?;
        Ok(page)
    }

    /// A page that the task does not supervise, for nobody listens there.
    pub(crate) async fn aside(&self) -> Result<Opened, Trouble> {
        let context = if self.has_its_own_context() { self.hand.context().await? } else { None };
        self.hand.open(context.as_ref()).await
    }

    /// Begins to navigate. A first script that asks may hold the reply.
    pub(crate) async fn set_off(&self, page: &Opened, path: &str) -> Result<(), Trouble> {
        let params = json!({ "url": pages::url(pages::HOST, path) }).to_string();
        held_is_fine(self.task.call(Place::Target(page.target.clone()), "Page.navigate", params, None).await)
    }

    /// Waits until a document is there, whole.
    pub(crate) async fn is_at(&self, page: &Opened, path: &str) -> Result<FrameId, Trouble> {
        let url = pages::url(pages::HOST, path);
        let frame = self.frame(page, |frame| frame.parent_frame_id.is_none() && frame.url == url).await?;
        let frame = frame.ok_or_else(|| Trouble::odd("the page to be at its document", path))?;
        self.eval(&frame.frame_id, LOADED).await?;
        Ok(frame.frame_id)
    }

    /// A page's main frame, once the task knows it.
    pub(crate) async fn main_frame(&self, target: &TargetId) -> Result<FrameId, Trouble> {
        let top = || self.task.frame_tree(Some(target)).ok().and_then(|tree| tree.top);
        self.task.wait_for(|_| top().is_some(), self.patience()).await?;
        let top = top().ok_or_else(|| Trouble::odd("a main frame", "none"))?;
        Ok(top.frame_id)
    }

    /// Waits for a frame of a page that is as wished; `None` when none comes.
    pub(crate) async fn frame(
        &self,
        page: &Opened,
        wished: impl Fn(&FrameView) -> bool,
    ) -> Result<Option<FrameView>, Trouble> {
        let find = || {
            let frames = self.task.frames(Some(&page.target)).unwrap_or_default();
            frames.into_iter().find(|frame| wished(frame))
        };
        or_none(self.task.wait_for(|_| find().is_some(), self.patience()).await).map(|_| find())
    }

    /// What an expression gives in a frame. A frame between two documents is tried again.
    pub(crate) async fn eval(&self, frame: &FrameId, expression: &str) -> Result<Value, Trouble> {
        let options = EvalOptions { await_promise: true, timeout: Some(self.patience()) };
        let last = || async { self.task.eval(Some(frame.clone()), expression, options).await };
        let again = async {
            loop {
                match last().await {
                    Err(failure) if failure.code == Code::Navigated => tokio::task::yield_now().await,
                    other => return other,
                }
            }
        };
        let value = match timeout(self.patience(), again).await {
            Ok(value) => value?,
            Err(_) => last().await?,
        };
        Ok(value.value.parse()?)
    }

    /// Has a frame do something in a moment, unless it is hushed before. What it opens may be told before the reply.
    pub(crate) async fn start(&self, frame: &FrameId, what: &str) -> Result<(), Trouble> {
        let script = format!("void setTimeout(() => {{ if (window.asks !== false) {{ {what} }} }})");
        let options = EvalOptions { await_promise: false, timeout: Some(self.patience()) };
        held_is_fine(self.task.eval(Some(frame.clone()), script, options).await)
    }

    /// What the script that asked has got.
    pub(crate) async fn answer(&self, frame: &FrameId) -> Result<Value, Trouble> {
        self.eval(frame, ANSWER).await
    }

    /// The last dialog so far: what is asked from now on has a higher number.
    pub(crate) fn last_dialog(&self) -> DialogId {
        let snapshot = self.task.snapshot();
        let all = snapshot.pending_dialogs.iter().chain(snapshot.recent_dialogs.iter());
        all.map(|dialog| dialog.id).max().unwrap_or(DialogId(0))
    }

    /// Waits for a dialog of a page that says this, open or ended; `None` when none comes.
    pub(crate) async fn dialog(
        &self,
        page: &Opened,
        after: DialogId,
        message: &str,
    ) -> Result<Option<DialogView>, Trouble> {
        let is_it = |dialog: &&DialogView| {
            dialog.id > after && dialog.target_id == page.target && dialog.message == message
        };
        let find = |snapshot: &Snapshot| {
            let mut all = snapshot.pending_dialogs.iter().chain(snapshot.recent_dialogs.iter());
            all.rfind(is_it).cloned()
        };
        let seen = or_none(self.task.wait_for(|it| find(it).is_some(), self.patience()).await)?;
        Ok(seen.and_then(|snapshot| find(&snapshot)))
    }

    /// Whether a dialog is still open after this time.
    pub(crate) async fn stays_open(&self, id: DialogId, hold: Duration) -> Result<bool, Trouble> {
        let is_over = |it: &Snapshot| it.pending_dialogs.iter().all(|dialog| dialog.id != id);
        or_none(self.task.wait_for(is_over, hold).await).map(|over| over.is_none())
    }

    /// Waits until a page's view is as wished; `None` when it does not become so.
    pub(crate) async fn page(
        &self,
        page: &Opened,
        wished: impl Fn(&PageView) -> bool,
    ) -> Result<Option<PageView>, Trouble> {
        let find = |it: &Snapshot| {
            it.pages.iter().find(|view| view.target_id == page.target && wished(view)).cloned()
        };
        let found = or_none(self.task.wait_for(|it| find(it).is_some(), self.patience()).await)?;
        Ok(found.and_then(|snapshot| find(&snapshot)))
    }

    /// Closes what a check opened, and first what it left open there.
    pub(crate) async fn clear(&self) {
        let kept = self.only.as_ref().map(|page| &page.target);
        for page in self.hand.pages() {
            close::leave(self.hand, &self.task, &page, kept == Some(&page.target)).await;
        }
    }
}

async fn start(
    hand: &Hand,
    supervisor: &Supervisor,
    request: &Request,
    options: &Options,
) -> Result<Task, ProbeError> {
    let mut start = request.start.clone();
    start.options = options.clone();
    if !hand.shares_its_line() {
        let endpoint = request.endpoint.clone();
        return supervisor.get_or_start_at(TASK, endpoint, start).await.map_err(ProbeError::Start);
    }
    let (door, way) = Door::open();
    (start.connect, start.network) = (Some(way), Network::default());
    let carried = async {
        if let Some(guest) = door.guest().await {
            let _ = hand.line().carry(guest).await;
        }
        std::future::pending().await
    };
    tokio::select! {
        started = supervisor.get_or_start(TASK, guest::URL, start) => started.map_err(ProbeError::Start),
        () = carried => std::future::pending().await,
    }
}

/// A call that a dialog holds has done what was wanted.
fn held_is_fine<T>(called: Result<T, Failure>) -> Result<(), Trouble> {
    match called {
        Err(failure) if failure.code != Code::DialogOpened => Err(failure.into()),
        _ => Ok(()),
    }
}

/// What did not come in time is no failure.
fn or_none<T>(waited: Result<T, Failure>) -> Result<Option<T>, Trouble> {
    match waited {
        Ok(found) => Ok(Some(found)),
        Err(failure) if failure.code == Code::Timeout => Ok(None),
        Err(failure) => Err(failure.into()),
    }
}
