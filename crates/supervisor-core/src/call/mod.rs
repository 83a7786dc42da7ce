//! Host calls: each request ends exactly once, and a result that comes late can still be had.
//!
//! ```text
//!  Waiting ── its document comes ──▶ Running ── reply ──▶ ended
//!                                      │ a dialog opens: the request ends with dialog_opened
//!                                      ▼
//!                                  Interrupted ── the dialog ends ──▶ Late ── reply ──▶ kept for the host
//! ```

mod apply;
pub(crate) mod blocking;
pub(crate) mod check;
pub(crate) mod deadly;
pub(crate) mod ending;
pub(crate) mod eval;
pub(crate) mod held;
pub(crate) mod host;
pub(crate) mod late;
pub(crate) mod raw;
pub(crate) mod recover;
pub(crate) mod routing;
pub(crate) mod script;
pub(crate) mod send;
pub(crate) mod suspect;

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use cdp_wire::{CommandId, FrameId, UniqueContextId};
use serde::{Deserialize, Serialize};

use crate::failure::Code;
use crate::ids::{CallId, DialogId, Req, Route};
use crate::time::At;

/// A call that has not ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Call {
    /// The request, until it is answered.
    pub req: Option<Req>,
    /// Where it goes.
    pub route: Route,
    /// The frame it is for.
    pub frame: Option<FrameId>,
    /// `Domain.command`.
    pub method: String,
    /// Whether its result is the value of an expression.
    pub eval: bool,
    /// The command that carries it, once sent.
    pub command: Option<CommandId>,
    /// Where its script runs: with that document it ends.
    pub runs_in: RunsIn,
    /// How far it is.
    pub stage: CallStage,
    /// What its renderer must answer unless a dialog holds it.
    pub pulse: Option<CommandId>,
    /// When it ends at the latest; it stands still while a dialog holds it.
    pub deadline: At,
}

/// Where the script of a call runs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RunsIn {
    /// It has none, or it is answered whatever becomes of its document, or nobody knows.
    #[default]
    Unknown,
    /// In the document that the frame of its session gets next.
    NextDocument,
    /// In the execution context with this number.
    Context(i64),
    /// In the execution context with this id, which is no document's own.
    Unique(UniqueContextId),
}

impl RunsIn {
    /// Whether that is not known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == RunsIn::Unknown
    }
}

/// How far a call is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum CallStage {
    /// It waits for its frame's document.
    Waiting,
    /// It was sent.
    Running,
    /// A dialog holds it; this much of its time is left.
    Interrupted(DialogId, Duration),
}

/// How a call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum CallEnd {
    /// The browser answered.
    Answered,
    /// It failed.
    Failed(Code),
    /// Its caller left, so nobody will know.
    Forgotten,
}

/// A late result that the session's actor keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Late {
    /// The session whose actor keeps it.
    pub route: Route,
}

/// A request that waits for a late result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiter {
    /// The call.
    pub call: CallId,
}

/// All calls of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Calls {
    /// The calls that have not ended.
    pub open: BTreeMap<CallId, Call>,
    /// Late results, and the order in which they came.
    pub late: BTreeMap<CallId, Late>,
    /// The order in which late results came, oldest first.
    pub late_order: VecDeque<CallId>,
    /// Requests waiting for late results.
    pub waiters: BTreeMap<Req, Waiter>,
    /// The open requests of hosts, by their call.
    pub by_req: BTreeMap<Req, CallId>,
    /// The next id.
    pub next: CallId,
}

impl Calls {
    pub(crate) fn starting_at(next: CallId) -> Self {
        Self {
            open: BTreeMap::new(),
            late: BTreeMap::new(),
            late_order: VecDeque::new(),
            waiters: BTreeMap::new(),
            by_req: BTreeMap::new(),
            next,
        }
    }

    /// Whether something is still parked or kept with this session's actor.
    #[must_use]
    pub fn needs(&self, route: &Route) -> bool {
        self.open.values().any(|call| call.route == *route)
            || self.late.values().any(|late| late.route == *route)
    }

    /// The requests waiting for this call.
    pub fn waiting_for(&self, call: CallId) -> impl Iterator<Item = Req> {
        self.waiters.iter().filter(move |(_, waiter)| waiter.call == call).map(|(req, _)| *req)
    }
}
