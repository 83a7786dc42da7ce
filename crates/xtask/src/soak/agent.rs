//! The host of one supervised task: counts what happens, answers what it should, frees pages, and calls all the time.

use std::sync::Arc;
use std::time::Duration;

use supervisor::supervisor_core::snapshot::RemedyName;
use supervisor::{
    Action, DialogChoice, DialogType, DialogView, EvalOptions, Event, Failure, Observed, Place, Remedy,
    Snapshot, Task,
};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::counts::Counts;
use super::late::Late;
use super::names;

/// Between two calls of a task.
const CALL_PAUSE: Duration = Duration::from_millis(400);

/// For what must come sooner or later.
const PATIENCE: Duration = Duration::from_secs(20);

/// The work for one task. Dropping it ends it.
pub(super) struct Agent {
    pub(super) task: Task,
    pub(super) late: Late,
    /// Taken while a call is made.
    calling: Arc<Semaphore>,
    _loops: JoinSet<()>,
}

impl Agent {
    pub(super) fn new(task: Task, counts: &Counts, working: watch::Receiver<bool>) -> Self {
        let late = Late::new(task.clone(), counts.clone());
        let calling = Arc::new(Semaphore::new(1));
        let mut loops = JoinSet::new();
        loops.spawn(count(task.clone(), counts.clone()));
        loops.spawn(answer(task.clone(), counts.clone(), late.clone()));
        let caller = Caller {
            task: task.clone(),
            counts: counts.clone(),
            late: late.clone(),
            calling: Arc::clone(&calling),
        };
        loops.spawn(caller.run(working));
        Self { task, late, calling, _loops: loops }
    }

    /// Whether no call and no fetch is under way.
    pub(super) fn is_idle(&self) -> bool {
        self.late.is_idle() && self.calling.available_permits() == 1
    }
}

async fn count(task: Task, counts: Counts) {
    let mut events = task.events();
    let mut was_lost = false;
    while let Some(observed) = events.recv().await {
        let Observed::Event(recorded) = observed else {
            counts.add("lagged");
            continue;
        };
        match &recorded.event {
            Event::ConnectionLost { .. } => was_lost = true,
            Event::Connected { .. } if std::mem::take(&mut was_lost) => counts.add("reconnected"),
            _ => {}
        }
        names::of_event(&recorded.event, |name| counts.add(name));
    }
}

/// Answers what is the agent's to answer, and frees pages by the remedies that are named.
async fn answer(task: Task, counts: Counts, late: Late) {
    loop {
        let wanted = |snapshot: &Snapshot| {
            snapshot.pending_dialogs.iter().any(is_mine) || snapshot.pages.iter().any(can_be_freed)
        };
        let snapshot = match task.wait_for(wanted, PATIENCE).await {
            Ok(snapshot) => snapshot,
            Err(failure) if failure.code == supervisor::Code::Timeout => continue,
            Err(_) => return,
        };
        for dialog in snapshot.pending_dialogs.iter().filter(|dialog| is_mine(dialog)) {
            let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
            counts.add(format!("answer: {}", outcome(&task.respond(choice, action(dialog)).await)));
        }
        for page in snapshot.pages.iter().filter(|page| can_be_freed(page)) {
            let freed = task.recover(page.target_id.clone(), Remedy::Reload).await;
            counts.add(format!("recover: {}", outcome(&freed)));
            late.fetch_after(&freed).await;
        }
        sleep(Duration::from_millis(20)).await;
    }
}

fn is_mine(dialog: &DialogView) -> bool {
    dialog.answerable && (dialog.kind == DialogType::Beforeunload || dialog.message.starts_with("agent"))
}

fn can_be_freed(page: &supervisor::PageView) -> bool {
    let reloads = |blocked: &supervisor::supervisor_core::snapshot::BlockedView| {
        !blocked.suspected && blocked.remedies.contains(&RemedyName::Reload)
    };
    page.blocked.as_ref().is_some_and(reloads)
}

/// Each way to answer in turn. Most pages that ask may be left.
fn action(dialog: &DialogView) -> Action {
    match (dialog.id.0 % 4, dialog.kind) {
        (0, _) => Action::Dismiss,
        (1, DialogType::Prompt) => Action::Accept { prompt_text: Some("typed".to_owned()) },
        _ => Action::Accept { prompt_text: None },
    }
}

pub(super) fn outcome<T>(result: &Result<T, Failure>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(failure) => format!("{:?}", failure.code),
    }
}

/// Whoever calls.
#[derive(Clone)]
struct Caller {
    task: Task,
    counts: Counts,
    late: Late,
    calling: Arc<Semaphore>,
}

impl Caller {
    async fn run(self, mut working: watch::Receiver<bool>) {
        for turn in 0_u64.. {
            if working.wait_for(|working| *working).await.is_err() {
                return;
            }
            if let Ok(_permit) = self.calling.acquire().await {
                let called = self.call(turn).await;
                self.counts.add(format!("call: {}", outcome(&called)));
                self.late.fetch_after(&called).await;
            }
            sleep(CALL_PAUSE).await;
        }
    }

    /// Each kind of call in turn.
    async fn call(&self, turn: u64) -> Result<(), Failure> {
        match turn % 8 {
            0 => self.in_each_frame().await,
            1 => self.eval("confirm('agent: from a call')", PATIENCE).await,
            2 => self.eval("new Promise(() => {})", Duration::from_millis(300)).await,
            3 => self.raw("DOM.getDocument").await,
            4 => self.abandoned().await,
            5 => self.eval("'x'.repeat(300_000)", PATIENCE).await,
            6 => self.eval("setTimeout(() => { throw new Error('soak') }); missing()", PATIENCE).await,
            _ => self.raw("Page.getNavigationHistory").await,
        }
    }

    async fn eval(&self, expression: &str, limit: Duration) -> Result<(), Failure> {
        let options = EvalOptions { await_promise: true, timeout: Some(limit) };
        self.task.eval(None, expression, options).await.map(drop)
    }

    async fn raw(&self, method: &str) -> Result<(), Failure> {
        self.task.call(Place::Active, method, "{}", Some(PATIENCE)).await.map(drop)
    }

    async fn in_each_frame(&self) -> Result<(), Failure> {
        for frame in self.task.frames(None)? {
            let options = EvalOptions { await_promise: false, timeout: Some(PATIENCE) };
            self.task.eval(Some(frame.frame_id), "1 + 1", options).await?;
        }
        Ok(())
    }

    /// A caller that leaves before its answer comes. No dialog holds the call, or its result would be kept for long.
    async fn abandoned(&self) -> Result<(), Failure> {
        let call = self.raw("Page.getNavigationHistory");
        let _ = tokio::time::timeout(Duration::ZERO, call).await;
        Ok(())
    }
}
