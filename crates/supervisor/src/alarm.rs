//! The one sleep of a task, until its next deadline.

use ractor::ActorRef;
use supervisor_core::At;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use crate::task::TaskMessage;

/// Wakes the task. It is no actor: a mailbox costs more than all else that an idle task holds, and a sleep has none to be
/// flooded.
#[derive(Default)]
pub(crate) struct Alarm {
    at: Option<At>,
    sleep: Option<JoinHandle<()>>,
}

impl Alarm {
    /// Only a deadline that comes before the present alarm sets it anew: a call a second needs no timer a second.
    pub(crate) fn comes_before(&self, due: At) -> bool {
        self.at.is_some_and(|at| at <= due)
    }

    pub(crate) fn set(&mut self, due: At, moment: Instant, task: ActorRef<TaskMessage>) {
        self.clear();
        self.at = Some(due);
        self.sleep = Some(tokio::spawn(async move {
            sleep_until(moment).await;
            let _ = task.cast(TaskMessage::Wake);
        }));
    }

    /// It is over, or no longer wanted. One that is in the mailbox already wakes the task for nothing, once.
    pub(crate) fn clear(&mut self) {
        self.at = None;
        if let Some(sleep) = self.sleep.take() {
            sleep.abort();
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.clear();
    }
}
