//! Everything comes to rest, so that belief and truth can be compared.

use std::time::Duration;

use browser_model::Action;
use supervisor_core::{Action as Answer, Command, DialogChoice, DialogId};

use crate::rules;
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
    if world.witness.is_some() && !world.wires.is_tainted {
        rules::dialogs::pending(world);
    }
    free_pages(world);
    world.browser.finish_all();
    world.settle_for(QUIET);
}

/// People close what is open. What nobody can answer goes with its document.
fn free_pages(world: &mut World) {
    for _ in 0..MOST_DIALOGS {
        if let Some(id) = bridged(world) {
            let choice = DialogChoice { dialog_id: Some(id), target_id: None };
            world.ask(Command::Respond { choice, action: Answer::Dismiss });
            world.drain();
            continue;
        }
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

/// A dialog of the bridge: only the host can answer it.
fn bridged(world: &World) -> Option<DialogId> {
    let mut open = world.machine.state().dialogs.open.iter();
    open.find(|(_, open)| open.opening.paused.is_some() && open.answer().is_none()).map(|(id, _)| *id)
}
