//! Inputs that can be kept.

use supervisor_core::{Command, Epoch, GuardInput, Input, Net, Req};

/// An input that owns its text, so that a run can be repeated.
#[derive(Debug, Clone)]
pub enum Owned {
    /// The browser sent a message.
    Received(Epoch, String),
    /// The connection changed.
    Net(Net),
    /// The browser sent a message on the guard's connection.
    GuardReceived(Epoch, String),
    /// The guard's connection changed.
    GuardNet(Net),
    /// The host asks.
    Host(Req, Command),
    /// Time passed.
    Tick,
}

impl Owned {
    /// As the machine takes it.
    #[must_use]
    pub fn borrow(&self) -> Input<'_> {
        match self {
            Owned::Received(epoch, text) => Input::Received { epoch: *epoch, text },
            Owned::Net(net) => Input::Net(net.clone()),
            Owned::GuardReceived(epoch, text) => Input::Guard(GuardInput::Received { epoch: *epoch, text }),
            Owned::GuardNet(net) => Input::Guard(GuardInput::Net(net.clone())),
            Owned::Host(req, command) => Input::Host { req: *req, command: command.clone() },
            Owned::Tick => Input::Tick,
        }
    }

    /// The message of the main connection; empty when it is none.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Owned::Received(_, text) => text,
            _ => "",
        }
    }
}
