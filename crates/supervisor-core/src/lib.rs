//! Everything that decides, as a pure state machine.
//!
//! What happened outside is an [`Input`]; [`Machine::step`] turns it into [events](Event), the only things that change
//! the [`State`], and [effects](Effect), requests to the shell. Time is part of the input. The same inputs always give
//! the same events: that is what makes a recording replayable and every ordering testable.
//!
//! This crate is pure: no I/O, no clock, no randomness, no threads.

mod apply;
pub mod bridge;
pub mod call;
mod checkpoint;
mod connection;
pub mod console;
mod context;
pub mod deadlines;
pub mod dialog;
pub mod effect;
pub mod event;
mod failure;
mod flights;
pub mod frame;
pub mod guard;
mod holdings;
mod ids;
pub mod input;
pub mod limits;
mod machine;
mod message;
mod meters;
pub mod observe;
mod options;
mod page;
mod pairs;
mod perhaps;
mod reply;
#[cfg(feature = "schema")]
mod schema;
pub mod session;
mod shown;
pub mod snapshot;
pub mod state;
mod time;

pub use cdp_wire::page::DialogType;
pub use cdp_wire::{CommandId, FrameId, SessionId, TargetId};
pub use checkpoint::Checkpoint;
pub use console::Level as ConsoleLevel;
pub use effect::{Body, Effect, GuardEffect, Lane, Outcome};
pub use event::{Event, Recorded};
pub use failure::{CdpError, Code, Detail, Failure, JsException, Stage};
pub use flights::{Flights, InFlight, Purpose};
pub use holdings::Holdings;
pub use ids::{BadId, CallId, DialogId, EndpointKind, Epoch, Req, Route};
pub use input::{Action, Command, DialogChoice, GuardInput, Input, Net, Place, Remedy};
pub use machine::{Beginning, Machine, Step};
pub use meters::Meters;
pub use options::{Bridge, DialogPolicy, Options, Reconnect, Scope};
pub use page::{Blocked, Page, Pages};
pub use shown::Shown;
pub use snapshot::{ConsoleView, DialogView, FrameTree, FrameView, PageView, Snapshot, Status};
pub use state::State;
pub use time::At;
