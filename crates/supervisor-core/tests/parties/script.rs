//! What a run does, as data that shrinks well.

use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;

/// One thing that happens in a run. Objects are small numbers, taken modulo how many there are.
#[derive(Debug, Clone)]
pub(crate) enum Op {
    /// A script asks.
    Ask { page: u8, iframe: bool },
    /// Another client answers what it can.
    Other { nth: u8, accept: bool },
    /// The host answers a dialog, one that has ended among them.
    Respond { nth: u8, accept: bool },
    /// So many messages are delivered, on any of the wires; the seed says which.
    Deliver(u8),
    /// Time passes.
    Wait(Duration),
    /// The main connection breaks.
    LoseMain,
    /// The guard's breaks.
    LoseGuard,
    /// Whether new main connections are refused.
    Refuse(bool),
    /// The policy is changed.
    Policy(u8),
    /// The guard is turned on or off.
    Guard(bool),
}

/// One run.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    pub(crate) seed: u64,
    pub(crate) ops: Vec<Op>,
}

pub(crate) fn scripts(length: usize) -> impl Strategy<Value = Script> {
    (any::<u64>(), vec(op(), 1..length)).prop_map(|(seed, ops)| Script { seed, ops })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => any::<(u8, bool)>().prop_map(|(page, iframe)| Op::Ask { page, iframe }),
        3 => any::<(u8, bool)>().prop_map(|(nth, accept)| Op::Other { nth, accept }),
        6 => any::<(u8, bool)>().prop_map(|(nth, accept)| Op::Respond { nth, accept }),
        9 => (1..10_u8).prop_map(Op::Deliver),
        3 => (0..1_500_u64).prop_map(|ms| Op::Wait(Duration::from_millis(ms))),
        2 => Just(Op::LoseMain),
        1 => Just(Op::LoseGuard),
        1 => any::<bool>().prop_map(Op::Refuse),
        1 => any::<u8>().prop_map(Op::Policy),
        1 => prop_oneof![3 => Just(true), 1 => Just(false)].prop_map(Op::Guard),
    ]
}
