//! When all pages have closed, all that hung on them is gone.

use std::time::Duration;

use browser_model::{Acted, Action};
use supervisor_core::Machine;

use crate::rules::check;
use crate::world::World;

/// Longer than the machine waits for what could still be said about a page that is gone.
const AFTERWARDS: Duration = Duration::from_secs(3);

/// Closes all pages of a world that has settled, and looks at what is left.
///
/// # Panics
/// When something is.
pub fn none_when_all_pages_close(world: &mut World) {
    while world.browser.act(Action::ClosePage { page: 0 }) == Acted::Done {}
    world.settle_for(AFTERWARDS);
    if !world.is_over() {
        none(&world.machine);
    }
}

/// Nothing is left of any page.
///
/// # Panics
/// When something is.
pub fn none(machine: &Machine) {
    let state = machine.state();
    nothing("pages", state.pages.is_empty(), &state.pages);
    nothing("frames", state.frames.is_empty(), &state.frames);
    nothing("sessions", state.sessions.is_empty(), &state.sessions);
    nothing("commands in flight", state.flights.is_empty(), &state.flights);
    let dialogs = &state.dialogs;
    nothing("dialogs", dialogs.open.is_empty() && dialogs.strays.is_empty(), dialogs);
    let calls = &state.calls;
    nothing("calls", calls.open.is_empty() && calls.by_req.is_empty(), calls);
}

fn nothing(what: &str, is_empty: bool, found: &impl std::fmt::Debug) {
    check("closed pages leave nothing", is_empty, || format!("{what}: {found:?}"));
}
