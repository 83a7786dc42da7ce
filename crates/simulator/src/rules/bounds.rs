//! Everything is bounded: the numbers of `supervisor_core::limits` hold.

use supervisor_core::State;
use supervisor_core::limits::{
    MAX_BRIDGE_DIALOGS, MAX_CALLS, MAX_CONSOLE_BYTES, MAX_CONSOLE_ENTRIES, MAX_CONTEXTS, MAX_DEFAULT_PROMPT,
    MAX_FRAMES, MAX_LATE_RESULTS, MAX_OWED, MAX_RECENT_DIALOGS, MAX_RECOVERIES, MAX_RESULT_WAITERS,
    MAX_SESSIONS, MAX_SHOWN_TEXT, MAX_STARTERS,
};

use crate::rules::check;

pub(crate) fn hold(state: &State) {
    within("sessions", state.sessions.len(), MAX_SESSIONS);
    within("frames", state.frames.len(), MAX_FRAMES);
    for (_, session) in state.sessions.iter() {
        within("execution contexts of a session", session.contexts.len(), MAX_CONTEXTS);
    }
    dialogs(state);
    calls(state);
    for ring in [&state.console.errors, &state.console.warnings] {
        within("console entries of a kind", ring.iter().count(), MAX_CONSOLE_ENTRIES);
        within(
            "bytes of console entries",
            ring.iter().map(|entry| entry.text.text.len()).sum(),
            MAX_CONSOLE_BYTES,
        );
    }
    // Each call, dialog and session has a few deadlines and a few commands in flight at most.
    let many = 16 * (1 + state.sessions.len() + state.frames.len() + state.dialogs.open.len());
    let calls = state.calls.open.len() + state.calls.late.len() + state.calls.waiters.len();
    let unexplained = state.deadlines.unexplained().count();
    within("ends without a reason yet", unexplained, MAX_RECENT_DIALOGS);
    within("deadlines", state.deadlines.len() - unexplained, many + 3 * calls);
}

fn dialogs(state: &State) {
    let dialogs = &state.dialogs;
    within("recent dialogs", dialogs.recent.len(), MAX_RECENT_DIALOGS);
    for (_, page) in state.pages.iter() {
        within("ends that are still to be told", page.slot.owed.len(), MAX_OWED);
    }
    let bridged = dialogs.open.values().filter(|open| open.opening.paused.is_some()).count();
    within("dialogs of the bridge", bridged, MAX_BRIDGE_DIALOGS);
    for opening in
        dialogs.open.values().map(|open| &open.opening).chain(dialogs.recent.iter().map(|it| &it.opening))
    {
        within("bytes of a dialog's message", opening.message.text.len(), MAX_SHOWN_TEXT);
        within("bytes of a default text", opening.default_prompt.len(), MAX_DEFAULT_PROMPT);
    }
}

fn calls(state: &State) {
    let calls = &state.calls;
    within("open calls", calls.open.len(), MAX_CALLS + MAX_RECOVERIES);
    within("requests to connect", state.connection.starters.len(), MAX_STARTERS);
    within("late results", calls.late.len(), MAX_LATE_RESULTS);
    within("late results in their order", calls.late_order.len(), calls.late.len());
    for waiter in calls.waiters.values() {
        within("requests that wait for a result", calls.waiting_for(waiter.call).count(), MAX_RESULT_WAITERS);
    }
}

fn within(what: &str, found: usize, bound: usize) {
    check("bounds hold", found <= bound, || format!("{found} {what}, at most {bound}"));
}
