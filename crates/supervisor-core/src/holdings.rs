//! How much a task holds.

use serde::{Deserialize, Serialize};

use crate::state::State;

/// How many records of each kind a task holds at one moment: whoever watches it for long sees that nothing piles up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holdings {
    /// Pages.
    pub pages: usize,
    /// Frames, those of all pages.
    pub frames: usize,
    /// Attached sessions.
    pub sessions: usize,
    /// Execution contexts, those of all sessions.
    pub contexts: usize,
    /// Commands that were not answered.
    pub flights: usize,
    /// Calls of the host that have not ended.
    pub calls: usize,
    /// Late results that are kept for the host.
    pub late_results: usize,
    /// Requests for late results.
    pub waiters: usize,
    /// Dialogs that have not ended.
    pub open_dialogs: usize,
    /// Dialogs that have ended and are shown.
    pub recent_dialogs: usize,
    /// Answers that may have gone astray.
    pub stray_answers: usize,
    /// Console entries.
    pub console_entries: usize,
    /// What is known of the elements of iframes, for the bridge.
    pub bridge_elements: usize,
    /// Requests of the bridge that wait until it is known whether they may ask.
    pub bridge_held: usize,
    /// Pages that showed a dialog when the connection was lost.
    pub orphaned_pages: usize,
    /// Deadlines.
    pub deadlines: usize,
    /// Those of them that are over within seconds when nothing happens any more.
    pub passing_deadlines: usize,
}

impl Holdings {
    pub(crate) fn of(state: &State) -> Self {
        let console = &state.console;
        Self {
            pages: state.pages.len(),
            frames: state.frames.len(),
            sessions: state.sessions.len(),
            contexts: state.sessions.iter().map(|(_, session)| session.contexts.len()).sum(),
            flights: state.flights.len(),
            calls: state.calls.open.len(),
            late_results: state.calls.late.len(),
            waiters: state.calls.waiters.len(),
            open_dialogs: state.dialogs.open.len(),
            recent_dialogs: state.dialogs.recent.len(),
            stray_answers: state.dialogs.strays.len(),
            console_entries: console.errors.iter().count() + console.warnings.iter().count(),
            bridge_elements: state.bridge.elements.len(),
            bridge_held: state.bridge.held.len(),
            orphaned_pages: state.connection.orphaned.len(),
            deadlines: state.deadlines.len(),
            passing_deadlines: state.deadlines.passing(),
        }
    }
}
