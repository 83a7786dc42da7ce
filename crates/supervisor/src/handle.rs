//! The way in for hosts.

use std::sync::{Arc, OnceLock};

use ractor::{ActorRef, ActorRuntime, RpcReplyPort, concurrency};
use supervisor_core::{Code, Failure};

use crate::endpoint::Endpoint;
use crate::ids::TaskId;
use crate::registry::{RegistryActor, RegistryMessage};
use crate::start::StartOptions;
use crate::task_handle::Task;

/// Supervises browser tasks. Cloning it costs nothing.
///
/// When the last clone and the last [`Task`] are dropped, everything is stopped: dialogs that may be answered are, and
/// sockets are closed. That happens on the runtime: before it shuts down, wait for [`Supervisor::stop_all`].
#[derive(Clone, Debug)]
pub struct Supervisor {
    keeper: Arc<Keeper>,
}

/// Ends the registry, and with it everything, when nobody can reach it any more.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    registry: OnceLock<ActorRef<RegistryMessage>>,
}

impl Drop for Keeper {
    fn drop(&mut self) {
        if let Some(registry) = self.registry.get() {
            registry.stop(None);
        }
    }
}

impl Supervisor {
    /// Starts the registry on the current tokio runtime.
    ///
    /// # Panics
    /// Outside a tokio runtime.
    #[must_use]
    pub fn start() -> Self {
        let keeper = Arc::<Keeper>::default();
        // Only a name can be refused, and there is none.
        if let Ok((registry, _)) = ActorRuntime::spawn_instant(None, RegistryActor, Arc::downgrade(&keeper)) {
            let _ = keeper.registry.set(registry);
        }
        Self { keeper }
    }

    /// The registry, for hosts that send it messages themselves. It lives as long as this supervisor and its tasks.
    ///
    /// # Panics
    /// Never: it was started with this supervisor.
    #[must_use]
    pub fn registry(&self) -> ActorRef<RegistryMessage> {
        match self.keeper.registry.get() {
            Some(registry) => registry.clone(),
            None => unreachable!("the registry is started with the supervisor"),
        }
    }

    /// The task's running supervisor, started if need be.
    ///
    /// The same task at the same endpoint gives what runs; changed options are applied to it. Another endpoint or another
    /// scope stops the old binding and starts a new one, whose ids go on counting. Callers that come at the same time share
    /// one connection. `cdp_url` is a WebSocket URL, the URL of a browser's HTTP server, or the path of a user-data-dir.
    ///
    /// # Errors
    /// `start_failed` with the stage that failed; `invalid_argument` for headers or a recording that cannot be used.
    pub async fn get_or_start(
        &self,
        task_id: impl Into<TaskId>,
        cdp_url: &str,
        options: impl Into<StartOptions>,
    ) -> Result<Task, Failure> {
        self.get_or_start_at(task_id, Endpoint::parse(cdp_url)?, options).await
    }

    /// The same at an endpoint that was read already.
    ///
    /// # Errors
    /// As [`get_or_start`](Self::get_or_start).
    pub async fn get_or_start_at(
        &self,
        task_id: impl Into<TaskId>,
        endpoint: Endpoint,
        options: impl Into<StartOptions>,
    ) -> Result<Task, Failure> {
        let (task_id, options) = (task_id.into(), Box::new(options.into()));
        let started =
            self.ask(|reply| RegistryMessage::GetOrStart { task_id, endpoint, options, reply }).await;
        started.unwrap_or_else(|| Err(gone()))
    }

    /// Stops a task: answers what it may still answer, closes its socket, drops its state. Takes a second at most, whatever
    /// the browser does. Says whether there was such a task.
    pub async fn stop(&self, task_id: impl Into<TaskId>) -> bool {
        let task_id = task_id.into();
        self.ask(|reply| RegistryMessage::Stop { task_id, reply }).await.unwrap_or(false)
    }

    /// Stops all tasks, within a second together.
    pub async fn stop_all(&self) {
        self.ask(|reply| RegistryMessage::StopAll { reply }).await.unwrap_or(());
    }

    /// The task, while it runs or after it failed for good.
    pub async fn get(&self, task_id: impl Into<TaskId>) -> Option<Task> {
        let task_id = task_id.into();
        self.ask(|reply| RegistryMessage::Get { task_id, reply }).await.flatten()
    }

    /// All tasks, in the order of their ids.
    pub async fn tasks(&self) -> Vec<Task> {
        self.ask(|reply| RegistryMessage::List { reply }).await.unwrap_or_default()
    }

    /// `None` when the runtime is shutting down: otherwise the registry is there as long as we are.
    async fn ask<T: Send + 'static>(
        &self,
        message: impl FnOnce(RpcReplyPort<T>) -> RegistryMessage,
    ) -> Option<T> {
        let (port, answer) = concurrency::oneshot();
        let _ = self.registry().cast(message(port.into()));
        answer.await.ok()
    }
}

fn gone() -> Failure {
    Failure::new(Code::NotConnected, "The supervisor has ended; start a new one.")
}
