//! What must hold. A broken rule is a panic whose message begins with the rule: `rule: what was found`.

pub(crate) mod bounds;
pub mod dialogs;
pub(crate) mod epochs;
pub(crate) mod heard;
pub(crate) mod kept;
pub mod replayed;
pub mod residue;
pub(crate) mod resumed;
pub mod sound;
pub mod truth;

use crate::world::World;

/// Fails unless the rule holds.
#[track_caller]
pub(crate) fn check(rule: &str, holds: bool, found: impl FnOnce() -> String) {
    if !holds {
        panic!("{rule}: {}", found());
    }
}

/// What holds of the host's side after every step.
pub(crate) fn after_step(world: &World) {
    world.requests.in_time(world.now);
}
