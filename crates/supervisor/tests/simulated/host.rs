//! A host that asks for everything, and that every answer comes in time.

use std::future::Future;
use std::time::Duration;

use simulator::Draw;
use supervisor::{
    Action, CallId, DialogChoice, DialogPolicy, EvalOptions, Failure, Options, Place, Remedy, Task,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// What the actors may take on top of what the core allows itself.
const GRACE: Duration = Duration::from_millis(100);

/// What was asked, and what is still to be answered.
pub(crate) struct Host {
    task: Task,
    options: Options,
    asked: JoinSet<Result<(), String>>,
    pub(crate) answered: u64,
}

impl Host {
    pub(crate) fn new(task: Task, options: Options) -> Self {
        Self { task, options, asked: JoinSet::new(), answered: 0 }
    }

    pub(crate) fn ask(&mut self, draw: &mut Draw) {
        let (task, call) = (self.task.clone(), self.options.call_timeout);
        match draw.below(12) {
            0..=3 => {
                let (frame, expression) = (self.frame(draw), expression(draw));
                let asked = async move { task.eval(frame, expression, EvalOptions::default()).await };
                self.bounded("eval", call, asked);
            }
            4 | 5 => {
                let place = self.frame(draw).map_or(Place::Active, Place::Frame);
                let method = ["Page.getLayoutMetrics", "Page.reload", "Nonsense.method"][draw.below(3)];
                self.bounded("call", call, async move { task.call(place, method, "{}", None).await });
            }
            6..=8 => {
                let answer = [Action::Dismiss, Action::Accept { prompt_text: None }][draw.below(2)].clone();
                let choice = self.choice(draw);
                self.bounded("respond", call, async move { task.respond(choice, answer).await });
            }
            9 => {
                let call_id = CallId(1 + draw.below(40) as u64);
                self.bounded("result", call, async move { task.result(call_id, None).await });
            }
            10 => {
                let pages = self.task.snapshot().pages.clone();
                let Some(page) = pages.get(draw.below(pages.len())) else { return };
                let remedy = [Remedy::Reload, Remedy::Close][draw.below(2)].clone();
                let target = page.target_id.clone();
                self.bounded("recover", call, async move { task.recover(target, remedy).await });
            }
            _ => self.configure(draw),
        }
    }

    fn configure(&mut self, draw: &mut Draw) {
        let policies = [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
        self.options.dialog_policy = policies[draw.below(3)];
        let (task, options) = (self.task.clone(), self.options.clone());
        self.bounded("configure", Duration::ZERO, async move { task.configure(options).await });
    }

    /// A caller leaves.
    pub(crate) fn leave_one(&mut self) {
        let task = self.task.clone();
        let asked = tokio::spawn(async move { task.eval(None, "1", EvalOptions::default()).await.map(drop) });
        asked.abort();
    }

    fn frame(&self, draw: &mut Draw) -> Option<supervisor::FrameId> {
        let tree = self.task.snapshot().frame_tree.clone();
        let all: Vec<_> = tree.top.iter().chain(&tree.children).collect();
        all.get(draw.below(all.len())).map(|frame| frame.frame_id.clone())
    }

    fn choice(&self, draw: &mut Draw) -> DialogChoice {
        let pending = self.task.snapshot().pending_dialogs.clone();
        let dialog_id = pending.get(draw.below(pending.len())).map(|dialog| dialog.id);
        DialogChoice { dialog_id, target_id: None }
    }

    fn bounded<T: Send + 'static>(
        &mut self,
        what: &'static str,
        bound: Duration,
        asked: impl Future<Output = Result<T, Failure>> + Send + 'static,
    ) {
        self.asked.spawn(async move {
            // Whether it is done or refused: it is answered.
            match timeout(bound + GRACE, asked).await {
                Ok(_) => Ok(()),
                Err(_) => Err(format!("a request ends at its deadline at the latest: {what} has not")),
            }
        });
    }

    /// Waits for every answer.
    pub(crate) async fn all_answered(&mut self) -> Result<(), String> {
        while let Some(ended) = self.asked.join_next().await {
            self.answered += 1;
            ended.map_err(|error| format!("a request ends: {error}"))??;
        }
        Ok(())
    }
}

fn expression(draw: &mut Draw) -> &'static str {
    ["1", "1", "alert('x')", "prompt('x')", browser_model::NEVER][draw.below(5)]
}
