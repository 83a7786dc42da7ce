//! The same things happen, and their messages come in another order: the end is the same.

use std::collections::BTreeMap;

use browser_model::{Acted, Action, Config, Tally};
use proptest::collection::vec;
use proptest::prelude::*;
use supervisor_core::{FrameId, SessionId};

use crate::check::{Seen, assert_true, believed};
use crate::properties::settle;
use crate::script::{action, cases, episode};
use crate::shares::Property;
use crate::world::World;

/// What must not depend on the order in which sources spoke.
#[derive(Debug, PartialEq)]
struct Outcome {
    frames: BTreeMap<FrameId, Seen>,
    sessions: Vec<Option<SessionId>>,
    calls: usize,
}

fn outcome(config: Config, batches: &[Vec<Action>], seed: u64) -> (Vec<Acted>, Outcome, Tally) {
    let mut world = World::new(config, seed);
    world.drain();
    let mut acted = Vec::new();
    for batch in batches {
        acted.extend(batch.iter().map(|action| world.act(*action)));
        world.drain();
    }
    settle(&mut world);
    assert_true(&world);
    let mut frames = believed(&world);
    // Of what died, how much was heard before is chance.
    frames.retain(|_, frame| !frame.crashed);
    // A frame that never committed has a name where somebody happened to list it.
    for frame in frames.values_mut().filter(|frame| frame.url.is_empty()) {
        frame.name.clear();
    }
    // A page that can neither stay nor go tells nothing any more.
    let truth = world.browser.truth();
    frames.retain(|_, frame| truth.pages.get(&frame.page).is_none_or(|page| !page.is_stuck()));
    let sessions =
        world.machine.state().sessions.iter().map(|(route, _)| route.session_id().cloned()).collect();
    let outcome = Outcome { frames, sessions, calls: world.machine.state().calls.open.len() };
    (acted, outcome, world.browser.tally())
}

fn batches() -> impl Strategy<Value = Vec<Vec<Action>>> {
    let one_by_one = episode().prop_map(|actions| actions.into_iter().map(|it| vec![it]).collect());
    let part = prop_oneof![
        8 => vec(action(), 1..6).prop_map(|batch| vec![batch]),
        1 => one_by_one,
    ];
    vec(part, 1..12).prop_map(|parts: Vec<Vec<Vec<Action>>>| parts.concat())
}

/// Batches of actions happen at once; between two batches everything is said, in one order or in another.
#[test]
fn the_end_does_not_depend_on_the_order() {
    let strategy = (0..1_u16 << 11, batches(), any::<(u64, u64)>());
    let config = cases(192, "tests/orderings/regressions/interleaving.txt");
    Property::new("the_end_does_not_depend_on_the_order", config).holds(
        &strategy,
        |(bits, batches, seeds)| {
            let config = Config::from_bits(bits);
            let (first, second) = (outcome(config, &batches, seeds.0), outcome(config, &batches, seeds.1));
            // What a client could do in time may decide whether something is possible at all: then other things happened.
            if first.0 != second.0 {
                return None;
            }
            assert_eq!(first.1, second.1);
            Some(first.2)
        },
    );
}
