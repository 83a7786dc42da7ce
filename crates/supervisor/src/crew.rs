//! The actors of one task: how they come, are replaced, and go.

use std::sync::Arc;

use ractor::{Actor, ActorCell, ActorId, ActorRef, ActorRuntime, SpawnErr};
use supervisor_core::Status;
use tokio::time::{Instant, timeout};

use crate::connection::ConnectionActor;
use crate::dial::Dialling;
use crate::limits::{STOP, STOP_ANSWERS};
use crate::recorder::Written;
use crate::slot::Slot;
use crate::task::{TaskActor, TaskMessage};

/// The parts of a task that actors play.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Task,
    Connection,
}

/// Starts all actors of a task below the registry.
pub(crate) fn muster(slot: &Arc<Slot>, dialling: &Arc<Dialling>) -> Result<(), SpawnErr> {
    [Role::Connection, Role::Task].into_iter().try_for_each(|role| post(slot, dialling, role))
}

/// Which part this actor plays for the task, if it still does.
pub(crate) fn role_of(slot: &Slot, actor: ActorId) -> Option<Role> {
    let crew = &slot.crew;
    if crew.task.is(actor) { Some(Role::Task) } else { crew.connection.is(actor).then_some(Role::Connection) }
}

/// Puts a new actor in the place of one that failed. What was in its mailbox is lost, so the connection is made anew.
pub(crate) fn replace(slot: &Arc<Slot>, dialling: &Arc<Dialling>, role: Role) -> Result<(), SpawnErr> {
    post(slot, dialling, role)?;
    slot.tell(TaskMessage::Reset);
    Ok(())
}

fn post(slot: &Arc<Slot>, dialling: &Arc<Dialling>, role: Role) -> Result<(), SpawnErr> {
    let registry = slot.registry.get_cell();
    let own = Arc::clone(slot);
    match role {
        Role::Task => slot.crew.task.take_over(spawn(TaskActor, own, registry)?),
        Role::Connection => {
            slot.crew.connection.take_over(spawn(ConnectionActor, (own, Arc::clone(dialling)), registry)?);
        }
    }
    Ok(())
}

/// Without waiting: its messages wait for it instead.
fn spawn<A: Actor>(
    actor: A,
    arguments: A::Arguments,
    registry: ActorCell,
) -> Result<ActorRef<A::Msg>, SpawnErr> {
    ActorRuntime::spawn_linked_instant(None, actor, arguments, registry).map(|(actor, _)| actor)
}

/// Ends a task that was told to stop: waits for its last answers, then for its socket and its recording, within [`STOP`]
/// together.
pub(crate) async fn wind_down(slot: Arc<Slot>) {
    let deadline = Instant::now() + STOP;
    let left = || Some(deadline.saturating_duration_since(Instant::now()));
    let _ = timeout(STOP_ANSWERS, slot.published.wait_for_end()).await;
    if let Some(connection) = slot.crew.connection.get()
        && connection.drain_and_wait(left()).await.is_err()
    {
        connection.kill();
    }
    if let Some(task) = slot.crew.task.get()
        && task.stop_and_wait(None, left()).await.is_err()
    {
        task.kill();
    }
    if let Some(written) = end(&slot)
        && timeout(left().unwrap_or_default(), written.wait()).await.is_err()
    {
        tracing::error!(task = %slot.task_id, "the disk is too slow: the recording's last lines come after the end");
    }
}

/// After this nobody waits for the task, and nobody is told anything by it.
fn end(slot: &Slot) -> Option<Written> {
    let recording = slot.shell().close();
    slot.show_end(Status::Stopped, None);
    slot.published.ended.send_replace(true);
    recording
}
