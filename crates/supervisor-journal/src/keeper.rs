//! The thread that owns the journal, behind a bounded queue.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::port::{Journal, Run, RunId};

/// Steps that may wait to be written. A busy task makes some thousand a second, so this is a good part of a second in
/// which the disk may stall; beyond it steps are lost and counted.
pub const QUEUE: usize = 1_024;

/// How often the journal lets go of what is too old while nothing is added to it.
const TIDY_EVERY: Duration = Duration::from_secs(60 * 60);

/// Between two looks whether the queue has room for a barrier again.
const LOOK_AGAIN: Duration = Duration::from_millis(2);

/// Owns the journal's thread. Cloning it costs nothing; the thread ends when the last clone and the last [`Appender`] are gone.
#[derive(Debug, Clone)]
pub struct Keeper {
    queue: SyncSender<Work>,
    lost: Arc<AtomicU64>,
}

/// Where one run's events go. The run is over when the last clone is dropped.
#[derive(Debug, Clone)]
pub struct Appender {
    run: Arc<Handle>,
}

#[derive(Debug)]
struct Handle {
    queue: SyncSender<Work>,
    lost: Arc<AtomicU64>,
    run: u64,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // When the queue is full, the run is forgotten at the end of the thread.
        let _ = self.queue.try_send(Work::End { run: self.run });
    }
}

enum Work {
    Begin { run: u64, what: Run },
    Append { run: u64, events: Vec<Recorded> },
    End { run: u64 },
    Barrier { done: SyncSender<Result<(), JournalError>> },
}

impl Keeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`JournalError::Store`] when the system gives no thread.
    pub fn start(journal: impl Journal + 'static) -> Result<(Self, JoinHandle<()>), JournalError> {
        let (queue, work) = sync_channel(QUEUE);
        let lost = Arc::<AtomicU64>::default();
        let desk = Desk { journal, runs: HashMap::new(), lost: Arc::clone(&lost), has_failed: false };
        let thread = std::thread::Builder::new().name("journal".into()).spawn(move || desk.keep(&work));
        let thread = thread.map_err(|error| JournalError::Store(error.to_string()))?;
        Ok((Self { queue, lost }, thread))
    }

    /// Begins a run. Never waits: when the queue is full the run is not journalled, and counted as lost.
    #[must_use]
    pub fn begin(&self, what: Run) -> Appender {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let run = NEXT.fetch_add(1, Ordering::Relaxed);
        offer(&self.queue, &self.lost, Work::Begin { run, what });
        Appender { run: Arc::new(Handle { queue: self.queue.clone(), lost: self.lost.clone(), run }) }
    }

    /// Waits until everything that was handed over is on disk, for at most `limit`. It blocks the thread.
    ///
    /// # Errors
    /// [`JournalError::Store`] when writing failed, or did not come to an end in time.
    pub fn barrier(&self, limit: Duration) -> Result<(), JournalError> {
        let deadline = Instant::now() + limit;
        let (done, ended) = sync_channel(1);
        let mut work = Work::Barrier { done };
        loop {
            work = match self.queue.try_send(work) {
                Ok(()) => break,
                Err(TrySendError::Disconnected(_)) => {
                    return Err(JournalError::Store("its thread is gone".into()));
                }
                Err(TrySendError::Full(_)) if Instant::now() >= deadline => return Err(too_slow(limit)),
                Err(TrySendError::Full(unsent)) => unsent,
            };
            std::thread::sleep(LOOK_AGAIN);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        ended.recv_timeout(left).map_err(|_| too_slow(limit))?
    }

    /// How many steps were lost because the disk was too slow or the store failed.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

fn too_slow(limit: Duration) -> JournalError {
    JournalError::Store(format!("the disk did not take it within {} s", limit.as_secs_f64()))
}

impl Appender {
    /// Hands over the events of one step. Never waits.
    pub fn append(&self, events: Vec<Recorded>) {
        if !events.is_empty() {
            offer(&self.run.queue, &self.run.lost, Work::Append { run: self.run.run, events });
        }
    }
}

fn offer(queue: &SyncSender<Work>, lost: &AtomicU64, work: Work) {
    if queue.try_send(work).is_err() && lost.fetch_add(1, Ordering::Relaxed) == 0 {
        tracing::warn!("the disk is too slow for the journal: it misses events, and tasks go on");
    }
}

/// The thread's own.
struct Desk<J> {
    journal: J,
    runs: HashMap<u64, RunId>,
    lost: Arc<AtomicU64>,
    /// A store that fails keeps failing: the log hears of the first time.
    has_failed: bool,
}

impl<J: Journal> Desk<J> {
    /// Works until nobody can send any more, then makes sure that all is on disk.
    fn keep(mut self, work: &Receiver<Work>) {
        loop {
            match work.recv_timeout(TIDY_EVERY) {
                Ok(next) => self.work(next),
                Err(RecvTimeoutError::Timeout) => {
                    let tidied = self.journal.tidy();
                    self.note(tidied);
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        let flushed = self.journal.barrier();
        self.note(flushed);
    }

    fn work(&mut self, work: Work) {
        match work {
            Work::Begin { run, what } => {
                let begun = self.journal.begin(&what);
                if let Some(id) = self.note(begun) {
                    self.runs.insert(run, id);
                }
            }
            Work::Append { run, events } => self.append(run, &events),
            Work::End { run } => {
                if let Some(id) = self.runs.remove(&run) {
                    let ended = self.journal.end(id);
                    self.note(ended);
                }
            }
            Work::Barrier { done } => {
                let _ = done.send(self.journal.barrier());
            }
        }
    }

    fn append(&mut self, run: u64, events: &[Recorded]) {
        let added = self.runs.get(&run).map(|id| self.journal.append(*id, events));
        if added.and_then(|added| self.note(added)).is_none() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn note<T>(&mut self, result: Result<T, JournalError>) -> Option<T> {
        result
            .inspect_err(|error| {
                if !std::mem::replace(&mut self.has_failed, true) {
                    tracing::error!(%error, "the journal misses events; tasks go on without them");
                }
            })
            .ok()
    }
}
