//! The guard: a second connection that only listens, so that a dialog outlives the loss of the first.
//!
//! A browser lets only those answer a dialog who were listening when it opened. Once the last of them is gone nobody ever
//! can again. The guard listens on the same pages; what it hears only fills its own table, until the main connection
//! is lost. Then a dialog that both saw is *carried*: it stays pending, and its answer goes through the guard.
//!
//! ```text
//!                 main is lost, the guard's table has it
//!  kept by main ───────────────────────────────────────▶ carried ── Closed ──▶ ended
//!       │ main is lost, the guard has not heard of it       ▲ │ the guard is lost
//!       └───────────▶ waits for the guard's word ───────────┘ └──────▶ ended: disconnected
//!                       │ the guard caught up: no such dialog
//!                       └──▶ ended
//! ```
//!
//! Two sockets have no common order. When main is lost, the guard may still have to hear of what main has seen: a round
//! trip on it tells when it has caught up, and until then its events fill the table and nothing else.

mod apply;
pub(crate) mod carry;
pub mod event;
pub(crate) mod hand_over;
pub(crate) mod heard;
pub(crate) mod rules;

use std::collections::{BTreeMap, VecDeque};

use cdp_wire::{FrameId, TargetId};
use serde::{Deserialize, Serialize};

use crate::dialog::DialogOpening;
use crate::flights::{Flights, Purpose};
use crate::ids::{EndpointKind, Epoch, Route};
use crate::time::At;

pub use event::GuardEvent;

/// The guard connection, and what it heard.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Guard {
    /// What hosts are told of it.
    pub stands: Stands,
    /// In words, why it is not on.
    pub message: Option<String>,
    /// Why this browser should not be guarded: it is left as soon as nothing is carried.
    pub unsuited: Option<Why>,
    /// The number of its last socket. They are counted apart from those of the main connection.
    pub epoch: Epoch,
    /// Whether a socket is being opened.
    pub dialling: bool,
    /// What its root is; none while no socket is open.
    pub endpoint: Option<EndpointKind>,
    /// The main connection that it was made beside.
    pub made_for: Epoch,
    /// Since when its socket is open, until the main connection is lost beside it.
    pub opened_at: Option<At>,
    /// Attempts since it was lost.
    pub attempt: u32,
    /// When it was lost.
    pub lost_at: Option<At>,
    /// How often in a row the main connection was lost just after the guard came.
    pub quarrels: u32,
    /// Its commands that were not answered.
    pub flights: Flights,
    /// The pages that it listens on.
    pub watches: BTreeMap<TargetId, Watch>,
}

/// A page that the guard listens on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// The guard's session there.
    pub route: Route,
    /// Whether it is sure to hear of dialogs.
    pub enabled: bool,
    /// Whether the page is on its way to another document.
    pub leaving: bool,
    /// The dialogs that it heard of and that have not ended: one, and for a moment those that it took the place of.
    pub showing: Vec<Showing>,
    /// The last ends that it heard of and the main connection had not told yet.
    pub ends: VecDeque<Ended>,
    /// Whether what it tells may be old news: the main connection was lost, and had heard more.
    pub lags: bool,
    /// Whose word counts for the dialogs that open there.
    pub teller: Teller,
}

/// Whose word counts for the dialogs that open on a page. When the main connection is back, what opens before it listens only
/// the guard can tell, and what opens later both will; when exactly it began to listen, two sockets without a common order
/// show by four signs, one after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Teller {
    /// The main connection's: the guard's events only fill its table.
    Main,
    /// The guard's: nobody else listens.
    Guard,
    /// The main connection was asked to listen, and to give a sign that it does.
    MainBegins,
    /// The guard is to give a sign: then it has told all that had opened before.
    GuardFollows,
    /// The main connection is to give a sign: what the guard had told by then and it has not, opened before it listened.
    MainCompares,
    /// The guard is to give a sign: what has closed meanwhile it has told too.
    GuardSettles,
}

/// A dialog that the guard heard of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Showing {
    /// What it is; its route is the guard's own.
    pub dialog: DialogOpening,
    /// Whether it has ended as far as the task is concerned.
    pub settled: bool,
    /// Whether it took the place of another one: a browser that keeps dialogs open loses track of it then.
    pub overlaps: bool,
    /// Whether it was told early enough for the main connection to have told it too by now, if that ever does.
    pub compared: bool,
}

/// A dialog whose end the guard heard of before the main connection did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// What it was.
    pub dialog: DialogOpening,
    /// How it ended.
    pub end: SeenEnd,
    /// Whether another one had taken its place.
    pub overlapped: bool,
}

/// How a dialog ended that the guard heard of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeenEnd {
    /// The dialog's frame.
    pub frame: Option<FrameId>,
    /// Whether it was accepted.
    pub accepted: bool,
    /// What was typed, as the browser tells it.
    pub user_input: String,
}

/// Whether there is a guard.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Stands {
    /// None was asked for.
    #[default]
    Off,
    /// It listens on the same pages.
    On,
    /// It was asked for, and is not there.
    Unavailable(Why),
}

/// Why there is no guard though one was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It is being made.
    Connecting,
    /// There is no page yet by which both connections could be seen to show the same browser.
    NoPage,
    /// It was lost, or cannot be made.
    Lost,
    /// The second connection shows another browser than the first.
    AnotherBrowser,
    /// The browser dismisses its dialogs when any of its clients leaves: a guard saves none, and its own loss would end
    /// them too.
    ClosesDialogs,
    /// The backend drops the first connection when a second one comes.
    OneConnection,
}

impl Guard {
    /// Whether there is a socket, or will be.
    #[must_use]
    pub fn in_use(&self) -> bool {
        self.dialling || self.endpoint.is_some()
    }

    /// Whether it may still have to hear of what the main connection had seen when it was lost.
    #[must_use]
    pub fn is_catching_up(&self) -> bool {
        self.flights.any(&Purpose::CatchUp)
    }

    /// The page that it listens on by this session.
    #[must_use]
    pub fn page_of(&self, route: &Route) -> Option<&TargetId> {
        self.watches.iter().find(|(_, watch)| watch.route == *route).map(|(target, _)| target)
    }

    /// The dialog that shows on a page, as far as the guard heard.
    #[must_use]
    pub fn showing(&self, page: &TargetId) -> Option<(&Route, &Showing)> {
        let watch = self.watches.get(page)?;
        Some((&watch.route, watch.showing.last()?))
    }
}
