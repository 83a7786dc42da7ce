//! What happened outside: the only way in.

use cdp_wire::{FrameId, TargetId};
use serde::{Deserialize, Serialize};

use crate::failure::Stage;
use crate::ids::{CallId, DialogId, EndpointKind, Epoch, Req};
use crate::options::Options;

/// One thing that happened outside.
#[derive(Debug, Clone, PartialEq)]
pub enum Input<'a> {
    /// The browser sent a text message.
    Received {
        /// The connection it came on.
        epoch: Epoch,
        /// The message, verbatim.
        text: &'a str,
    },
    /// Another client, which is observed, sent a command.
    Observed {
        /// The message, verbatim.
        text: &'a str,
    },
    /// The connection changed.
    Net(Net),
    /// The guard connection brings something.
    Guard(GuardInput<'a>),
    /// The host asks for something.
    Host {
        /// The number under which the answer goes back.
        req: Req,
        /// What it asks.
        command: Command,
    },
    /// Time passed; only deadlines are looked at.
    Tick,
}

/// What the guard connection brings. Its sockets are numbered apart from those of the main connection.
#[derive(Debug, Clone, PartialEq)]
pub enum GuardInput<'a> {
    /// The browser sent a text message on it.
    Received {
        /// The socket it came on.
        epoch: Epoch,
        /// The message, verbatim.
        text: &'a str,
    },
    /// It changed.
    Net(Net),
}

/// A change of a connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "net", rename_all = "snake_case")]
pub enum Net {
    /// The socket is open.
    Connected {
        /// Its number.
        epoch: Epoch,
        /// What its root is.
        endpoint: EndpointKind,
    },
    /// Which browser the socket that is about to be open leads to, as its URL says. Comes before [`Net::Connected`], where
    /// the URL says it.
    Named {
        /// The socket's number.
        epoch: Epoch,
        /// The part of the URL that no other browser has.
        browser: String,
    },
    /// The socket could not be opened.
    DialFailed {
        /// Its number.
        epoch: Epoch,
        /// How far it came.
        stage: Stage,
        /// Why, without secrets.
        reason: String,
        /// The HTTP status of a refused upgrade.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        http_status: Option<u16>,
    },
    /// The socket is gone.
    Lost {
        /// Its number.
        epoch: Epoch,
        /// Why, without secrets.
        reason: String,
    },
    /// A message arrived that is no text (binary, or not UTF-8).
    Garbage {
        /// The connection it came on.
        epoch: Epoch,
        /// Its length.
        bytes: usize,
    },
}

impl Net {
    /// The number of the socket that it is about.
    #[must_use]
    pub fn epoch(&self) -> Epoch {
        match self {
            Net::Connected { epoch, .. }
            | Net::Named { epoch, .. }
            | Net::DialFailed { epoch, .. }
            | Net::Lost { epoch, .. }
            | Net::Garbage { epoch, .. } => *epoch,
        }
    }
}

/// What a host asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Command {
    /// Connect; answered when the handshake is done or has failed.
    Start,
    /// Change the options.
    Configure {
        /// All of them.
        options: Box<Options>,
    },
    /// Answer a dialog.
    Respond {
        /// Which one.
        choice: DialogChoice,
        /// How.
        action: Action,
    },
    /// Send a CDP command.
    Call {
        /// Where to.
        place: Place,
        /// `Domain.command`.
        method: String,
        /// The JSON text of its parameters, an object.
        params: String,
        /// The deadline in milliseconds; none takes the task's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// Evaluate an expression in one frame's own document.
    Eval {
        /// The frame; none means the active page's top frame.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frame_id: Option<FrameId>,
        /// The expression.
        expression: String,
        /// Whether to wait for a promise.
        await_promise: bool,
        /// The deadline in milliseconds; none takes the task's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// Ask for the late result of a call that ended with `dialog_opened`.
    Result {
        /// Which call.
        call_id: CallId,
        /// How long to wait in milliseconds; none takes the task's default.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        timeout_ms: Option<u64>,
    },
    /// Free a page that is blocked by a dialog nobody can answer.
    Recover {
        /// The page.
        target_id: TargetId,
        /// How.
        remedy: Remedy,
    },
    /// The caller of this request is gone: its answer is no longer wanted.
    Cancel {
        /// The request.
        req: Req,
    },
    /// Answer what is open, then close.
    Stop,
}

/// Which dialog is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DialogChoice {
    /// This one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog_id: Option<DialogId>,
    /// The one on this page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_id: Option<TargetId>,
}

/// How a dialog is answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "snake_case")]
pub enum Action {
    /// OK. A prompt without a text gets the page's default text.
    Accept {
        /// What is typed into a prompt; an empty text stays empty.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt_text: Option<String>,
    },
    /// Cancel.
    Dismiss,
}

impl Action {
    /// Whether it accepts.
    #[must_use]
    pub fn accepts(&self) -> bool {
        matches!(self, Action::Accept { .. })
    }
}

/// Where a call goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// The active page.
    #[default]
    Active,
    /// A page, or an out-of-process iframe by its target.
    Target(TargetId),
    /// A frame.
    Frame(FrameId),
}

/// How a blocked page is freed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "remedy", rename_all = "snake_case")]
pub enum Remedy {
    /// Load the page again.
    Reload,
    /// Go elsewhere.
    Navigate {
        /// Where.
        url: String,
    },
    /// Close the page.
    Close,
}
