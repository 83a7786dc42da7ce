//! Late results: each is fetched, so that none stays behind.

use std::sync::Arc;
use std::time::Duration;

use supervisor::{CallId, Code, Failure, Task};
use tokio::sync::Semaphore;
use tokio::time::sleep;

use super::agent::outcome;
use super::counts::Counts;

/// Late results that are waited for at once.
const FETCHES: usize = 32;

/// For each time that one is asked for.
const PATIENCE: Duration = Duration::from_secs(20);

/// Fetches the late results of one task.
#[derive(Clone)]
pub(super) struct Late {
    task: Task,
    counts: Counts,
    /// All places are free when nothing is being fetched.
    places: Arc<Semaphore>,
}

impl Late {
    pub(super) fn new(task: Task, counts: Counts) -> Self {
        Self { task, counts, places: Arc::new(Semaphore::new(FETCHES)) }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.places.available_permits() == FETCHES
    }

    /// Fetches what comes later, if something does, beside everything else.
    pub(super) async fn fetch_after<T>(&self, result: &Result<T, Failure>) {
        let Some(call) = result.as_ref().err().and_then(|failure| failure.detail.call_id) else { return };
        let Ok(place) = Arc::clone(&self.places).acquire_owned().await else { return };
        let (task, counts) = (self.task.clone(), self.counts.clone());
        tokio::spawn(async move {
            let fetched = fetched(&task, call).await;
            counts.add(format!("late result: {}", outcome(&fetched)));
            drop(place);
        });
    }
}

/// Until it is fetched: one that was given up would be kept for minutes.
async fn fetched(task: &Task, call: CallId) -> Result<(), Failure> {
    let mut timed_out = None;
    loop {
        match (task.result(call, Some(PATIENCE)).await, timed_out.take()) {
            // A dialog still holds it, or holds it anew.
            (Err(failure), _) if failure.code == Code::DialogOpened => {
                sleep(Duration::from_millis(100)).await;
            }
            // Either we waited in vain, or it is how the call ended: then nothing is left to fetch.
            (Err(failure), _) if failure.code == Code::Timeout => timed_out = Some(failure),
            (Err(failure), Some(ended)) if failure.code == Code::UnknownCall => return Err(ended),
            (fetched, _) => return fetched.map(drop),
        }
    }
}
