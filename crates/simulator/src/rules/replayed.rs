//! The recording of a run gives the same events, the same messages and the same snapshot; its beginnings, those of then.

use supervisor_transcript::{Replayed, check as checked, drive};

use crate::rules::check;
use crate::world::World;

const RULE: &str = "a replay is the live run";
const PREFIX: &str = "the beginning of a recording gives the state of then";

/// Replays what was recorded. Without a recording nothing is looked at.
///
/// # Panics
/// When it is not the same.
pub fn holds(world: &mut World) {
    let snapshot = world.machine.snapshot();
    let Some(witness) = &world.witness else { return };
    let replayed = whole(&witness.recording);
    let first = world.events.iter().zip(&replayed.events).position(|(live, again)| live != again);
    check(RULE, first.is_none(), || {
        let pair = first.map(|at| (&world.events[at], &replayed.events[at]));
        format!("live and replayed are {pair:?}")
    });
    let (live, again) = (world.events.len(), replayed.events.len());
    check(RULE, live == again, || format!("{live} events live, {again} replayed"));
    check(RULE, replayed.snapshot == snapshot, || "the snapshots differ".to_owned());
    check(RULE, replayed.counts.faults.is_empty(), || format!("{:?}", replayed.counts.faults));
    for mark in [witness.marks.first(), witness.marks.last()].into_iter().flatten() {
        let part = match drive(&witness.recording[..mark.bytes]) {
            Ok(part) => part,
            Err(error) => panic!("{PREFIX}: {error}"),
        };
        let is_same = part.events == world.events[..mark.events] && part.snapshot == mark.snapshot;
        check(PREFIX, is_same, || format!("after {} events", mark.events));
    }
}

fn whole(recording: &[u8]) -> Replayed {
    match checked(recording) {
        Ok(replayed) => replayed,
        Err(error) => panic!("{RULE}: {error}"),
    }
}
