//! What waits to be written to a socket: what is urgent comes before host calls.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

use supervisor_core::Lane;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::limits::{HOST_LANE, URGENT_LANE};

/// The way into the writer, for whoever has a turn. Cloning it costs nothing.
#[derive(Clone, Default)]
pub(crate) struct Lanes(Arc<Mutex<Queues>>);

#[derive(Default)]
struct Queues {
    urgent: VecDeque<Utf8Bytes>,
    host: VecDeque<Utf8Bytes>,
    /// Nothing more comes: what is urgent is written, then the socket is closed.
    closing: bool,
    /// Wakes the socket's task while it sleeps. While it works it looks by itself.
    sleeper: Option<Waker>,
}

/// The browser takes nothing: the lane is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneFull;

impl Lanes {
    /// # Errors
    /// [`LaneFull`]. A socket that is gone is no error: its loss is reported.
    pub(crate) fn send(&self, lane: Lane, text: Utf8Bytes) -> Result<(), LaneFull> {
        let mut queues = self.queues();
        let (queue, bound) = match lane {
            Lane::Urgent => (&mut queues.urgent, URGENT_LANE),
            Lane::Host => (&mut queues.host, HOST_LANE),
        };
        if queue.len() >= bound {
            return Err(LaneFull);
        }
        queue.push_back(text);
        wake(queues);
        Ok(())
    }

    /// After what is in the urgent lane, closes.
    pub(crate) fn close(&self) {
        let mut queues = self.queues();
        queues.closing = true;
        wake(queues);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.queues().closing
    }

    /// The next message to write: of the lane of host calls only where `host` allows it.
    pub(crate) fn next(&self, host: bool) -> Option<Utf8Bytes> {
        let mut queues = self.queues();
        let urgent = queues.urgent.pop_front();
        urgent.or_else(|| if host && !queues.closing { queues.host.pop_front() } else { None })
    }

    /// The socket's task works now: nobody has to wake it.
    pub(crate) fn awake(&self) {
        self.queues().sleeper = None;
    }

    /// The socket's task wants to sleep until there is something for it. `false` when there is already.
    pub(crate) fn sleep(&self, waker: &Waker) -> bool {
        let mut queues = self.queues();
        let is_idle = queues.urgent.is_empty() && queues.host.is_empty() && !queues.closing;
        queues.sleeper = Some(waker.clone());
        is_idle
    }

    fn queues(&self) -> MutexGuard<'_, Queues> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Never while the lanes are held: whoever wakes up looks into them.
fn wake(mut queues: MutexGuard<'_, Queues>) {
    let sleeper = queues.sleeper.take();
    drop(queues);
    if let Some(sleeper) = sleeper {
        sleeper.wake();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_that_takes_nothing_fills_the_lane() {
        let lanes = Lanes::default();
        for _ in 0..URGENT_LANE {
            lanes.send(Lane::Urgent, "x".into()).unwrap();
        }
        assert_eq!(lanes.send(Lane::Urgent, "x".into()), Err(LaneFull));
        for _ in 0..HOST_LANE {
            lanes.send(Lane::Host, "x".into()).unwrap();
        }
        assert_eq!(lanes.send(Lane::Host, "x".into()), Err(LaneFull));
    }

    #[test]
    fn once_it_closes_only_what_is_urgent_is_written() {
        let lanes = Lanes::default();
        lanes.send(Lane::Host, "call".into()).unwrap();
        lanes.send(Lane::Urgent, "answer".into()).unwrap();
        lanes.close();
        assert_eq!(lanes.next(true), Some("answer".into()));
        assert_eq!(lanes.next(true), None);
    }
}
