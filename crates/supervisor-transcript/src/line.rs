//! What the lines of a recording mean.

use std::borrow::Cow;

use supervisor_core::{At, Command, Epoch, GuardInput, Input, Net, Req};

use crate::header::Header;

/// One line after the header: something that happened, and when.
#[derive(Debug, Clone, PartialEq)]
pub struct Line<'a> {
    /// When, exactly as the machine was told.
    pub at: At,
    /// What.
    pub entry: Entry<'a>,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry<'a> {
    /// `recv`: the browser sent a message.
    Recv {
        /// The connection it came on.
        epoch: Epoch,
        /// The message, verbatim.
        text: Cow<'a, str>,
    },
    /// `send`: the machine sent a message. A replay compares it and does not feed it.
    Send {
        /// The message, verbatim.
        text: Cow<'a, str>,
    },
    /// `host`: the host asked for something.
    Host {
        /// Under which number.
        req: Req,
        /// What.
        command: Command,
    },
    /// `net`: the connection changed.
    Net(Net),
    /// With `conn` `guard`: the same on the guard connection.
    Guard(GuardEntry<'a>),
    /// `tick`: the machine was woken because a deadline passed.
    Tick,
    /// `lost`: the recorder could not keep up, and lines are missing here.
    Lost {
        /// How many.
        lines: u64,
    },
    /// `checkpoint`: all that the machine knew. A replay goes on from here where it does not know what came before.
    Checkpoint {
        /// The connection at that time.
        epoch: Epoch,
        /// The checkpoint as JSON; what is in it is the business of the version that wrote it.
        json: Cow<'a, str>,
    },
    /// The header of the next part of the recording.
    Part(Box<Header>),
}

/// What happened on the guard connection.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardEntry<'a> {
    /// `recv`: the browser sent a message on it.
    Recv {
        /// The guard's socket it came on; they are numbered apart.
        epoch: Epoch,
        /// The message, verbatim.
        text: Cow<'a, str>,
    },
    /// `send`: the machine sent a message on it.
    Send {
        /// The message, verbatim.
        text: Cow<'a, str>,
    },
    /// `net`: it changed.
    Net(Net),
}

impl Line<'_> {
    /// The line without the values of cookies and of `Authorization` headers, which no recording holds.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        crate::secrets::without(self)
    }

    /// The input that an observer is given: what was said in either direction.
    #[must_use]
    pub fn observed(&self) -> Option<Input<'_>> {
        match &self.entry {
            Entry::Recv { epoch, text } => Some(Input::Received { epoch: *epoch, text }),
            Entry::Send { text } => Some(Input::Observed { text }),
            _ => None,
        }
    }

    /// The input that the machine was given; `None` for what is none: `send`, `lost`, a checkpoint, the header of a part.
    #[must_use]
    pub fn input(&self) -> Option<Input<'_>> {
        Some(match &self.entry {
            Entry::Recv { epoch, text } => Input::Received { epoch: *epoch, text },
            Entry::Send { .. } | Entry::Lost { .. } | Entry::Checkpoint { .. } | Entry::Part(_) => {
                return None;
            }
            Entry::Host { req, command } => Input::Host { req: *req, command: command.clone() },
            Entry::Net(net) => Input::Net(net.clone()),
            Entry::Guard(GuardEntry::Send { .. }) => return None,
            Entry::Guard(GuardEntry::Recv { epoch, text }) => {
                Input::Guard(GuardInput::Received { epoch: *epoch, text })
            }
            Entry::Guard(GuardEntry::Net(net)) => Input::Guard(GuardInput::Net(net.clone())),
            Entry::Tick => Input::Tick,
        })
    }
}
