//! What happens in a run, as data that shrinks well.

use std::time::Duration;

use browser_model::{Action, Config};

use crate::fault::Fault;
use crate::host::Ask;

/// One thing that happens in a run. Whatever it names is a small number, taken modulo how many there are: so every op
/// means something in every world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// Something happens in the browser.
    Act(Action),
    /// So many messages are delivered, either way; the world's seed says which.
    Deliver(u8),
    /// The host asks for something.
    Host(Ask),
    /// Time passes, and nothing is delivered meanwhile.
    Wait(Duration),
    /// Time passes, and what is on its way arrives at once.
    Idle(Duration),
    /// Something goes wrong.
    Fault(Fault),
}

/// One run.
#[derive(Debug, Clone)]
pub struct Script {
    /// The browser.
    pub config: Config,
    /// Decides the order of messages.
    pub seed: u64,
    /// What happens.
    pub ops: Vec<Op>,
}
