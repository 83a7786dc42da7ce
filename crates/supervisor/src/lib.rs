//! Holds one CDP connection per browser task: knows its dialogs and frames at every moment, answers, and never lets a call
//! hang without saying why.
//!
//! ```no_run
//! # async fn example() -> Result<(), supervisor::Failure> {
//! use supervisor::{Action, DialogChoice, Options, Supervisor};
//!
//! let supervisor = Supervisor::start();
//! let task = supervisor.get_or_start("shopping", "http://127.0.0.1:9222", Options::default()).await?;
//! if let Some(dialog) = task.snapshot().pending_dialogs.first() {
//!     println!("the page asks: {}", dialog.message);
//!     task.respond(DialogChoice::default(), Action::Accept { prompt_text: None }).await?;
//! }
//! supervisor.stop("shopping").await;
//! # Ok(())
//! # }
//! ```
//!
//! Hosts that are built of actors send [`RegistryMessage`]s to [`Supervisor::registry`] instead.
//!
//! What decides is in [`supervisor_core`]; here are the actors, the socket, and the handles. Texts that come from pages
//! (dialog messages, URLs, titles, results) are untrusted.

mod alarm;
mod answer;
mod backend;
mod connection;
mod counters;
mod crew;
mod dial;
mod endpoint;
mod events;
mod handle;
mod head;
mod holdings;
mod ids;
mod json;
mod knock;
mod lanes;
pub mod limits;
mod log;
mod loss;
mod merge;
mod network;
#[cfg(test)]
mod panics;
mod proxy;
mod proxy_choice;
mod pump;
mod raw;
mod recorder;
mod registry;
mod resolve;
#[cfg(test)]
mod rig;
mod roster;
mod secret;
mod seed;
mod session;
mod shell;
mod slot;
mod start;
mod tap;
mod task;
mod task_handle;
mod tcp;
mod tls;
mod wire;
mod wires;

pub use answer::{Answer, Answered, CallResult, EvalValue, LateResult};
pub use endpoint::Endpoint;
pub use events::{EventStream, Observed};
pub use handle::Supervisor;
pub use holdings::Holdings;
pub use ids::TaskId;
pub use json::Json;
pub use knock::knock;
pub use loss::{Loss, LossKind};
pub use merge::merge_into;
pub use network::{Network, Proxy};
pub use raw::RawSocket;
pub use recorder::{Recording, RecordingProgress, read_recording, recording_parts};
pub use registry::RegistryMessage;
pub use secret::Secret;
pub use start::{Connect, Connecting, Refresh, Renew, StartOptions, Stream};
pub use task_handle::{EvalOptions, Task};

pub use ractor;
pub use supervisor_core::{
    self, Action, Bridge, CallId, Code, Command, ConsoleView, DialogChoice, DialogId, DialogPolicy,
    DialogType, DialogView, EndpointKind, Event, Failure, FrameId, FrameTree, FrameView, Options, PageView,
    Place, Reconnect, Recorded, Remedy, Scope, SessionId, Snapshot, Stage, Status, TargetId,
};
pub use supervisor_journal as journal;
