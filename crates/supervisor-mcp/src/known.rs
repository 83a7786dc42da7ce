//! What is known of tasks beside what the supervisor knows.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use supervisor::{Code, Failure, Status, Task, TaskId};

use crate::limits::MAX_TASKS;
use crate::wish::Wanted;

/// What is known of a task beside what the supervisor knows.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) wanted: Option<Wanted>,
    /// Why it has no browser.
    pub(crate) why: Option<String>,
    /// The binding that is being watched.
    pub(crate) watched: Option<Task>,
}

/// A task without a browser.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Absence {
    /// `not_connected`, or `failed` when the connection was lost for good.
    pub(crate) status: Status,
    /// Why.
    pub(crate) reason: String,
}

/// Whether it has one, or is getting it back.
pub(crate) fn has_browser(task: &Task) -> bool {
    matches!(task.snapshot().status.status, Status::Connected | Status::Reconnecting)
}

/// Forgets the reasons of tasks that have no browser before it refuses a new one.
pub(crate) fn make_room(known: &mut BTreeMap<TaskId, Known>, task_id: &TaskId) -> Result<(), Failure> {
    if known.len() < MAX_TASKS || known.contains_key(task_id) {
        return Ok(());
    }
    known.retain(|_, known| known.watched.as_ref().is_some_and(has_browser));
    if known.len() < MAX_TASKS {
        return Ok(());
    }
    let why = format!("{MAX_TASKS} tasks are connected already; end one of them by browser_disconnect");
    Err(Failure::new(Code::Refused, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reasons_of_tasks_without_a_browser_make_room_for_new_ones() {
        let name = |n: usize| TaskId::from(format!("t{n}"));
        let mut known: BTreeMap<_, _> = (0..MAX_TASKS).map(|n| (name(n), Known::default())).collect();
        make_room(&mut known, &name(0)).unwrap();
        assert_eq!(known.len(), MAX_TASKS, "a task that is known needs no room");
        make_room(&mut known, &name(MAX_TASKS)).unwrap();
        assert!(known.is_empty());
    }
}
