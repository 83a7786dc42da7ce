//! The actor that knows all tasks. It never waits for a browser: what takes time is done elsewhere and reported back.
//!
//! Its messages are public: a host that is built of actors may send them instead of calling [`Supervisor`](crate::Supervisor).

use std::sync::Weak;

use ractor::{Actor, ActorProcessingErr, ActorRef, RpcReplyPort, SupervisionEvent};
use supervisor_core::{Command, Failure};

use crate::answer::Answer;
use crate::endpoint::Endpoint;
use crate::handle::Keeper;
use crate::ids::TaskId;
use crate::roster::{Request, Roster};
use crate::slot::Slot;
use crate::start::StartOptions;
use crate::task_handle::Task;

/// What the registry can be asked.
///
/// Each reply port may be dropped; what was asked is done all the same.
#[non_exhaustive]
pub enum RegistryMessage {
    /// The task's running supervisor, started if need be; see [`Supervisor::get_or_start`](crate::Supervisor::get_or_start).
    GetOrStart {
        /// The task.
        task_id: TaskId,
        /// Where its browser is.
        endpoint: Endpoint,
        /// The host's choices.
        options: Box<StartOptions>,
        /// Gets the task once it is connected, or `start_failed`.
        reply: RpcReplyPort<Result<Task, Failure>>,
    },
    /// Answers what the task may still answer, closes its socket and drops its state, within a second.
    Stop {
        /// The task.
        task_id: TaskId,
        /// Told when it is over, and whether there was such a task.
        reply: RpcReplyPort<bool>,
    },
    /// Stops all tasks, at the same time.
    StopAll {
        /// Told when it is over.
        reply: RpcReplyPort<()>,
    },
    /// The task's handle, while it runs or after it failed for good.
    Get {
        /// The task.
        task_id: TaskId,
        /// Gets it.
        reply: RpcReplyPort<Option<Task>>,
    },
    /// The handles of all tasks.
    List {
        /// Gets them, in the order of their ids.
        reply: RpcReplyPort<Vec<Task>>,
    },
    /// A command to a task: an answer to a dialog, a call, and so on. `start` and `stop` have messages of their own.
    Ask {
        /// The task.
        task_id: TaskId,
        /// What it shall do.
        command: Box<Command>,
        /// Gets the answer.
        reply: RpcReplyPort<Result<Answer, Failure>>,
    },
    /// For the registry's own helpers.
    #[doc(hidden)]
    Internal(Internal),
}

/// What the registry's helpers report.
#[doc(hidden)]
pub struct Internal(Report);

pub(crate) enum Report {
    /// The first connection was made, or was not.
    Started(TaskId, u64, Result<(), Failure>),
    /// The task has ended by itself.
    Ended(TaskId, u64),
    /// The task was wound down.
    Stopped(TaskId, u64),
}

/// Tells the registry that the core has ended.
pub(crate) fn tell_ended(slot: &Slot) {
    report(&slot.registry, Report::Ended(slot.task_id.clone(), slot.binding));
}

fn report(registry: &ActorRef<RegistryMessage>, report: Report) {
    // A registry that is gone has ended its tasks itself.
    let _ = registry.cast(RegistryMessage::Internal(Internal(report)));
}

/// A report that is made whatever happens: when it is dropped, and so also when the work before it panics.
pub(crate) struct Promised {
    registry: ActorRef<RegistryMessage>,
    report: Option<Report>,
}

impl Promised {
    pub(crate) fn new(registry: &ActorRef<RegistryMessage>, report: Report) -> Self {
        Self { registry: registry.clone(), report: Some(report) }
    }

    pub(crate) fn becomes(&mut self, report: Report) {
        self.report = Some(report);
    }
}

impl Drop for Promised {
    fn drop(&mut self) {
        self.report.take().into_iter().for_each(|it| report(&self.registry, it));
    }
}

pub(crate) struct RegistryActor;

impl Actor for RegistryActor {
    type Msg = RegistryMessage;
    type State = Roster;
    type Arguments = Weak<Keeper>;

    async fn pre_start(
        &self,
        myself: ActorRef<Self::Msg>,
        keeper: Weak<Keeper>,
    ) -> Result<Roster, ActorProcessingErr> {
        Ok(Roster::new(myself, keeper))
    }

    async fn handle(
        &self,
        _: ActorRef<Self::Msg>,
        message: RegistryMessage,
        roster: &mut Roster,
    ) -> Result<(), ActorProcessingErr> {
        match message {
            RegistryMessage::GetOrStart { task_id, endpoint, options, reply } => {
                roster.get_or_start(Request { task_id, endpoint, options, reply });
            }
            RegistryMessage::Stop { task_id, reply } => roster.stop(&task_id, reply),
            RegistryMessage::StopAll { reply } => roster.stop_all(reply),
            RegistryMessage::Get { task_id, reply } => reply_to(reply, roster.get(&task_id)),
            RegistryMessage::List { reply } => reply_to(reply, roster.list()),
            RegistryMessage::Ask { task_id, command, reply } => roster.ask(&task_id, *command, reply),
            RegistryMessage::Internal(Internal(Report::Started(task, binding, result))) => {
                roster.started(&task, binding, result);
            }
            RegistryMessage::Internal(Internal(Report::Ended(task, binding))) => roster.ended(&task, binding),
            RegistryMessage::Internal(Internal(Report::Stopped(task, binding))) => {
                roster.stopped(&task, binding)
            }
        }
        Ok(())
    }

    /// The end of one actor is never the end of the others.
    async fn handle_supervisor_evt(
        &self,
        _: ActorRef<Self::Msg>,
        event: SupervisionEvent,
        roster: &mut Roster,
    ) -> Result<(), ActorProcessingErr> {
        match event {
            SupervisionEvent::ActorFailed(actor, error) => roster.failed(actor.get_id(), &error.to_string()),
            SupervisionEvent::ActorTerminated(actor, _, reason) => {
                roster.lost(actor.get_id(), reason.as_deref().unwrap_or("it ended"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whoever ends the registry ends its tasks, which answer what they may first.
    async fn post_stop(&self, _: ActorRef<Self::Msg>, roster: &mut Roster) -> Result<(), ActorProcessingErr> {
        roster.wind_all_down().await;
        Ok(())
    }
}

/// A caller that has left is no error.
pub(crate) fn reply_to<T>(port: RpcReplyPort<T>, value: T) {
    let _ = port.send(value);
}
