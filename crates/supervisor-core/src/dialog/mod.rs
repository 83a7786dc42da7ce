//! Dialogs: what is open, who answers, how each one ended.
//!
//! ```text
//!            answer sent            Closed, as answered        confirmed
//!  Pending ───────────────▶ Answering ───────────────▶ Closing ──────────▶ ended by whom answered
//!     │                      │      │ confirmed first               │ refused
//!     │ Closed               │      └───────▶ Taken ── Closed ──▶   └─────▶ ended by another party
//!     ▼                      ▼ Closed, otherwise than answered
//!  ended by another party    ended by another party; where did our answer go?
//! ```
//!
//! CDP's answer names no dialog. One slot a page and one answer at a time are what makes it unambiguous.

pub(crate) mod answer;
pub(crate) mod apply;
pub(crate) mod flood;
pub(crate) mod preset;
pub(crate) mod rules;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cdp_wire::page::DialogType;
use cdp_wire::{CommandId, FrameId, TargetId};
use serde::{Deserialize, Serialize};

use crate::bridge::Paused;
use crate::ids::{DialogId, Req, Route};
use crate::limits::MAX_RECENT_DIALOGS;
use crate::shown::Shown;
use crate::time::At;

/// What opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DialogOpening {
    /// The page.
    pub page: TargetId,
    /// The page's session, where the answer goes.
    pub route: Route,
    /// The frame that raised it; older browsers do not say.
    pub frame: Option<FrameId>,
    /// The kind.
    #[cfg_attr(feature = "schema", schemars(schema_with = "crate::schema::dialog_type"))]
    pub kind: DialogType,
    /// What the page says.
    pub message: Shown,
    /// The default text of a prompt, as it is shown. It is kept whole beside the state, because accepting sends it back.
    pub default_prompt: String,
    /// The URL of the frame.
    pub url: String,
    /// Where it comes from.
    pub source: Source,
    /// Whether the browser keeps it open when nobody answers, and so loses track of one that another overlaps.
    pub has_browser_handler: bool,
    /// The request of the bridge's script that waits for the answer; none for a native dialog.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused: Option<Paused>,
}

impl Kept {
    /// The guard's session by which it can be answered.
    #[must_use]
    pub fn by_guard(&self) -> Option<&Route> {
        match self {
            Kept::ByMain | Kept::Unsure(None) => None,
            Kept::Unsure(Some(route)) | Kept::ByGuard(route) => Some(route),
        }
    }
}

impl DialogOpening {
    /// Whether two sessions report the same dialog.
    #[must_use]
    pub fn is_same(&self, other: &DialogOpening) -> bool {
        self.kind == other.kind && self.message == other.message && self.frame == other.frame
    }
}

/// Where a dialog comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The browser's own dialog.
    Native,
    /// The injected bridge.
    Bridge,
}

/// A dialog that is open.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Open {
    /// What it is.
    pub opening: DialogOpening,
    /// When it opened.
    pub opened_at: At,
    /// How far its answer is.
    pub progress: Progress,
    /// The sessions that reported it.
    pub seen_by: BTreeSet<Route>,
    /// Why nobody can answer it.
    pub unanswerable: Option<Unanswerable>,
    /// Which connection it is answered by.
    pub kept: Kept,
    /// Requests to answer it that came while an answer was on its way: they are told who won.
    #[serde(default)]
    pub waiting: Vec<Req>,
}

/// Which connection a dialog is answered by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kept {
    /// The main one.
    ByMain,
    /// The main one is lost, and the guard has not caught up with it: whether it is still open is not known. An answer can go
    /// by this session of the guard, if that has heard of it.
    Unsure(Option<Route>),
    /// The guard, by this session: the main connection was lost while it was open.
    ByGuard(Route),
}

/// How far the answer to a dialog is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Progress {
    /// Nobody has answered.
    Pending,
    /// An answer was sent.
    Answering(Answer),
    /// The browser closed it as we answered; its confirmation tells whether it was our answer that did.
    Closing(Answer),
    /// The browser took our answer and has not closed it yet.
    Taken(Answer),
}

/// An answer that was sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Who answers.
    pub by: Answerer,
    /// The request to tell.
    pub req: Option<Req>,
    /// Accept or dismiss.
    pub accept: bool,
    /// What was typed.
    pub user_input: Option<String>,
    /// The command that carries it.
    pub command: CommandId,
}

impl Open {
    /// The answer that is on its way.
    #[must_use]
    pub fn answer(&self) -> Option<&Answer> {
        match &self.progress {
            Progress::Pending => None,
            Progress::Answering(answer) | Progress::Closing(answer) | Progress::Taken(answer) => Some(answer),
        }
    }

    pub(crate) fn answer_mut(&mut self) -> Option<&mut Answer> {
        match &mut self.progress {
            Progress::Pending => None,
            Progress::Answering(answer) | Progress::Closing(answer) | Progress::Taken(answer) => Some(answer),
        }
    }

    /// Whether an answer may be sent now.
    #[must_use]
    pub fn is_answerable(&self) -> bool {
        self.unanswerable.is_none()
    }

    /// Whether the browser still shows it, as far as we know.
    #[must_use]
    pub fn is_showing(&self) -> bool {
        !matches!(self.progress, Progress::Closing(_))
    }
}

/// Who answers a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Answerer {
    /// The host.
    Agent,
    /// The policy.
    Policy,
    /// The watchdog.
    Watchdog,
    /// `stop`.
    Stop,
}

/// Who closed a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ClosedBy {
    /// The host's answer.
    Agent,
    /// The policy's answer, or that of `stop`.
    AutoPolicy,
    /// The watchdog's answer.
    Watchdog,
    /// Anything else.
    Remote,
}

impl From<Answerer> for ClosedBy {
    fn from(by: Answerer) -> Self {
        match by {
            Answerer::Agent => ClosedBy::Agent,
            Answerer::Policy | Answerer::Stop => ClosedBy::AutoPolicy,
            Answerer::Watchdog => ClosedBy::Watchdog,
        }
    }
}

impl ClosedBy {
    /// As it is written in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            ClosedBy::Agent => "agent",
            ClosedBy::AutoPolicy => "auto_policy",
            ClosedBy::Watchdog => "watchdog",
            ClosedBy::Remote => "remote",
        }
    }
}

/// What closed a dialog that nobody here closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Another client, or a person.
    OtherClient,
    /// The page was navigated.
    Navigation,
    /// Another dialog took its place.
    Overlap,
    /// Its page or frame is gone.
    TargetGone,
    /// Its renderer died.
    Crash,
    /// The connection was lost.
    Disconnected,
    /// An answer of ours to the dialog before it.
    StrayAnswer,
    /// Not known, or not known yet.
    Unknown,
}

/// Why nobody can answer a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unanswerable {
    /// It was open before we came, or the renderer hangs: the page does not answer and nothing tells why.
    Unresponsive,
    /// It was open before we came: the browser says that no dialog is showing while the page is stuck.
    BeforeAttach,
    /// A dialog of another process took its place, and the browser lost track of both.
    Overlap,
    /// Its out-of-process iframe was removed: whatever is done to the page now kills the browser.
    FrameRemoved,
    /// The page opens dialogs faster than it navigates away.
    Reopening,
    /// The connection that had seen it was lost.
    Orphaned,
}

impl Unanswerable {
    /// Whether the wrong command at the page ends the whole browser, on every connection that it will ever have.
    #[must_use]
    pub fn is_deadly(self) -> bool {
        matches!(self, Unanswerable::Overlap | Unanswerable::FrameRemoved)
    }
}

/// The place for the one dialog of a page.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Slot {
    /// The dialog that is open.
    pub open: Option<DialogId>,
    /// `Closed` events that will still come for dialogs that have ended, and mean nothing.
    pub owed: VecDeque<Owed>,
}

/// A `Closed` that is still to come for a dialog that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Owed {
    /// The session that will report it.
    pub route: Route,
    /// The dialog's frame.
    pub frame: Option<FrameId>,
}

impl Slot {
    /// The place in `owed` of a `Closed` that means a dialog that has ended already.
    #[must_use]
    pub fn owed_at(&self, route: &Route, frame: Option<&FrameId>) -> Option<usize> {
        self.owed
            .iter()
            .position(|owed| owed.route == *route && (frame.is_none() || owed.frame.as_ref() == frame))
    }
}

/// A dialog that has ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Closed {
    /// Its id.
    pub id: DialogId,
    /// What it was.
    pub opening: DialogOpening,
    /// When it opened.
    pub opened_at: At,
    /// When it ended.
    pub closed_at: At,
    /// Who closed it.
    pub by: ClosedBy,
    /// What did, when it was nobody here.
    pub reason: Option<Reason>,
    /// Whether it was accepted.
    pub accepted: Option<bool>,
    /// What was typed.
    pub user_input: Option<String>,
}

/// An answer of ours whose dialog was closed by another party: it may have hit the next one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stray {
    /// The dialog that it was meant for.
    pub meant: DialogId,
    /// The page.
    pub page: TargetId,
    /// The answer.
    pub answer: Answer,
    /// The dialog that ended as if it had been answered so.
    pub hit: Option<DialogId>,
    /// Whether the guard carried it.
    pub by_guard: bool,
    /// Whether the browser took the answer: then it did hit another, whose end the other connection has still to tell.
    #[serde(default)]
    pub taken: bool,
}

/// All dialogs of a task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dialogs {
    /// The open ones.
    pub open: BTreeMap<DialogId, Open>,
    /// The last closed ones, oldest first.
    pub recent: VecDeque<Closed>,
    /// Answers that may have gone astray.
    pub strays: Vec<Stray>,
    /// The next id.
    pub next: DialogId,
    /// The first id of this binding: an earlier one is none of ours.
    pub first: DialogId,
}

impl Dialogs {
    pub(crate) fn starting_at(first: DialogId) -> Self {
        Self { open: BTreeMap::new(), recent: VecDeque::new(), strays: Vec::new(), next: first, first }
    }

    /// A dialog that has ended, if it is still remembered.
    #[must_use]
    pub fn closed(&self, id: DialogId) -> Option<&Closed> {
        self.recent.iter().rev().find(|closed| closed.id == id)
    }

    /// How many were seen on this binding.
    #[must_use]
    pub fn seen(&self) -> u64 {
        self.next.0 - self.first.0
    }

    pub(crate) fn remember(&mut self, closed: Closed) {
        self.recent.push_back(closed);
        while self.recent.len() > MAX_RECENT_DIALOGS {
            self.recent.pop_front();
        }
    }
}
