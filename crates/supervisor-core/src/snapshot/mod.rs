//! The snapshot: a view of the state, as hosts read it.
//!
//! Its sections are shared, so that building a new one costs what changed. The names and shapes are part of the contract
//! with hosts: fields are only added.

mod crowd;
mod dialog;
mod guard;
mod tree;
pub(crate) mod view;

use std::sync::Arc;

use cdp_wire::{FrameId, SessionId, TargetId};
use serde::{Deserialize, Serialize};

use crate::ids::DialogId;
use crate::meters::Meters;

pub use dialog::DialogView;
pub use guard::{GuardState, GuardView};

/// What is known about a task at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// Dialogs that wait for an answer, oldest first.
    pub pending_dialogs: Arc<Vec<DialogView>>,
    /// The last dialogs that ended, oldest first.
    pub recent_dialogs: Arc<Vec<DialogView>>,
    /// The active page's frames.
    pub frame_tree: Arc<FrameTree>,
    /// The connection.
    #[serde(flatten)]
    pub status: Arc<StatusView>,
    /// All pages, in the order in which they were attached.
    pub pages: Arc<Vec<PageView>>,
    /// What went by.
    pub counts: Counts,
    /// The number of the last event that it contains.
    pub version: u64,
}

/// The frames of one page, within the limits of a snapshot.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameTree {
    /// The main frame.
    pub top: Option<FrameView>,
    /// The others, breadth first.
    pub children: Vec<FrameView>,
    /// Whether a limit left some out.
    pub truncated: bool,
}

/// One frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FrameView {
    /// The frame.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub frame_id: FrameId,
    /// Its parent; none for a main frame.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub parent_frame_id: Option<FrameId>,
    /// Its document's URL with the fragment. Untrusted.
    pub url: String,
    /// Its document's origin; `null` for an opaque one.
    pub origin: String,
    /// Its name. Untrusted.
    pub name: String,
    /// Whether it lives in a session of its own.
    pub is_oopif: bool,
    /// That session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub session_id: Option<SessionId>,
    /// Its page.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// Whether its renderer died.
    pub crashed: bool,
}

/// The state of the connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StatusView {
    /// The state.
    pub status: Status,
    /// Whether what is shown is the last known state and not the present one.
    pub stale: bool,
    /// While reconnecting: which attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempt: Option<u32>,
    /// While reconnecting: why the last attempt failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    /// When failed: why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Such as `Chrome/156.0.8078.73`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub browser: Option<String>,
    /// The second connection that keeps open dialogs answerable when the first is lost.
    #[serde(default)]
    pub guard: GuardView,
}

/// The states of a connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing was started yet.
    #[default]
    NotConnected,
    /// The first connection is being made.
    Connecting,
    /// The handshake is done.
    Connected,
    /// The connection was lost and is being made again.
    Reconnecting,
    /// It is over; the reason says what to do.
    Failed,
    /// The host stopped it.
    Stopped,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PageView {
    /// The page.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
    /// Its session; none on a page endpoint, where the connection is the page's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub session_id: Option<SessionId>,
    /// Its URL. Untrusted.
    pub url: String,
    /// Its title. Untrusted.
    pub title: String,
    /// Whether the snapshot's frame tree is this page's.
    pub active: bool,
    /// The page that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub opener_target_id: Option<TargetId>,
    /// The frame that opened it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub opener_frame_id: Option<FrameId>,
    /// Why nobody can free it by answering.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<BlockedView>,
    /// Whether it opens dialogs faster than anybody could answer. More of them are to be expected, and only the last are
    /// shown; closing or leaving the page ends it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flooding: bool,
    /// Whether its renderer died.
    pub crashed: bool,
    /// Whether it does not answer.
    pub unresponsive: bool,
    /// Dialogs on it that wait for an answer.
    pub pending_dialogs: usize,
    /// Whether its dialogs outlive the loss of the connection, from now on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
    /// Whether its dialogs go by the bridge.
    #[serde(default)]
    pub bridge: BridgeView,
    /// Why they do not though the bridge is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge_reason: Option<crate::bridge::Unavailable>,
}

/// Whether the dialogs of a page go by the bridge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BridgeView {
    /// They are the browser's own.
    #[default]
    Off,
    /// They do.
    On,
    /// They should, and cannot: they are the browser's own.
    Unavailable,
}

/// Why a page is stuck and what frees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockedView {
    /// What happened.
    pub reason: crate::dialog::Unanswerable,
    /// Whether that is a guess.
    pub suspected: bool,
    /// The dialog, where there is a record of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialog_id: Option<DialogId>,
    /// What frees it, and loses nothing but the page's own state.
    pub remedies: Vec<RemedyName>,
    /// What may free it, but could also end the browser.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub risky_remedies: Vec<RemedyName>,
}

/// The remedies for a blocked page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RemedyName {
    /// Load it again.
    Reload,
    /// Go elsewhere.
    Navigate,
    /// Close it.
    Close,
}

/// Counts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Dialogs that opened on this binding.
    pub dialogs_seen: u64,
    /// Console entries that are no longer kept.
    pub console_dropped: u64,
    /// What went by on the connection.
    #[serde(flatten)]
    pub meters: Meters,
}

/// Console entries, as hosts read them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConsoleView {
    /// The last errors and exceptions, oldest first.
    pub errors: Vec<ConsoleEntryView>,
    /// The last warnings, oldest first.
    pub warnings: Vec<ConsoleEntryView>,
    /// How many are no longer there.
    pub dropped: u64,
}

/// One console entry.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConsoleEntryView {
    /// Seconds since the Unix epoch.
    pub at: f64,
    /// `error`, `exception` or `warning`.
    pub level: crate::console::Level,
    /// What it says. Untrusted.
    pub text: String,
    /// Whether the text was cut.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// The script or resource. Untrusted.
    pub url: String,
    /// The line, from 0.
    pub line: Option<i64>,
    /// The column, from 0.
    pub column: Option<i64>,
    /// The frame, where it is known.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
    /// The page.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub target_id: TargetId,
}
