//! The journal behind a bounded queue, as its writers see it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use supervisor_core::Recorded;

use crate::desk::{Desk, fault_inside};
use crate::error::JournalError;
use crate::port::{Journal, Run};
use crate::queue::{Pile, Shared, Work};

/// Owns the journal's thread. Cloning it costs nothing; the thread ends when the last clone and the last [`Appender`] are gone.
#[derive(Debug, Clone)]
pub struct Keeper {
    queue: Arc<Sender>,
}

/// Where one run's events go. The run is over when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Appender {
    run: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    queue: Arc<Sender>,
    run: u64,
    pile: Arc<Mutex<Pile>>,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.shared.put(Work::End { run: self.run });
    }
}

/// The ways in; the thread ends when the last is dropped.
#[derive(Debug)]
struct Sender {
    shared: Arc<Shared>,
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.shared.close();
    }
}

impl Keeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`JournalError::Store`] when the system gives no thread.
    pub fn start(journal: impl Journal + 'static) -> Result<(Self, JoinHandle<()>), JournalError> {
        let shared = Arc::<Shared>::default();
        let desk = Desk::new(journal, Arc::clone(&shared));
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || desk.keep());
        let thread = thread.map_err(|error| JournalError::Store(error.to_string()))?;
        Ok((Self { queue: Arc::new(Sender { shared }) }, thread))
    }

    /// Begins a run. Never waits.
    #[must_use]
    pub fn begin(&self, what: Run) -> Appender {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let run = NEXT.fetch_add(1, Ordering::Relaxed);
        self.queue.shared.put(Work::Begin { run, what });
        Appender { run: Arc::new(Handle { queue: Arc::clone(&self.queue), run, pile: Arc::default() }) }
    }

    /// Waits until everything that was handed over is on disk, for at most `limit`. It blocks the thread.
    ///
    /// # Errors
    /// [`JournalError::Store`] when writing failed, or did not come to an end in time.
    pub fn barrier(&self, limit: Duration) -> Result<(), JournalError> {
        let (done, ended) = sync_channel(1);
        self.queue.shared.put(Work::Barrier { done });
        match ended.recv_timeout(limit) {
            Ok(written) => written,
            Err(RecvTimeoutError::Timeout) => Err(too_slow(limit)),
            Err(RecvTimeoutError::Disconnected) => Err(fault_inside()),
        }
    }

    /// How many steps were lost because the disk was too slow or the store failed.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.queue.shared.lost()
    }
}

fn too_slow(limit: Duration) -> JournalError {
    JournalError::Store(format!("the disk did not take it within {} s", limit.as_secs_f64()))
}

impl Appender {
    /// Hands over the events of one step, or of some steps one after the other. Never waits for the disk.
    pub fn append(&self, events: &[Recorded]) {
        if !events.is_empty() {
            self.run.queue.shared.pile_up(self.run.run, &self.run.pile, events);
        }
    }
}
