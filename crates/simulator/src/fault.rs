//! What goes wrong on the way between browser and machine.
//!
//! Some faults are of the kind that a careful machine gets over without a scratch: connections break, dials fail, messages
//! take their time. Others no TCP connection would allow (messages lost, doubled, changed): there the machine may believe
//! what is not so, until it connects again, but it keeps all its other promises.

use std::time::Duration;

use supervisor_core::{Epoch, Net, Stage};

use crate::guard;
use crate::input::Owned;
use crate::wires::Way;
use crate::world::World;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// The next message of one way never arrives.
    Lose {
        /// Which way.
        way: u8,
    },
    /// The next message of one way arrives twice.
    Double {
        /// Which way.
        way: u8,
    },
    /// The next message of the browser arrives with another number in it.
    Change {
        /// Which way.
        way: u8,
        /// Which of its digits.
        at: u8,
        /// What stands there instead.
        digit: u8,
    },
    /// One way stands still.
    Hold {
        /// Which way.
        way: u8,
        /// For how long.
        time: Duration,
    },
    /// Something of an earlier connection arrives after all.
    Stale {
        /// Which message, or which news of the connection.
        nth: u8,
    },
    /// Something arrives that is no message.
    Noise {
        /// What.
        kind: u8,
    },
    /// The next dials fail.
    DialsFail {
        /// How many.
        times: u8,
    },
    /// Dials take their time from now on.
    SlowDials {
        /// How long.
        time: Duration,
    },
    /// The guard's connection breaks.
    LoseGuard,
    /// The browser dies and is started again.
    Kill,
}

/// What no browser says.
const NOISE: [&str; 8] = [
    "",
    "{}",
    "[]",
    "{\"id\":1,\"result\":{}}",
    "{\"id\":4000000,\"error\":{\"code\":-32000,\"message\":\"no\"}}",
    "{\"method\":\"Page.frameNavigated\",\"params\":{}}",
    "{\"method\":\"Page.javascriptDialogClosed\",\"params\":{\"result\":true,\"userInput\":\"\"},\"sessionId\":\"SESSION1.1\"}",
    "{\"method\":\"Target.attachedToTarget\",\"params\":{\"sessionId\":7",
];

pub(crate) fn strike(world: &mut World, fault: &Fault) {
    match fault {
        Fault::Lose { way } => lose(world, *way),
        Fault::Double { way } => double(world, *way),
        Fault::Change { way, at, digit } => change(world, *way, *at, *digit),
        Fault::Hold { way, time } => {
            let until = world.now.after(*time);
            if let Some(way) = world.nth_way(*way) {
                world.wires.hold(way, until);
            }
        }
        Fault::Stale { nth } => stale(world, *nth),
        Fault::Noise { kind } => noise(world, *kind),
        Fault::DialsFail { times } => world.wires.dials_fail = times % 4,
        Fault::SlowDials { time } => world.wires.dial_takes = *time,
        Fault::LoseGuard => guard::lose(world, "the socket was reset"),
        Fault::Kill => {
            world.browser.restart();
            world.lose_sockets();
        }
    }
}

/// The guard's connection is a real one: nothing is lost there as long as it is open.
fn main_way(world: &World, way: u8) -> Option<Way> {
    world.nth_way(way).filter(|way| way.is_main())
}

fn lose(world: &mut World, way: u8) {
    let Some(way) = main_way(world, way) else { return };
    world.wires.is_tainted = true;
    let text = match way {
        Way::GuardUp => None,
        Way::Up => world.wires.upload.pop_front().map(|(_, text)| text),
        Way::Down(source) => world.browser.emit(source),
    };
    world.note(|| format!("lost {}", text.unwrap_or_default()));
}

fn double(world: &mut World, way: u8) {
    let Some(way) = main_way(world, way) else { return };
    world.wires.is_tainted = true;
    match way {
        Way::GuardUp => {}
        Way::Up => {
            if let Some(first) = world.wires.upload.front().cloned() {
                world.wires.upload.push_front(first);
            }
        }
        Way::Down(source) => {
            let Some(text) = world.browser.emit(source) else { return };
            world.spoilt(text.clone());
            world.spoilt(text);
        }
    }
}

fn change(world: &mut World, way: u8, at: u8, digit: u8) {
    let Some(Way::Down(source)) = main_way(world, way) else { return };
    let Some(mut text) = world.browser.emit(source) else { return };
    world.wires.is_tainted = true;
    world.wires.is_forged = true;
    let digits: Vec<usize> =
        text.bytes().enumerate().filter(|(_, it)| it.is_ascii_digit()).map(|(at, _)| at).collect();
    if let Some(place) = digits.get(usize::from(at) % digits.len().max(1)) {
        text.replace_range(place..=place, &(digit % 10).to_string());
    }
    world.spoilt(text);
}

/// It must mean nothing: that is a rule, and looked at here.
fn stale(world: &mut World, nth: u8) {
    let Some(input) = stale_input(world, nth) else { return };
    // Deadlines that are due belong to the time, not to the message.
    world.input(Owned::Tick);
    world.input_without_effect(&input);
}

fn stale_input(world: &World, nth: u8) -> Option<Owned> {
    let current = world.machine.state().connection.epoch;
    let epoch = Epoch(current.0.checked_sub(1 + u32::from(nth % 3))?);
    let reason = "late".to_owned();
    Some(match nth % 8 {
        0 => Owned::Net(Net::Lost { epoch, reason }),
        1 => Owned::Net(Net::Connected { epoch, endpoint: supervisor_core::EndpointKind::Browser }),
        2 => Owned::Net(Net::DialFailed { epoch, stage: Stage::Tcp, reason, http_status: None }),
        3 => Owned::Net(Net::Garbage { epoch, bytes: 1 }),
        _ => {
            let (epoch, text) = world.wires.stale(current, nth)?;
            Owned::Received(epoch, text)
        }
    })
}

fn noise(world: &mut World, kind: u8) {
    let Some(epoch) = world.wires.epoch else { return };
    world.wires.is_tainted = true;
    match NOISE.get(usize::from(kind) % (NOISE.len() + 1)) {
        Some(text) => world.spoilt((*text).to_owned()),
        None => world.input(Owned::Net(Net::Garbage { epoch, bytes: 3 })),
    }
}
