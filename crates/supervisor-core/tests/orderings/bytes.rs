//! Whatever a peer sends: no panic, and every moment is sound.

use proptest::collection::vec;
use proptest::prelude::*;
use supervisor_core::At;

use crate::check::assert_sound;
use crate::script::{LENGTH, Script, cases, scripts};
use crate::shares::Property;
use crate::world::{Owned, World};

/// How a message is spoilt.
#[derive(Debug, Clone)]
enum Spoil {
    /// Cut off.
    Cut(usize),
    /// One character is another one.
    Put(usize, char),
    /// It comes twice.
    Twice,
    /// One identifier is another one's.
    Swap(u8, u8),
    /// It never comes.
    Lose,
    /// Something else comes.
    Replace(String),
}

fn spoil() -> impl Strategy<Value = Spoil> {
    prop_oneof![
        any::<usize>().prop_map(Spoil::Cut),
        (any::<usize>(), any::<char>()).prop_map(|(at, c)| Spoil::Put(at, c)),
        Just(Spoil::Twice),
        any::<(u8, u8)>().prop_map(|(from, to)| Spoil::Swap(from, to)),
        Just(Spoil::Lose),
        ".{0,80}".prop_map(Spoil::Replace),
    ]
}

fn spoilt(text: &str, spoil: &Spoil) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let number = |n: u8| (b'1' + n % 6) as char;
    match spoil {
        Spoil::Cut(at) => vec![chars.iter().take(at % (chars.len() + 1)).collect()],
        Spoil::Put(at, c) => {
            let mut chars = chars;
            if let Some(place) = at.checked_rem(chars.len()).and_then(|at| chars.get_mut(at)) {
                *place = *c;
            }
            vec![chars.into_iter().collect()]
        }
        Spoil::Twice => vec![text.to_owned(), text.to_owned()],
        Spoil::Swap(from, to) => {
            let pairs = ["FRAME", "SESSION", "LOADER"]
                .map(|kind| (format!("{kind}{}", number(*from)), format!("{kind}{}", number(*to))));
            vec![pairs.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))]
        }
        Spoil::Lose => Vec::new(),
        Spoil::Replace(other) => vec![other.clone()],
    }
}

fn usual() -> ProptestConfig {
    cases(192, "tests/orderings/regressions/bytes.txt")
}

/// A recorded run is played again with spoilt messages.
#[test]
fn spoilt_messages_break_nothing() {
    let strategy = (scripts(LENGTH), vec((any::<u16>(), spoil()), 1..12));
    Property::new("spoilt_messages_break_nothing", usual()).holds(&strategy, |(script, spoils)| {
        let whole = World::run(&script);
        let tally = whole.browser.tally();
        play_spoilt(&script, &whole.into_inputs(), &spoils);
        Some(tally)
    });
}

fn play_spoilt(script: &Script, inputs: &[(At, Owned)], spoils: &[(u16, Spoil)]) {
    let mut world = World::new(script.config, script.seed);
    let count = inputs.len().max(1);
    for (index, (at, input)) in inputs.iter().enumerate().skip(2) {
        let hit = spoils.iter().find(|(place, _)| usize::from(*place) % count == index);
        let Owned::Received(epoch, text) = input else {
            world.machine.step(*at, input.borrow());
            continue;
        };
        let texts = hit.map_or_else(|| vec![text.clone()], |(_, spoil)| spoilt(text, spoil));
        for text in texts {
            world.note(|| format!("recv {text}"));
            let step = world.machine.step(*at, Owned::Received(*epoch, text).borrow());
            world.note(|| format!("     {:?}", step.events));
            assert_sound(&world);
        }
    }
}

/// Anything at all.
#[test]
fn no_text_breaks_the_machine() {
    let strategy = (scripts(LENGTH), vec(".{0,200}", 1..8));
    Property::new("no_text_breaks_the_machine", usual()).holds(&strategy, |(script, texts)| {
        let mut world = World::run(&script);
        let epoch = world.machine.state().connection.epoch;
        for text in texts {
            world.input(Owned::Received(epoch, text));
            assert_sound(&world);
        }
        Some(world.browser.tally())
    });
}
