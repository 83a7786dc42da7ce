//! What waits to be written. Events become bytes on the thread that they came from: what is handed over is small, and what
//! they were made of is given back where it was taken.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use supervisor_core::Recorded;

use crate::error::JournalError;
use crate::packed::{Block, Packer};
use crate::port::Run;

/// Events that may wait to be written, some sixty bytes each. A page that does nothing but add and remove iframes makes some
/// hundred thousand a second, so this is a good part of a second in which the disk may stall; beyond it steps are lost and
/// counted.
pub const QUEUE: usize = 64 * 1_024;

/// So many are written without gathering further.
const MANY: usize = QUEUE / 4;

/// How long the thread gathers once there is something to write. What a crash of the process loses is little more than what
/// the store itself has not written yet.
const GATHER: Duration = Duration::from_millis(50);

/// How often the journal lets go of what is too old while nothing is added to it.
const TIDY_EVERY: Duration = Duration::from_secs(60 * 60);

/// Something to do. Events are a pile until the thread takes them.
pub(crate) enum Work<E = Arc<Mutex<Pile>>> {
    Begin { run: u64, what: Run },
    Append { run: u64, events: E },
    End { run: u64 },
    Barrier { done: SyncSender<Result<(), JournalError>> },
}

/// One run's events that wait.
#[derive(Debug, Default)]
pub(crate) struct Pile {
    packer: Packer,
    events: usize,
    steps: u64,
}

/// What lay on a pile.
#[derive(Default)]
pub(crate) struct Taken {
    pub(crate) blocks: Vec<Block>,
    pub(crate) steps: u64,
}

#[derive(Default)]
pub(crate) struct Shared {
    waiting: Mutex<Waiting>,
    changed: Condvar,
    /// On all piles.
    events: AtomicUsize,
    lost: AtomicU64,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("lost", &self.lost).finish_non_exhaustive()
    }
}

/// What there is to do, in the order in which it came.
#[derive(Default)]
struct Waiting {
    work: Vec<Work>,
    /// Whether the thread sleeps until there is something: then it has to be woken.
    is_idle: bool,
    /// Whether somebody waits for it to be written, or there is much: then nothing is gathered.
    is_urgent: bool,
    is_closed: bool,
    /// Whether the thread has ended: nothing is taken in any more.
    is_over: bool,
}

impl Shared {
    /// Puts the events of some steps on a pile; those for which there is no room are lost.
    pub(crate) fn pile_up(&self, run: u64, pile: &Arc<Mutex<Pile>>, events: &[Recorded]) {
        let before = self.events.fetch_add(events.len(), Ordering::Relaxed);
        let after = before + events.len();
        if after > QUEUE {
            self.events.fetch_sub(events.len(), Ordering::Relaxed);
            self.lose(1);
            return;
        }
        if lock(pile).add(events) {
            self.put(Work::Append { run, events: Arc::clone(pile) });
        }
        if before < MANY && after >= MANY {
            self.hurry();
        }
    }

    /// It is little but for what is piled up: a run begins and ends once, and whoever waits, waits.
    pub(crate) fn put(&self, work: Work) {
        let mut waiting = self.waiting();
        if waiting.is_over {
            drop(waiting);
            // Whoever waits is told by what is dropped here.
            return self.lose(steps(&[self.taken(work)]));
        }
        waiting.is_urgent |= matches!(work, Work::Barrier { .. });
        waiting.work.push(work);
        self.wake(waiting);
    }

    fn hurry(&self) {
        let mut waiting = self.waiting();
        waiting.is_urgent = true;
        self.wake(waiting);
    }

    fn wake(&self, mut waiting: MutexGuard<'_, Waiting>) {
        if waiting.is_idle || waiting.is_urgent {
            waiting.is_idle = false;
            drop(waiting);
            self.changed.notify_one();
        }
    }

    /// Nobody can send any more.
    pub(crate) fn close(&self) {
        self.waiting().is_closed = true;
        self.changed.notify_one();
    }

    /// The thread is gone: what waits for it is lost, and what comes later.
    pub(crate) fn end(&self) {
        let mut waiting = self.waiting();
        waiting.is_over = true;
        let left = std::mem::take(&mut waiting.work);
        drop(waiting);
        let left: Vec<_> = left.into_iter().map(|work| self.taken(work)).collect();
        self.lose(steps(&left));
    }

    /// Counts steps that will not be written.
    pub(crate) fn lose(&self, steps: u64) {
        self.lost.fetch_add(steps, Ordering::Relaxed);
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        lock(&self.waiting)
    }

    /// What there is to do, once it was gathered; nothing when it is time to tidy. `None` when nobody can send any more.
    pub(crate) fn take(&self) -> Option<Vec<Work<Taken>>> {
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
        waiting.is_urgent = false;
        let work = std::mem::take(&mut waiting.work);
        let goes_on = !work.is_empty() || !waiting.is_closed;
        drop(waiting);
        goes_on.then(|| work.into_iter().map(|work| self.taken(work)).collect())
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

    /// Takes what lies on a pile, where the work is that.
    fn taken(&self, work: Work) -> Work<Taken> {
        match work {
            Work::Append { run, events } => {
                let Pile { mut packer, events, steps } = std::mem::take(&mut *lock(&events));
                self.events.fetch_sub(events, Ordering::Relaxed);
                Work::Append { run, events: Taken { blocks: packer.take(), steps } }
            }
            Work::Begin { run, what } => Work::Begin { run, what },
            Work::End { run } => Work::End { run },
            Work::Barrier { done } => Work::Barrier { done },
        }
    }
}

impl Pile {
    /// Says whether nothing lay there before.
    fn add(&mut self, events: &[Recorded]) -> bool {
        let is_first = self.steps == 0;
        events.iter().for_each(|event| self.packer.push(event));
        self.events += events.len();
        self.steps += 1;
        is_first
    }
}

/// How many steps are in it.
pub(crate) fn steps(work: &[Work<Taken>]) -> u64 {
    let steps = |it: &Work<Taken>| if let Work::Append { events, .. } = it { events.steps } else { 0 };
    work.iter().map(steps).sum()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
