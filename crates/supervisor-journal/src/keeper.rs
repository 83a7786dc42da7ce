//! The thread that owns the journal, behind a bounded queue.
//!
//! It gathers for a moment before it writes: a store's cost is by the write, and so is that of waking a thread.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::port::{Journal, Run, RunId};

/// Events that may wait to be written. A page that does nothing but add and remove iframes makes some fifty thousand a
/// second, so this is a good part of a second in which the disk may stall; beyond it steps are lost and counted.
pub const QUEUE: usize = 32 * 1_024;

/// How long the thread gathers once there is something to write. What a crash of the process loses is little more than what
/// the store itself has not written yet.
const GATHER: Duration = Duration::from_millis(50);

/// How often the journal lets go of what is too old while nothing is added to it.
const TIDY_EVERY: Duration = Duration::from_secs(60 * 60);

/// Panics inside the store after which the journal is over: once may be chance, and a store that is broken costs each time.
pub const PANICS: u32 = 5;

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
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.queue.shared.put(Work::End { run: self.run });
    }
}

enum Work {
    Begin { run: u64, what: Run },
    Append { run: u64, events: Vec<Recorded> },
    End { run: u64 },
    Barrier { done: SyncSender<Result<(), JournalError>> },
}

/// The ways in; the thread ends when the last is dropped.
#[derive(Debug)]
struct Sender {
    shared: Arc<Shared>,
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.shared.waiting().is_closed = true;
        self.shared.changed.notify_one();
    }
}

#[derive(Default)]
struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    lost: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("lost", &self.lost).finish_non_exhaustive()
    }
}

/// What waits to be written, in the order in which it came.
#[derive(Default)]
struct Waiting {
    work: Vec<Work>,
    /// Of all steps in it.
    events: usize,
    /// Whether the thread sleeps until there is something: then it has to be woken.
    is_idle: bool,
    /// Whether somebody waits for it to be written: then nothing is gathered.
    is_urgent: bool,
    is_closed: bool,
    /// Whether the thread has ended: nothing is taken in any more.
    is_over: bool,
}

impl Keeper {
    /// Starts the thread.
    ///
    /// # Errors
    /// [`JournalError::Store`] when the system gives no thread.
    pub fn start(journal: impl Journal + 'static) -> Result<(Self, JoinHandle<()>), JournalError> {
        let shared = Arc::<Shared>::default();
        let desk = Desk { journal, runs: HashMap::new(), shared: Arc::clone(&shared), has_failed: false };
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
        Appender { run: Arc::new(Handle { queue: Arc::clone(&self.queue), run }) }
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
        self.queue.shared.lost.load(Ordering::Relaxed)
    }
}

fn fault_inside() -> JournalError {
    JournalError::Store("a fault inside interrupted it; please report it".to_owned())
}

fn too_slow(limit: Duration) -> JournalError {
    JournalError::Store(format!("the disk did not take it within {} s", limit.as_secs_f64()))
}

impl Appender {
    /// Hands over the events of one step, or of some steps one after the other. Never waits.
    pub fn append(&self, events: Vec<Recorded>) {
        if !events.is_empty() {
            self.run.queue.shared.put(Work::Append { run: self.run.run, events });
        }
    }
}

impl Shared {
    /// Events for which there is no room are lost. The rest is little: a run begins and ends once, and whoever waits, waits.
    fn put(&self, work: Work) {
        let mut waiting = self.waiting();
        match &work {
            Work::Append { events, .. } if waiting.is_over || waiting.events + events.len() > QUEUE => {
                drop(waiting);
                self.lost.fetch_add(1, Ordering::Relaxed);
                return;
            }
            // Whoever waits is told by what is dropped here.
            _ if waiting.is_over => return,
            Work::Append { events, .. } => waiting.events += events.len(),
            Work::Barrier { .. } => waiting.is_urgent = true,
            Work::Begin { .. } | Work::End { .. } => {}
        }
        waiting.work.push(work);
        if waiting.is_idle || waiting.is_urgent {
            waiting.is_idle = false;
            drop(waiting);
            self.changed.notify_one();
        }
    }

    /// The thread is gone: what waits for it is lost, and what comes later.
    fn end(&self) {
        let mut waiting = self.waiting();
        waiting.is_over = true;
        let left = std::mem::take(&mut waiting.work);
        drop(waiting);
        self.lost.fetch_add(steps(&left), Ordering::Relaxed);
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What there is to do, once it was gathered; nothing when it is time to tidy. `None` when nobody can send any more.
    fn take(&self) -> Option<Vec<Work>> {
        let mut waiting = self.waiting();
        if waiting.work.is_empty() && !waiting.is_closed {
            waiting.is_idle = true;
            let woken =
                self.changed.wait_timeout_while(waiting, TIDY_EVERY, |it| it.is_idle && !it.is_closed);
            waiting = woken.unwrap_or_else(PoisonError::into_inner).0;
            waiting.is_idle = false;
        }
        if !waiting.work.is_empty() {
            waiting = self.gathered(waiting);
        }
        waiting.events = 0;
        waiting.is_urgent = false;
        let work = std::mem::take(&mut waiting.work);
        (!work.is_empty() || !waiting.is_closed).then_some(work)
    }

    fn gathered<'a>(&self, waiting: MutexGuard<'a, Waiting>) -> MutexGuard<'a, Waiting> {
        let deadline = Instant::now() + GATHER;
        let mut waiting = waiting;
        while !waiting.is_urgent && !waiting.is_closed {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            waiting = self.changed.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        waiting
    }
}

fn waiting(work: &[Work]) -> Vec<SyncSender<Result<(), JournalError>>> {
    let waits = |it: &Work| match it {
        Work::Barrier { done } => Some(done.clone()),
        _ => None,
    };
    work.iter().filter_map(waits).collect()
}

fn steps(work: &[Work]) -> u64 {
    work.iter().filter(|it| matches!(it, Work::Append { .. })).count() as u64
}

/// The thread's own.
struct Desk<J> {
    journal: J,
    runs: HashMap<u64, RunId>,
    shared: Arc<Shared>,
    /// A store that fails keeps failing: the log hears of the first time.
    has_failed: bool,
}

/// Steps of one run that are written together.
#[derive(Default)]
struct Gathered {
    events: Vec<Recorded>,
    steps: u64,
}

impl<J: Journal> Desk<J> {
    /// Works until nobody can send any more, then makes sure that all is on disk. A store that panics loses what it was
    /// given; one that goes on doing so is not asked again.
    fn keep(mut self) {
        let shared = Arc::clone(&self.shared);
        let mut panics = 0;
        while panics < PANICS
            && let Some(work) = shared.take()
        {
            panics += u32::from(!self.survives(work));
        }
        let _ = catch_unwind(AssertUnwindSafe(|| {
            let flushed = self.journal.barrier();
            self.note(flushed);
        }));
        shared.end();
    }

    /// `false` when the store panicked.
    fn survives(&mut self, work: Vec<Work>) -> bool {
        let steps = steps(&work);
        // Whoever waits hears of a panic when these are dropped: once what was lost is counted.
        let waiting = waiting(&work);
        let survived = catch_unwind(AssertUnwindSafe(|| match work.is_empty() {
            true => {
                let tidied = self.journal.tidy();
                self.note(tidied);
            }
            false => self.work(work),
        }));
        if survived.is_err() {
            self.shared.lost.fetch_add(steps, Ordering::Relaxed);
            self.note::<()>(Err(fault_inside()));
        }
        drop(waiting);
        survived.is_ok()
    }

    /// Steps of one run become one write. Those of several runs have no order among them.
    fn work(&mut self, work: Vec<Work>) {
        let mut gathered = HashMap::<u64, Gathered>::new();
        let mut ended = Vec::new();
        for next in work {
            match next {
                Work::Begin { run, what } => {
                    let begun = self.journal.begin(&what);
                    if let Some(id) = self.note(begun) {
                        self.runs.insert(run, id);
                    }
                }
                Work::Append { run, mut events } => {
                    let of_run = gathered.entry(run).or_default();
                    of_run.events.append(&mut events);
                    of_run.steps += 1;
                }
                Work::End { run } => ended.push(run),
                Work::Barrier { done } => {
                    self.append_all(&mut gathered);
                    let _ = done.send(self.journal.barrier());
                }
            }
        }
        self.append_all(&mut gathered);
        self.end_all(&ended);
    }

    fn append_all(&mut self, gathered: &mut HashMap<u64, Gathered>) {
        for (run, Gathered { events, steps }) in gathered.drain() {
            let added = self.runs.get(&run).map(|id| self.journal.append(*id, &events));
            if added.and_then(|added| self.note(added)).is_none() {
                self.shared.lost.fetch_add(steps, Ordering::Relaxed);
            }
        }
    }

    /// Of all that end at once, with one flush.
    fn end_all(&mut self, ended: &[u64]) {
        for run in ended {
            if let Some(id) = self.runs.remove(run) {
                let ended = self.journal.end(id);
                self.note(ended);
            }
        }
        if !ended.is_empty() {
            let flushed = self.journal.barrier();
            self.note(flushed);
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
