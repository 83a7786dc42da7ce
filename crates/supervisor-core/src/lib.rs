//! Everything that decides, as a pure state machine.
//!
//! What happened outside is an [`Input`]; [`Machine::step`] turns it into [events](Event), the only things that change
//! the [`State`], and [effects](Effect), requests to the shell. Time is part of the input. The same inputs always give
//! the same events: that is what makes a recording replayable and every ordering testable.
//!
//! This crate is pure: no I/O, no clock, no randomness, no threads.

mod apply;
mod attach;
mod blocking;
pub mod call;
mod call_rules;
mod connection;
pub mod console;
mod console_rules;
mod context;
pub mod deadlines;
pub mod dialog;
mod dialog_answer;
mod dialog_rules;
pub mod effect;
pub mod event;
mod failure;
pub mod frame;
mod frame_rules;
mod gone;
mod ids;
pub mod input;
mod late;
pub mod limits;
mod machine;
mod message;
mod meters;
mod options;
mod page;
mod purpose;
mod raw;
pub mod reach;
mod recover;
mod reply;
mod routing;
pub mod session;
mod shown;
pub mod snapshot;
pub mod state;
mod time;
mod view;

pub use cdp_wire::{CommandId, FrameId, SessionId, TargetId};
pub use console::Level as ConsoleLevel;
pub use effect::{Body, Effect, Lane, Outcome};
pub use event::{Event, Recorded};
pub use failure::{CdpError, Code, Detail, Failure, JsException, Stage};
pub use ids::{BadId, CallId, DialogId, EndpointKind, Epoch, Req, Route};
pub use input::{Action, Command, DialogChoice, Input, Net, Place, Remedy};
pub use machine::{Beginning, Machine, Step};
pub use meters::Meters;
pub use options::{DialogPolicy, Options, Reconnect, Scope};
pub use page::{Blocked, Page, Pages};
pub use purpose::{Flights, InFlight, Purpose};
pub use shown::Shown;
pub use snapshot::{ConsoleView, DialogView, FrameTree, FrameView, PageView, Snapshot, Status};
pub use state::State;
pub use time::At;
