//! A dialog that opened ends exactly once.

use std::collections::{BTreeSet, VecDeque};

use browser_model::DialogTruth;
use serde_json::Value;
use supervisor_core::dialog::{Dialogs, Source};
use supervisor_core::limits::MAX_RECENT_DIALOGS;
use supervisor_core::{DialogId, Epoch, Event, Recorded, Route, SessionId, State};

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
    /// Openings of native dialogs that became events, each as often as a session told it.
    taken_up: usize,
}

impl Ledger {
    pub(crate) fn enter(&mut self, events: &[Recorded]) {
        for recorded in events {
            match &recorded.event {
                Event::DialogOpened { id, dialog, .. } => {
                    self.taken_up += usize::from(dialog.source == Source::Native);
                    self.opened(*id);
                }
                Event::DialogSeenAgain { .. } => self.taken_up += 1,
                Event::DialogEnded { id, .. } => self.closed(*id),
                Event::BrowserReplaced => self.ended.clear(),
                _ => {}
            }
        }
    }

    fn opened(&mut self, id: DialogId) {
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

/// Each dialog that the machine was told of ended once, or is open. What only the guard tells comes on top.
///
/// # Panics
/// When that is not so.
pub fn add_up(world: &World) {
    let mut ledger = Ledger::default();
    ledger.enter(&world.events);
    ledger.agrees(&world.machine.state().dialogs);
    let has_guard = world.machine.state().guard.epoch != Epoch(0);
    let adds_up =
        if has_guard { ledger.taken_up >= world.openings } else { ledger.taken_up == world.openings };
    check("no dialog is lost", adds_up, || {
        format!("{} were taken up, {} were told of", ledger.taken_up, world.openings)
    });
}

/// A dialog that one of our connections can answer is pending, whichever of them it is.
///
/// # Panics
/// When it is not.
pub fn pending(world: &World) {
    let state = world.machine.state();
    let is_pending = |dialog: &DialogTruth| {
        let mut open = state.dialogs.open.values();
        open.any(|it| it.opening.page == dialog.page && it.opening.paused.is_none())
    };
    let truth = world.browser.truth();
    // A page whose session was taken away is not supervised any more.
    let is_ours = |it: &DialogTruth| it.answerable && truth.pages.contains_key(&it.page);
    let lost: Vec<_> = truth.dialogs.iter().filter(|it| is_ours(it) && !is_pending(it)).collect();
    check("what can be answered is pending", world.is_over() || lost.is_empty(), || format!("{lost:?}"));
}

/// When the browser has no dialog, none is believed to be there to be answered. Of one that nobody can answer, and whose frame
/// older browsers do not name, nobody is told when it goes.
///
/// # Panics
/// When one is.
pub fn no_ghosts(world: &World) {
    let open = &world.machine.state().dialogs.open;
    let is_sure = world.browser.truth().dialogs.is_empty() && !world.is_over();
    let ghosts: Vec<_> = open.iter().filter(|(_, open)| is_sure && open.is_answerable()).collect();
    check("no dialog is open that is not there", ghosts.is_empty(), || format!("{ghosts:?}"));
}

/// No script waits for an answer that it never gets: each request of the bridge was answered, or let go.
///
/// # Panics
/// When one does.
pub fn nobody_waits(world: &World) {
    let asking = world.browser.truth().asking;
    check("nobody waits for the bridge", asking.is_empty(), || format!("scripts of {asking:?} do"));
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
