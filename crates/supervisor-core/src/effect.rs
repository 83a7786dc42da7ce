//! What the core asks of the shell.

use std::ops::Range;

use cdp_wire::{FrameId, SessionId};

use crate::failure::Failure;
use crate::ids::{CallId, Epoch, Req, Route};
use crate::snapshot::DialogView;

/// A request to the shell. It is carried out in order and answered, if at all, by an input.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// Open a socket to the task's endpoint; answered by `Connected` or `DialFailed`.
    Dial {
        /// Its number.
        epoch: Epoch,
    },
    /// Close the socket, after what is in the urgent lane was written.
    HangUp {
        /// Its number.
        epoch: Epoch,
    },
    /// Write a command to the socket.
    Send {
        /// Which lane of the writer.
        lane: Lane,
        /// The whole message.
        text: String,
    },
    /// Hand the reply port of this request to the session's actor: it is answered from there.
    Park {
        /// The request.
        req: Req,
        /// The session.
        route: Route,
    },
    /// Answer a request.
    Reply {
        /// The request.
        req: Req,
        /// The session whose actor has the port; none when it was never parked.
        parked: Option<Route>,
        /// The answer.
        outcome: Outcome,
    },
    /// Keep a late result until it is served or dropped.
    Keep {
        /// The session whose actor keeps it.
        route: Route,
        /// The call.
        call: CallId,
        /// The result.
        outcome: Outcome,
    },
    /// Answer a request with a late result that is kept, and forget the result.
    Serve {
        /// The session whose actor keeps it.
        route: Route,
        /// The call.
        call: CallId,
        /// The request.
        req: Req,
    },
    /// Forget a late result.
    Drop {
        /// The session whose actor keeps it.
        route: Route,
        /// The call.
        call: CallId,
    },
    /// The session is over and nothing is parked or kept there: its actor may go.
    Retire {
        /// The session.
        route: Route,
    },
    /// The same for the guard connection.
    Guard(GuardEffect),
    /// The task has ended; nothing more will come.
    Ended,
}

/// A request to the shell about the guard connection: a second socket to the task's endpoint.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardEffect {
    /// Open a socket; answered by `Connected` or `DialFailed`.
    Dial {
        /// Its number.
        epoch: Epoch,
    },
    /// Close the socket, after what waits to be written was.
    HangUp {
        /// Its number.
        epoch: Epoch,
    },
    /// Write a command to it.
    Send {
        /// The whole message.
        text: String,
    },
}

/// The two lanes of the writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lane {
    /// Answers to dialogs, and what a paused target waits for: before anything in the other lane.
    Urgent,
    /// Host calls.
    Host,
}

/// How a request ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Done, and there is nothing to say.
    Done,
    /// A dialog was answered.
    Answered {
        /// Whether it was accepted.
        accepted: bool,
        /// The dialog as it ended.
        dialog: Box<DialogView>,
        /// The one that opened on the same page since.
        next: Option<Box<DialogView>>,
    },
    /// The browser's result.
    Result {
        /// The result.
        body: Body,
        /// The frame that the call was for.
        frame_id: Option<FrameId>,
        /// The session it went over.
        session_id: Option<SessionId>,
    },
    /// The value of an expression.
    Value {
        /// Its JSON text.
        body: Body,
        /// The JavaScript type: `string`, `number`, `undefined`, …
        kind: String,
    },
    /// It failed.
    Failed(Failure),
}

/// JSON text that is part of the current input's message, or short enough to be made here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// A byte range of the message that is being handled: the shell slices it without a copy.
    Slice(Range<usize>),
    /// The text itself.
    Text(String),
}
