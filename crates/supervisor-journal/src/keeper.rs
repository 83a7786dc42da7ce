//! The thread that owns the journal, behind a bounded queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::port::{Journal, Run, RunId};

/// Steps that may wait to be written. A busy task makes some thousand a second, so this is a good part of a second in
/// which the disk may stall; beyond it steps are lost and counted.
pub const QUEUE: usize = 1_024;

/// Owns the journal's thread. Cloning it costs nothing; the thread ends when the last clone and the last [`Appender`] are gone.
#[derive(Debug, Clone)]
pub struct Keeper {
    queue: SyncSender<Work>,
    lost: Arc<AtomicU64>,
}

/// Where one run's events go.
#[derive(Debug, Clone)]
pub struct Appender {
    queue: SyncSender<Work>,
    lost: Arc<AtomicU64>,
    run: u64,
}

enum Work {
    Begin { run: u64, what: Run },
    Append { run: u64, events: Vec<Recorded> },
    Barrier { done: SyncSender<Result<(), JournalError>> },
}

impl Keeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`JournalError::Store`] when the system gives no thread.
    pub fn start(journal: impl Journal + 'static) -> Result<(Self, JoinHandle<()>), JournalError> {
        let (queue, work) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || keep(journal, &work));
        let thread = thread.map_err(|error| JournalError::Store(error.to_string()))?;
        Ok((Self { queue, lost: Arc::default() }, thread))
    }

    /// Begins a run. Never waits: when the queue is full the run is not journalled, and counted as lost.
    #[must_use]
    pub fn begin(&self, what: Run) -> Appender {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let run = NEXT.fetch_add(1, Ordering::Relaxed);
        offer(&self.queue, &self.lost, Work::Begin { run, what });
        Appender { queue: self.queue.clone(), lost: self.lost.clone(), run }
    }

    /// Waits until everything that was handed over is on disk, for at most `limit`.
    ///
    /// # Errors
    /// [`JournalError::Store`] when writing failed, or did not come to an end in time.
    pub fn barrier(&self, limit: Duration) -> Result<(), JournalError> {
        let (done, ended) = sync_channel(1);
        let gone = |_| JournalError::Store("its thread is gone".into());
        self.queue.send(Work::Barrier { done }).map_err(gone)?;
        ended
            .recv_timeout(limit)
            .map_err(|error| JournalError::Store(format!("no answer from its thread: {error}")))?
    }

    /// How many steps were lost because the disk was too slow or the store failed.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Appender {
    /// Hands over the events of one step. Never waits.
    pub fn append(&self, events: Vec<Recorded>) {
        if !events.is_empty() {
            offer(&self.queue, &self.lost, Work::Append { run: self.run, events });
        }
    }
}

fn offer(queue: &SyncSender<Work>, lost: &AtomicU64, work: Work) {
    if let Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) = queue.try_send(work) {
        lost.fetch_add(1, Ordering::Relaxed);
    }
}

/// Works until nobody can send any more, then makes sure that all is on disk.
fn keep(mut journal: impl Journal, work: &Receiver<Work>) {
    let mut runs = std::collections::HashMap::<u64, RunId>::new();
    let mut failures = Failures::default();
    while let Ok(next) = work.recv() {
        match next {
            Work::Begin { run, what } => {
                if let Some(id) = failures.note(journal.begin(&what)) {
                    runs.insert(run, id);
                }
            }
            Work::Append { run, events } => {
                if let Some(id) = runs.get(&run) {
                    failures.note(journal.append(*id, &events));
                }
            }
            Work::Barrier { done } => {
                let _ = done.send(journal.barrier());
            }
        }
    }
    failures.note(journal.barrier());
}

/// A store that fails keeps failing: the log hears of the first time.
#[derive(Default)]
struct Failures {
    seen: u64,
}

impl Failures {
    fn note<T>(&mut self, result: Result<T, JournalError>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                if self.seen == 0 {
                    tracing::error!(%error, "the journal is not written any more; tasks go on without it");
                }
                self.seen += 1;
                None
            }
        }
    }
}
