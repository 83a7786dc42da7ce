//! What all connections of one server share: the tasks, why one has no browser, and who is told of changes.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use supervisor::ractor::call;
use supervisor::{Code, Failure, Recording, RegistryMessage, Status, Supervisor, Task, TaskId};
use tokio::sync::{broadcast, watch};
use tokio::time::timeout;

use crate::answer::{Dialogs, ToolAnswer, last_dialog};
use crate::arguments::take_task_id;
use crate::counted::Counted;
use crate::defaults::Defaults;
use crate::known::{Absence, Known, has_browser, make_room};
use crate::limits::{LAST_ANSWERS, NOTICES, STARTING};
use crate::notice::Notice;
use crate::status::{ServerStatus, TaskStatus};
use crate::tools::{Call, Entry};
use crate::watch as watching;
use crate::wish::{Wanted, Wish};

/// The tasks of a server.
pub(crate) struct Hub {
    supervisor: Supervisor,
    defaults: Defaults,
    /// Of the next task that is started: a file is only one's, a folder is everybody's.
    recording: Mutex<Option<Recording>>,
    known: Mutex<BTreeMap<TaskId, Known>>,
    /// Whether a task has a browser, and so whether the tools for it are there.
    available: watch::Sender<bool>,
    /// Connections that are being made.
    connecting: watch::Sender<usize>,
    notices: broadcast::Sender<Arc<Notice>>,
    started: Instant,
    /// Clients that are being served.
    clients: watch::Sender<usize>,
    /// Whether clients are heard no longer.
    ending: watch::Sender<bool>,
}

impl Hub {
    pub(crate) fn new(supervisor: Supervisor, mut defaults: Defaults) -> Arc<Self> {
        let recording = Mutex::new(defaults.start.recording.take());
        Arc::new(Self {
            supervisor,
            defaults,
            recording,
            known: Mutex::default(),
            available: watch::Sender::new(false),
            connecting: watch::Sender::new(0),
            notices: broadcast::Sender::new(NOTICES),
            started: Instant::now(),
            clients: watch::Sender::new(0),
            ending: watch::Sender::new(false),
        })
    }

    pub(crate) fn supervisor(&self) -> &Supervisor {
        &self.supervisor
    }

    /// Whether there is a browser to connect to when none is named.
    pub(crate) fn has_endpoint(&self) -> bool {
        self.defaults.endpoint.is_some()
    }

    /// Changes when the tools for a browser come or go.
    pub(crate) fn available(&self) -> watch::Receiver<bool> {
        self.available.subscribe()
    }

    pub(crate) fn notices(&self) -> broadcast::Receiver<Arc<Notice>> {
        self.notices.subscribe()
    }

    /// Tells all clients. With none there is nobody to tell.
    pub(crate) fn tell(&self, notice: Notice) {
        let _ = self.notices.send(Arc::new(notice));
    }

    /// One more client, until this is dropped.
    pub(crate) fn client(&self) -> Counted {
        Counted::one_more(&self.clients)
    }

    /// Becomes true when clients are heard no longer.
    pub(crate) fn ending(&self) -> watch::Receiver<bool> {
        self.ending.subscribe()
    }

    /// What it is doing.
    pub(crate) async fn status(&self) -> ServerStatus {
        let tasks = self.supervisor.tasks().await.iter().map(TaskStatus::from).collect();
        ServerStatus {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            uptime_s: self.started.elapsed().as_secs_f64(),
            clients: *self.clients.borrow(),
            tasks,
        }
    }

    /// Hears no client any more, stops all tasks, and lets the last answers out.
    pub(crate) async fn end(&self) {
        self.ending.send_replace(true);
        self.supervisor.stop_all().await;
        let _ = timeout(LAST_ANSWERS, self.clients.subscribe().wait_for(|count| *count == 0)).await;
    }

    /// Makes a call.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &Entry,
        mut arguments: Map<String, Value>,
    ) -> ToolAnswer {
        let task_id = match take_task_id(&mut arguments) {
            Ok(task_id) => task_id,
            Err(failure) => return ToolAnswer::refused(failure),
        };
        let before = self.live(&task_id).await.map(|task| last_dialog(&task.snapshot()));
        let call = Call { hub: Arc::clone(self), task_id: task_id.clone() };
        let outcome = (tool.run)(call, arguments).await;
        let dialogs = self.live(&task_id).await.map(|task| match before {
            Some(last) => Dialogs::since(last, &task.snapshot()),
            None => Dialogs::pending(&task.snapshot()),
        });
        ToolAnswer::new(&task_id, outcome, dialogs.as_ref())
    }

    /// The task, if it has a browser or is getting it back.
    pub(crate) async fn live(&self, task_id: &TaskId) -> Option<Task> {
        self.supervisor.get(task_id).await.filter(has_browser)
    }

    /// The same, once connections that are being made are made.
    pub(crate) async fn settled(&self, task_id: &TaskId) -> Option<Task> {
        match self.live(task_id).await {
            Some(task) => Some(task),
            None => {
                self.wait_until_connected(STARTING).await;
                self.live(task_id).await
            }
        }
    }

    /// The task with its browser.
    ///
    /// # Errors
    /// `not_connected`, with the reason.
    pub(crate) async fn task(&self, task_id: &TaskId) -> Result<Task, Failure> {
        match self.settled(task_id).await {
            Some(task) => Ok(task),
            None => {
                let why = self.absence(task_id).await.reason;
                Err(Failure::new(Code::NotConnected, format!("task {task_id:?} has no browser: {why}")))
            }
        }
    }

    /// Waits while connections are being made, for this long at most.
    pub(crate) async fn wait_until_connected(&self, limit: Duration) {
        let _ = timeout(limit, self.connecting.subscribe().wait_for(|count| *count == 0)).await;
    }

    /// Why a task has no browser.
    pub(crate) async fn absence(&self, task_id: &TaskId) -> Absence {
        let failed = self.supervisor.get(task_id).await.map(|task| task.snapshot());
        let failed = failed.filter(|snapshot| snapshot.status.status == Status::Failed);
        if let Some(reason) = failed.and_then(|snapshot| snapshot.status.reason.clone()) {
            return Absence { status: Status::Failed, reason };
        }
        let why = self.known().get(task_id).and_then(|known| known.why.clone());
        let reason = why.unwrap_or_else(|| "it was not connected yet".to_owned());
        Absence { status: Status::NotConnected, reason }
    }

    /// Gives a task its browser. Goes on when its caller leaves: half a connection is of use to nobody.
    ///
    /// # Errors
    /// `start_failed`, `unsupported_backend`; `invalid_argument` when it is not known where the browser is.
    pub(crate) async fn connect(self: &Arc<Self>, task_id: &TaskId, wish: Wish) -> Result<Task, Failure> {
        let wanted = self.wanted(task_id, wish).await?;
        let started = tokio::spawn(Arc::clone(self).start(task_id.clone(), wanted, self.connection()));
        started.await.unwrap_or_else(|_| Err(Failure::new(Code::StartFailed, "the server is ending")))
    }

    /// Begins to connect the default task to the configured browser.
    pub(crate) fn connect_default(self: &Arc<Self>) {
        let (hub, counted) = (Arc::clone(self), self.connection());
        tokio::spawn(async move {
            let task_id = crate::arguments::DEFAULT_TASK.into();
            if let Ok(wanted) = hub.wanted(&task_id, Wish::default()).await
                && let Err(failure) = Arc::clone(&hub).start(task_id, wanted, counted).await
            {
                tracing::warn!(%failure, "the configured browser is not connected");
            }
        });
    }

    /// Ends a task's connection; says whether there was one.
    pub(crate) async fn disconnect(&self, task_id: &TaskId) -> bool {
        let had = self.live(task_id).await.is_some();
        self.supervisor.stop(task_id).await;
        if let Some(known) = self.known().get_mut(task_id) {
            *known = Known { why: Some("it was disconnected".to_owned()), ..Known::default() };
        }
        self.look().await;
        had
    }

    /// A binding has ended.
    pub(crate) async fn ended(&self) {
        // While another is being made for it, its tools stay.
        if *self.connecting.borrow() == 0 {
            self.look().await;
        }
    }

    async fn start(
        self: Arc<Self>,
        task_id: TaskId,
        wanted: Wanted,
        counted: Counted,
    ) -> Result<Task, Failure> {
        let result = self.get_or_start(&task_id, &wanted).await;
        match &result {
            Ok(task) => self.started(&task_id, wanted, task),
            Err(failure) => self.not_started(task_id, failure),
        }
        // First the tools, then the end of the wait for them.
        self.look().await;
        drop(counted);
        result
    }

    async fn get_or_start(&self, task_id: &TaskId, wanted: &Wanted) -> Result<Task, Failure> {
        let mut options = Box::new(wanted.start.clone());
        if self.supervisor.get(task_id).await.is_none() {
            options.recording = self.next_recording();
        }
        let (task_id, endpoint) = (task_id.clone(), wanted.endpoint.clone());
        let registry = self.supervisor.registry();
        let ending = || Err(Failure::new(Code::StartFailed, "the server is ending"));
        call!(registry, |reply| RegistryMessage::GetOrStart { task_id, endpoint, options, reply })
            .unwrap_or_else(|_| ending())
    }

    fn next_recording(&self) -> Option<Recording> {
        let mut next = self.recording.lock().unwrap_or_else(PoisonError::into_inner);
        match next.as_ref().is_some_and(|recording| recording.path.is_dir()) {
            true => next.clone(),
            false => next.take(),
        }
    }

    fn started(self: &Arc<Self>, task_id: &TaskId, wanted: Wanted, task: &Task) {
        let mut all = self.known();
        let known = all.entry(task_id.clone()).or_default();
        known.wanted = Some(wanted);
        known.why = None;
        if !known.watched.as_ref().is_some_and(|watched| watched.is_same(task)) {
            known.watched = Some(task.clone());
            watching::begin(self, task.clone());
        }
    }

    fn not_started(&self, task_id: TaskId, failure: &Failure) {
        let why = Some(failure.message.clone());
        self.known().insert(task_id, Known { why, ..Known::default() });
    }

    /// Looks whether there is a browser, and tells when that has changed.
    async fn look(&self) {
        let available = self.supervisor.tasks().await.iter().any(has_browser);
        self.available.send_if_modified(|known| std::mem::replace(known, available) != available);
    }

    /// What a task is to be started with.
    async fn wanted(&self, task_id: &TaskId, wish: Wish) -> Result<Wanted, Failure> {
        let lives = self.live(task_id).await.is_some();
        let present = {
            let mut known = self.known();
            make_room(&mut known, task_id)?;
            known.get(task_id).and_then(|known| known.wanted.clone()).filter(|_| lives)
        };
        wish.over(present, &self.defaults)
    }

    fn connection(&self) -> Counted {
        Counted::one_more(&self.connecting)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<TaskId, Known>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
