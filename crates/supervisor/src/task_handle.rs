//! The handle of one task.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use ractor::concurrency;
use supervisor_core::{
    Action, CallId, Code, Command, ConsoleView, DialogChoice, Failure, FrameId, FrameTree, FrameView,
    Options, Place, Remedy, Req, Snapshot, Status, TargetId,
};
use tokio::sync::OwnedSemaphorePermit;
use tokio::time::timeout;

use crate::answer::{Answer, Answered, CallResult, EvalValue, LateResult, Port, unexpected};
use crate::endpoint::Endpoint;
use crate::events::EventStream;
use crate::handle::Keeper;
use crate::holdings::Holdings;
use crate::ids::TaskId;
use crate::json::Json;
use crate::recorder::RecordingProgress;
use crate::slot::Slot;
use crate::task::{HostCommand, TaskMessage};

/// One binding of a task: its snapshot, and the way to its browser. Cloning it costs nothing.
///
/// After `stop` or a rebind it still shows the last state, and every request gives `not_connected`.
#[derive(Clone)]
pub struct Task {
    slot: Arc<Slot>,
    /// Keeps the supervisor alive.
    _keeper: Option<Arc<Keeper>>,
}

/// How an expression is evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvalOptions {
    /// Whether to wait for a promise and give its value.
    pub await_promise: bool,
    /// The deadline; none takes the task's default.
    pub timeout: Option<Duration>,
}

impl Task {
    pub(crate) fn new(slot: Arc<Slot>, keeper: Option<Arc<Keeper>>) -> Self {
        Self { slot, _keeper: keeper }
    }

    /// The task's name.
    #[must_use]
    pub fn task_id(&self) -> &TaskId {
        &self.slot.task_id
    }

    /// Where its browser is, as the host gave it.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.slot.given
    }

    /// Whether both are the same binding, and so the same connection.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.slot, &other.slot)
    }

    /// What is known now. Never waits, takes no lock.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.slot.published.snapshot.load_full()
    }

    /// How far the task's recording is, if there is one. Never waits.
    #[must_use]
    pub fn recording(&self) -> Option<RecordingProgress> {
        self.slot.recording.as_ref().map(|shared| shared.progress())
    }

    /// The task's events from now on.
    #[must_use]
    pub fn events(&self) -> EventStream {
        let published = &self.slot.published;
        EventStream { events: published.subscribe(), ended: published.ended.subscribe() }
    }

    /// Waits until the snapshot is as wished, and gives it; looks at each one that is published while it waits.
    ///
    /// # Errors
    /// `timeout`, or `not_connected` once the task has ended otherwise.
    pub async fn wait_for(
        &self,
        mut wished: impl FnMut(&Snapshot) -> bool,
        limit: Duration,
    ) -> Result<Arc<Snapshot>, Failure> {
        let mut changes = self.slot.published.changes.subscribe();
        let wait = async {
            loop {
                let snapshot = self.snapshot();
                if wished(&snapshot) {
                    return Ok(snapshot);
                }
                if matches!(snapshot.status.status, Status::Failed | Status::Stopped)
                    || changes.changed().await.is_err()
                {
                    return Err(self.over());
                }
            }
        };
        timeout(limit, wait).await.unwrap_or_else(|_| Err(waited_in_vain(limit)))
    }

    /// Waits until the task has ended: stopped, started elsewhere, or failed for good.
    pub async fn wait_for_end(&self) {
        self.slot.published.wait_for_end().await;
    }

    /// Answers a dialog. Which one may be left open while only one is pending.
    ///
    /// # Errors
    /// `no_dialog`, `ambiguous_dialog`, `unknown_dialog`, `already_closed`, `unanswerable`; `not_connected`,
    /// `disconnected`.
    pub async fn respond(&self, choice: DialogChoice, action: Action) -> Result<Answered, Failure> {
        match self.request(Command::Respond { choice, action }, Abandoned::GoesOn).await? {
            Answer::Dialog(answered) => Ok(*answered),
            other => Err(unexpected(&other)),
        }
    }

    /// Sends a CDP command. `params` is the JSON text of an object. Dropping the future gives the call up.
    ///
    /// # Errors
    /// As the specification of calls has them: among others `blocked_by_dialog` at once, and `dialog_opened` with the
    /// `call_id` for [`Task::result`]; `cdp_error` with the browser's own words; `timeout`.
    pub async fn call(
        &self,
        place: Place,
        method: impl Into<String>,
        params: impl Into<String>,
        timeout: Option<Duration>,
    ) -> Result<CallResult, Failure> {
        let (method, params) = (method.into(), params.into());
        let command = Command::Call { place, method, params, timeout_ms: millis(timeout) };
        match self.request(command, Abandoned::IsCancelled).await? {
            Answer::Call(call) => Ok(call),
            other => Err(unexpected(&other)),
        }
    }

    /// Evaluates an expression in the document of one frame (the active page's top frame unless named), and nowhere else.
    /// Dropping the future gives the call up.
    ///
    /// # Errors
    /// As [`Task::call`]; `js_exception` when the script throws, `navigated` when its document goes.
    pub async fn eval(
        &self,
        frame_id: Option<FrameId>,
        expression: impl Into<String>,
        options: EvalOptions,
    ) -> Result<EvalValue, Failure> {
        let EvalOptions { await_promise, timeout } = options;
        let expression = expression.into();
        let command = Command::Eval { frame_id, expression, await_promise, timeout_ms: millis(timeout) };
        match self.request(command, Abandoned::IsCancelled).await? {
            Answer::Eval(value) => Ok(value),
            other => Err(unexpected(&other)),
        }
    }

    /// The late result of a call that ended with `dialog_opened`. It is handed out once.
    ///
    /// # Errors
    /// `unknown_call`; `dialog_opened` again while a dialog still holds the call; what the call itself failed with.
    pub async fn result(&self, call_id: CallId, timeout: Option<Duration>) -> Result<LateResult, Failure> {
        let command = Command::Result { call_id, timeout_ms: millis(timeout) };
        match self.request(command, Abandoned::IsCancelled).await? {
            Answer::Call(call) => Ok(LateResult::Call(call)),
            Answer::Eval(value) => Ok(LateResult::Eval(value)),
            other => Err(unexpected(&other)),
        }
    }

    /// Frees a page that is blocked by a dialog nobody can answer.
    ///
    /// # Errors
    /// `refused` for a remedy that would end the browser; `page_gone`; `not_connected`, `disconnected`.
    pub async fn recover(&self, target_id: TargetId, remedy: Remedy) -> Result<(), Failure> {
        self.request(Command::Recover { target_id, remedy }, Abandoned::GoesOn).await.map(drop)
    }

    /// Changes the options of the running task.
    ///
    /// # Errors
    /// `not_connected` when the task has ended; `invalid_argument` for another scope, which needs another binding.
    pub async fn configure(&self, options: Options) -> Result<(), Failure> {
        self.request(Command::Configure { options: Box::new(options) }, Abandoned::GoesOn).await.map(drop)
    }

    /// The whole frame tree of a page (the active one unless named), parents first. Waits for nobody but the task's own
    /// work of this moment.
    ///
    /// # Errors
    /// `page_gone` when there is no such page.
    pub fn frames(&self, page: Option<&TargetId>) -> Result<Vec<FrameView>, Failure> {
        self.slot.shell().machine.frames(page)
    }

    /// One page's part of the snapshot's tree, within the snapshot's limits.
    ///
    /// # Errors
    /// `page_gone` when there is no such page.
    pub fn frame_tree(&self, page: Option<&TargetId>) -> Result<FrameTree, Failure> {
        self.slot.shell().machine.frame_tree(page)
    }

    /// The console's errors and warnings, of one frame or of all.
    #[must_use]
    pub fn console(&self, frame: Option<&FrameId>) -> ConsoleView {
        self.slot.shell().machine.console(frame)
    }

    /// How many records the task holds now, and how many callers and session actors.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        self.slot.shell().holdings()
    }

    #[cfg(test)]
    pub(crate) fn slot(&self) -> Arc<Slot> {
        Arc::clone(&self.slot)
    }

    /// For requests that come as messages: the registry does not wait for room in the mailbox, nor for an answer.
    pub(crate) fn ask_later(self, command: Command, reply: Port) {
        let Ok(permit) = Arc::clone(&self.slot.commands).try_acquire_owned() else {
            let message = "Too many requests of this task wait to be handled; wait for an answer first.";
            return crate::session::send(reply, Err(Failure::new(Code::Refused, message)));
        };
        tokio::spawn(async move {
            let answer = self.exchange(permit, command, Abandoned::GoesOn).await;
            crate::session::send(reply, answer);
        });
    }

    async fn request(&self, command: Command, abandoned: Abandoned) -> Result<Answer, Failure> {
        let permit = Arc::clone(&self.slot.commands).acquire_owned().await.map_err(|_| self.over())?;
        self.exchange(permit, command, abandoned).await
    }

    async fn exchange(
        &self,
        permit: OwnedSemaphorePermit,
        command: Command,
        abandoned: Abandoned,
    ) -> Result<Answer, Failure> {
        if *self.slot.published.ended.borrow() {
            return Err(self.over());
        }
        self.check_scope(&command)?;
        let req = self.slot.next_req();
        let (port, answer) = concurrency::oneshot();
        let host = HostCommand { req, command, port: Some(port.into()), permit: Some(permit) };
        self.slot.tell(TaskMessage::Host(Box::new(host)));
        let mut caller = Caller { slot: &self.slot, req, cancels: abandoned == Abandoned::IsCancelled };
        let answer = answer.await;
        caller.cancels = false;
        answer.unwrap_or_else(|_| Err(self.unanswered())).map(|answer| answer.map_json(Json::repaired))
    }

    /// A task that runs keeps its scope.
    fn check_scope(&self, command: &Command) -> Result<(), Failure> {
        match command {
            Command::Configure { options } if options.scope != self.slot.scope() => {
                let message = "Another scope needs another binding: give it to get_or_start, which rebinds.";
                Err(Failure::new(Code::InvalidArgument, message))
            }
            _ => Ok(()),
        }
    }

    /// The port was dropped: with the task's end, or with an input that was lost inside.
    fn unanswered(&self) -> Failure {
        if *self.slot.published.ended.borrow() {
            return self.over();
        }
        Failure::new(
            Code::Disconnected,
            "The request was lost to a fault inside; look at the snapshot, then try again.",
        )
    }

    fn over(&self) -> Failure {
        let status = &self.snapshot().status;
        let why = status.reason.as_deref().unwrap_or("it was stopped");
        Failure::new(Code::NotConnected, format!("The task has ended ({why}); start it again."))
    }
}

impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.snapshot().status.status;
        f.debug_struct("Task")
            .field("task_id", self.task_id())
            .field("endpoint", self.endpoint())
            .field("status", &status)
            .finish()
    }
}

/// What becomes of a request whose caller leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Abandoned {
    GoesOn,
    IsCancelled,
}

/// Whoever waits for an answer.
struct Caller<'a> {
    slot: &'a Slot,
    req: Req,
    cancels: bool,
}

impl Drop for Caller<'_> {
    /// There is at most one of these for each request that was let in, so the mailbox stays bounded.
    fn drop(&mut self) {
        if self.cancels {
            let command = Command::Cancel { req: self.req };
            let host = HostCommand { req: self.slot.next_req(), command, port: None, permit: None };
            self.slot.tell(TaskMessage::Host(Box::new(host)));
        }
    }
}

fn millis(timeout: Option<Duration>) -> Option<u64> {
    timeout.map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
}

fn waited_in_vain(limit: Duration) -> Failure {
    let message = format!(
        "The snapshot was not as wished within {} s; look at it, or wait longer.",
        limit.as_secs_f64()
    );
    Failure::new(Code::Timeout, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Supervisor;
    use crate::limits::HOST_COMMANDS;
    use crate::rig::probed;

    fn asked(task: &Task) -> concurrency::OneshotReceiver<Result<Answer, Failure>> {
        let (port, answer) = concurrency::oneshot();
        let command = Command::Respond { choice: DialogChoice::default(), action: Action::Dismiss };
        task.clone().ask_later(command, port.into());
        answer
    }

    #[tokio::test]
    async fn commands_beyond_the_bound_are_refused_or_wait() {
        let supervisor = Supervisor::start();
        let (slot, mut told) = probed(&supervisor).await;
        let task = Task::new(slot, None);
        let answers: Vec<_> = (0..HOST_COMMANDS).map(|_| asked(&task)).collect();
        assert_eq!(asked(&task).await.unwrap().unwrap_err().code, Code::Refused);
        let waiting = tokio::spawn({
            let task = task.clone();
            async move { task.respond(DialogChoice::default(), Action::Dismiss).await }
        });
        let mut held = Vec::new();
        for _ in 0..HOST_COMMANDS {
            held.push(told.recv().await.unwrap());
        }
        assert!(told.try_recv().is_err());
        // One was handled: its place is free for the one that waits.
        held.pop();
        assert!(matches!(told.recv().await, Some(TaskMessage::Host(_))));
        drop((waiting, answers));
    }
}
