//! While only the guard listens, a dialog that it hears of is pending at once: nobody else will tell of it, and when the main
//! connection is back it may have closed.

use serde_json::Value;
use supervisor_core::{Route, SessionId, TargetId};

use crate::input::Owned;
use crate::rules::check;
use crate::world::World;

/// The page on which a message opens a dialog, where the guard is the only one that listens and has nothing to catch up on.
/// Once there is another main socket, the two have to find out which of them tells.
pub(crate) fn before(world: &World, input: &Owned) -> Option<TargetId> {
    let state = world.machine.state();
    let is_honest = world.witness.is_some() && !world.wires.is_tainted;
    let is_alone = is_honest && world.wires.epoch.is_none() && !state.guard.is_catching_up();
    let Owned::GuardReceived(_, text) = input else { return None };
    let is_opening = is_alone && text.contains("\"Page.javascriptDialogOpening\"");
    let message: Value = serde_json::from_str(text).ok().filter(|_| is_opening)?;
    let session = message["sessionId"].as_str().map(SessionId::from);
    // A page whose session was taken away is not supervised any more.
    state.guard.page_of(&Route::from(session)).filter(|page| state.pages.get(page).is_some()).cloned()
}

/// It is pending now, if the page still has one that can be answered.
pub(crate) fn holds(world: &World, page: Option<&TargetId>) {
    let Some(page) = page.filter(|_| !world.is_over()) else { return };
    let mut open = world.machine.state().dialogs.open.values();
    let is_pending = open.any(|it| it.opening.page == *page && it.opening.paused.is_none());
    let dialogs = world.browser.truth().dialogs;
    let is_open = dialogs.iter().any(|it| it.page == *page && it.answerable);
    check("what only the guard hears is pending", is_pending || !is_open, || format!("{dialogs:?}"));
}
