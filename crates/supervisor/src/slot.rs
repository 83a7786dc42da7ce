//! What the actors of one task share. The registry owns it, so that the end of an actor loses nothing.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use arc_swap::{ArcSwap, ArcSwapOption};
use ractor::{ActorId, ActorRef, Message};
use supervisor_core::snapshot::StatusView;
use supervisor_core::{At, Recorded, Req, Scope, Snapshot, Status};
use tokio::sync::{Semaphore, broadcast, watch};
use tokio::time::Instant;

use crate::connection::ConnectionMessage;
use crate::endpoint::Endpoint;
use crate::ids::TaskId;
use crate::limits::{EVENTS, HOST_COMMANDS};
use crate::recorder::Shared;
use crate::registry::RegistryMessage;
use crate::shell::Shell;
use crate::task::TaskMessage;

/// One binding: one task on one endpoint.
pub(crate) struct Slot {
    pub(crate) task_id: TaskId,
    /// Counts over all tasks of the registry: a message about an earlier binding is told by it.
    pub(crate) binding: u64,
    pub(crate) given: Endpoint,
    resolved: ArcSwapOption<Endpoint>,
    pub(crate) clock: Clock,
    pub(crate) published: Published,
    pub(crate) crew: Crew,
    /// Bounds the host's commands in the task's mailbox.
    pub(crate) commands: Arc<Semaphore>,
    requests: AtomicU64,
    /// How far the recording is.
    pub(crate) recording: Option<Arc<Shared>>,
    pub(crate) registry: ActorRef<RegistryMessage>,
    shell: Mutex<Shell>,
    /// How many wait for the shell.
    waiting: AtomicUsize,
}

impl Slot {
    pub(crate) fn new(
        task_id: TaskId,
        binding: u64,
        given: Endpoint,
        clock: Clock,
        registry: ActorRef<RegistryMessage>,
        mut shell: Shell,
    ) -> Self {
        Self {
            task_id,
            binding,
            given,
            resolved: ArcSwapOption::empty(),
            clock,
            published: Published::new(shell.machine.snapshot()),
            crew: Crew::default(),
            commands: Arc::new(Semaphore::new(HOST_COMMANDS)),
            requests: AtomicU64::new(1),
            recording: shell.recording(),
            registry,
            shell: Mutex::new(shell),
            waiting: AtomicUsize::new(0),
        }
    }

    /// Sends to the task's actor, whichever it is now. One that is gone is being replaced, and its successor begins with a
    /// new connection, so nothing that is lost here is missed; a reply port that is dropped tells its caller.
    pub(crate) fn tell(&self, message: TaskMessage) {
        self.crew.task.tell(message);
    }

    /// A panic while it was held has been caught inside, so a poisoned lock means nothing.
    pub(crate) fn shell(&self) -> MutexGuard<'_, Shell> {
        self.waiting.fetch_add(1, Ordering::Relaxed);
        let shell = self.shell.lock().unwrap_or_else(PoisonError::into_inner);
        self.waiting.fetch_sub(1, Ordering::Relaxed);
        shell
    }

    /// Whether somebody waits for the shell. A socket that floods asks this before each batch: the lock itself is not fair,
    /// and a host would wait for long.
    pub(crate) fn is_wanted(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    pub(crate) fn scope(&self) -> Scope {
        self.shell().machine.state().options.scope.clone()
    }

    pub(crate) fn next_req(&self) -> Req {
        Req(self.requests.fetch_add(1, Ordering::Relaxed))
    }

    pub(crate) fn resolved_to(&self, endpoint: Endpoint) {
        self.resolved.store(Some(Arc::new(endpoint)));
    }

    /// Whether this endpoint is the one that the task is on, as given or as resolved.
    pub(crate) fn is_at(&self, endpoint: &Endpoint) -> bool {
        self.given.same_as(endpoint) || self.resolved.load().as_ref().is_some_and(|own| own.same_as(endpoint))
    }

    /// Shows what the core can no longer say: that the task is over.
    pub(crate) fn show_end(&self, status: Status, reason: Option<String>) {
        let last = self.published.snapshot.load_full();
        if matches!(last.status.status, Status::Failed | Status::Stopped) {
            return;
        }
        let ended = StatusView { status, stale: true, attempt: None, reason, ..(*last.status).clone() };
        self.published.publish(Arc::new(Snapshot { status: Arc::new(ended), ..(*last).clone() }));
    }
}

/// The time of one task.
#[derive(Clone, Copy)]
pub(crate) struct Clock {
    start: Instant,
    pub(crate) started_unix_us: u64,
}

impl Clock {
    /// Wall time is looked at here only: after this it cannot jump.
    pub(crate) fn start() -> Self {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self { start: Instant::now(), started_unix_us: u64::try_from(wall.as_micros()).unwrap_or(u64::MAX) }
    }

    pub(crate) fn now(&self) -> At {
        At(u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    pub(crate) fn instant(&self, at: At) -> Instant {
        self.start.checked_add(Duration::from_micros(at.0)).unwrap_or(self.start)
    }
}

/// What hosts see without asking anybody.
pub(crate) struct Published {
    pub(crate) snapshot: ArcSwap<Snapshot>,
    /// Changes with every publication.
    pub(crate) changes: watch::Sender<u64>,
    /// Made for the first subscriber: its ring is the larger part of a task that nobody subscribes to.
    events: OnceLock<broadcast::Sender<Arc<Recorded>>>,
    pub(crate) ended: watch::Sender<bool>,
}

impl Published {
    fn new(snapshot: Arc<Snapshot>) -> Self {
        Self {
            snapshot: ArcSwap::new(snapshot),
            changes: watch::Sender::new(0),
            events: OnceLock::new(),
            ended: watch::Sender::new(false),
        }
    }

    pub(crate) fn publish(&self, snapshot: Arc<Snapshot>) {
        self.snapshot.store(snapshot);
        self.changes.send_modify(|count| *count += 1);
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Arc<Recorded>> {
        self.events.get_or_init(|| broadcast::Sender::new(EVENTS)).subscribe()
    }

    pub(crate) fn tell_subscribers(&self, events: &[Recorded]) {
        let Some(subscribers) = self.events.get().filter(|events| events.receiver_count() > 0) else {
            return;
        };
        for event in events {
            // Fails only when the last subscriber left meanwhile.
            let _ = subscribers.send(Arc::new(event.clone()));
        }
    }

    pub(crate) async fn wait_for_end(&self) {
        let _ = self.ended.subscribe().wait_for(|ended| *ended).await;
    }
}

/// The actors that a task always has.
#[derive(Default)]
pub(crate) struct Crew {
    pub(crate) task: Post<TaskMessage>,
    pub(crate) connection: Post<ConnectionMessage>,
}

impl Crew {
    /// Those that play them now.
    pub(crate) fn ids(&self) -> impl Iterator<Item = ActorId> {
        [self.task.id(), self.connection.id()].into_iter().flatten()
    }
}

/// The place of an actor that may be replaced.
pub(crate) struct Post<M>(ArcSwapOption<ActorRef<M>>);

impl<M> Default for Post<M> {
    fn default() -> Self {
        Self(ArcSwapOption::empty())
    }
}

impl<M: Message> Post<M> {
    pub(crate) fn take_over(&self, actor: ActorRef<M>) {
        self.0.store(Some(Arc::new(actor)));
    }

    pub(crate) fn tell(&self, message: M) {
        if let Some(actor) = self.0.load().as_ref() {
            let _ = actor.cast(message);
        }
    }

    pub(crate) fn get(&self) -> Option<ActorRef<M>> {
        self.0.load().as_ref().map(|actor| ActorRef::clone(actor))
    }

    pub(crate) fn is(&self, id: ActorId) -> bool {
        self.id() == Some(id)
    }

    fn id(&self) -> Option<ActorId> {
        self.0.load().as_ref().map(|actor| actor.get_id())
    }
}
