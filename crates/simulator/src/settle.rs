//! Everything comes to rest, so that belief and truth can be compared.

use std::time::Duration;

use browser_model::Action;

use crate::world::World;

/// Longer than every deadline of the machine but those of calls and of late results.
pub const QUIET: Duration = Duration::from_secs(12);

/// Dialogs that people close one after the other: more would be a page that never stops.
const MOST_DIALOGS: usize = 100;

/// Nothing is under way any more: navigations have come, dialogs are closed, everything was delivered.
pub fn settle(world: &mut World) {
    world.wires.release_all();
    world.drain();
    world.browser.finish_all();
    world.settle_for(QUIET);
    free_pages(world);
    world.browser.finish_all();
    world.settle_for(QUIET);
}

/// People close what is open. What nobody can answer goes with its document.
fn free_pages(world: &mut World) {
    for _ in 0..MOST_DIALOGS {
        let truth = world.browser.truth();
        let Some(dialog) = truth.dialogs.first() else { return };
        if truth.dialogs.iter().any(|dialog| dialog.answerable) {
            world.act(Action::CloseDialog { nth: 0, accept: false });
        } else {
            world.browser.leave_page(&dialog.page.clone());
        }
        world.drain();
    }
}
