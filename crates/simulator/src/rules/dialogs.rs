//! A dialog that opened ends exactly once.

use std::collections::{BTreeSet, VecDeque};

use serde_json::Value;
use supervisor_core::dialog::Dialogs;
use supervisor_core::limits::MAX_RECENT_DIALOGS;
use supervisor_core::{DialogId, Event, Recorded, Route, SessionId, State};

use crate::input::Owned;
use crate::rules::check;
use crate::world::World;

const RULE: &str = "a dialog ends exactly once";

/// The dialogs as their events tell of them.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    open: BTreeSet<DialogId>,
    /// The last that ended, oldest first.
    ended: VecDeque<DialogId>,
    last: Option<DialogId>,
    /// Openings that became events, each as often as a session told it.
    taken_up: usize,
}

impl Ledger {
    pub(crate) fn enter(&mut self, events: &[Recorded]) {
        for recorded in events {
            match &recorded.event {
                Event::DialogOpened { id, .. } => self.opened(*id),
                Event::DialogSeenAgain { .. } => self.taken_up += 1,
                Event::DialogEnded { id, .. } => self.closed(*id),
                Event::BrowserReplaced => self.ended.clear(),
                _ => {}
            }
        }
    }

    fn opened(&mut self, id: DialogId) {
        self.taken_up += 1;
        check(RULE, self.last < Some(id), || format!("{id} opened after {:?}", self.last));
        self.last = Some(id);
        self.open.insert(id);
    }

    fn closed(&mut self, id: DialogId) {
        check(RULE, self.open.remove(&id), || format!("{id} ended without being open"));
        self.ended.push_back(id);
        if self.ended.len() > MAX_RECENT_DIALOGS {
            self.ended.pop_front();
        }
    }

    /// What is open and what is remembered follows from the events.
    pub(crate) fn agrees(&self, dialogs: &Dialogs) {
        let is_open = dialogs.open.keys().eq(self.open.iter());
        check(RULE, is_open, || {
            format!("{:?} opened and did not end, {:?} are open", self.open, dialogs.open.keys())
        });
        let is_recent = dialogs.recent.iter().map(|closed| closed.id).eq(self.ended.iter().copied());
        check(RULE, is_recent, || {
            let recent: Vec<_> = dialogs.recent.iter().map(|closed| closed.id).collect();
            format!("{:?} ended last, {recent:?} are remembered", self.ended)
        });
    }
}

/// Each dialog that the machine was told of ended once, or is open.
///
/// # Panics
/// When that is not so.
pub fn add_up(world: &World) {
    let mut ledger = Ledger::default();
    ledger.enter(&world.events);
    ledger.agrees(&world.machine.state().dialogs);
    check("no dialog is lost", ledger.taken_up == world.openings, || {
        format!("{} were taken up, {} were told of", ledger.taken_up, world.openings)
    });
}

/// Whether this is the opening of a dialog, on a session that the machine has.
pub(crate) fn tells_of_one(state: &State, input: &Owned) -> bool {
    let text = input.text();
    if !text.contains("Page.javascriptDialogOpening") {
        return false;
    }
    let message: Value = serde_json::from_str(text).unwrap_or_default();
    let session = message["sessionId"].as_str().map(SessionId::from);
    state.sessions.get(&Route::from(session)).is_some()
}
