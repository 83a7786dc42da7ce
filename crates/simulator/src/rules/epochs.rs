//! Nothing of an earlier connection means anything.

use supervisor_core::{Effect, Machine};

use crate::rules::check;

/// `version`: how many events there were before.
pub(crate) fn holds(version: u64, effects: &[Effect], machine: &Machine) {
    let events = machine.state().history - version;
    check("nothing of an old epoch revives", events == 0 && effects.is_empty(), || {
        format!("{events} events and {effects:?}")
    });
}
