//! Where the next binding of a task begins, so that within a process no id is ever used twice.

use std::collections::{HashMap, VecDeque};

use supervisor_core::{CallId, DialogId, Epoch};

use crate::ids::TaskId;
use crate::limits::REMEMBERED_TASKS;

/// The first dialog id, the first call id, the last epoch.
pub(crate) type Ids = (DialogId, CallId, Epoch);

/// The counters of tasks that have ended.
pub(crate) struct Counters {
    by_task: HashMap<TaskId, Ids>,
    order: VecDeque<TaskId>,
    /// Above all that were forgotten: where a task begins that is not remembered.
    floor: Ids,
}

impl Default for Counters {
    fn default() -> Self {
        Self { by_task: HashMap::new(), order: VecDeque::new(), floor: (DialogId(1), CallId(1), Epoch(0)) }
    }
}

impl Counters {
    pub(crate) fn of(&self, task: &TaskId) -> Ids {
        self.by_task.get(task).copied().unwrap_or(self.floor)
    }

    pub(crate) fn remember(&mut self, task: &TaskId, ids: Ids) {
        if self.by_task.insert(task.clone(), ids).is_none() {
            self.order.push_back(task.clone());
        }
        while self.by_task.len() > REMEMBERED_TASKS {
            let Some(oldest) = self.order.pop_front() else { break };
            self.forget(&oldest);
        }
    }

    fn forget(&mut self, task: &TaskId) {
        if let Some(ids) = self.by_task.remove(task) {
            self.floor = (self.floor.0.max(ids.0), self.floor.1.max(ids.1), self.floor.2.max(ids.2));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(n: u64) -> Ids {
        (DialogId(n), CallId(n + 1), Epoch(3))
    }

    #[test]
    fn a_task_goes_on_where_it_ended() {
        let mut counters = Counters::default();
        assert_eq!(counters.of(&"a".into()), (DialogId(1), CallId(1), Epoch(0)));
        counters.remember(&"a".into(), ids(7));
        assert_eq!(counters.of(&"a".into()), ids(7));
        assert_eq!(counters.of(&"b".into()), (DialogId(1), CallId(1), Epoch(0)));
    }

    #[test]
    fn beyond_remembered_tasks_no_id_comes_again() {
        let mut counters = Counters::default();
        for n in 0..=REMEMBERED_TASKS {
            counters.remember(&TaskId::from(n.to_string()), ids(if n == 0 { 500 } else { 2 }));
        }
        assert_eq!(counters.by_task.len(), REMEMBERED_TASKS);
        assert_eq!(counters.of(&"0".into()), ids(500));
        assert_eq!(counters.of(&"new".into()), ids(500));
        assert_eq!(counters.of(&"1".into()), ids(2));
    }
}
