//! The state of a task: the fold of its events.

use std::collections::{BTreeMap, BTreeSet};

use cdp_wire::{FrameId, TargetId};
use serde::{Deserialize, Serialize};

use crate::bridge::Bridge;
use crate::call::Calls;
use crate::connection::identity::Identity;
use crate::console::Console;
use crate::deadlines::Deadlines;
use crate::dialog::{Dialogs, Open};
use crate::failure::Failure;
use crate::flights::Flights;
use crate::frame::Frames;
use crate::guard::Guard;
use crate::ids::{DialogId, EndpointKind, Epoch, Req, Route};
use crate::machine::Beginning;
use crate::observe::Observer;
use crate::options::Options;
use crate::page::{Doomed, Pages};
use crate::session::{SessionKind, Sessions};
use crate::snapshot::Status;
use crate::time::At;

/// Everything that is known about a task. Only [`State::apply`] changes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// The wall time of [`At`] zero, in microseconds since the Unix epoch.
    pub started_unix_us: u64,
    /// Where the jitter of reconnects comes from.
    pub seed: u64,
    /// How many events there were.
    pub history: u64,
    /// The host's choices.
    pub options: Options,
    /// The connection.
    pub connection: Connection,
    /// Commands that were not answered.
    pub flights: Flights,
    /// Attached sessions.
    pub sessions: Sessions,
    /// Pages.
    pub pages: Pages,
    /// Frames.
    pub frames: Frames,
    /// Dialogs.
    pub dialogs: Dialogs,
    /// The bridge.
    pub bridge: Bridge,
    /// The guard connection.
    pub guard: Guard,
    /// Host calls.
    pub calls: Calls,
    /// Complaints of pages.
    pub console: Console,
    /// What is due when.
    pub deadlines: Deadlines,
    /// What only an observer keeps; none in a task that acts.
    pub observer: Option<Observer>,
}

/// The connection and its history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Connection {
    /// Its state.
    pub status: Status,
    /// The last socket's number.
    pub epoch: Epoch,
    /// What its root is; none while no socket is open.
    pub endpoint: Option<EndpointKind>,
    /// Whether there was ever a handshake: from then on a loss is followed by reconnects.
    pub was_connected: bool,
    /// Attempts since the loss.
    pub attempt: u32,
    /// When it was lost.
    pub lost_at: Option<At>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// Why the task failed.
    pub failure: Option<Failure>,
    /// What the browser says it is.
    pub product: Option<String>,
    /// What the URL of the present socket names the browser.
    #[serde(default)]
    pub named: Option<String>,
    /// The browser that was connected last.
    #[serde(default)]
    pub identity: Identity,
    /// Requests to start that wait.
    pub starters: BTreeSet<Req>,
    /// The request to stop.
    pub stopper: Option<Req>,
    /// Pages that showed a dialog when the connection was lost.
    pub orphaned: BTreeSet<TargetId>,
    /// Pages that were dangerous to touch when the connection was lost: they still are.
    pub doomed: BTreeMap<TargetId, Doomed>,
    /// Whether this browser tells when a navigation starts; older ones only say that a frame loads.
    pub tells_navigations: bool,
}

impl State {
    pub(crate) fn new(beginning: &Beginning) -> Self {
        Self {
            started_unix_us: beginning.started_unix_us,
            seed: beginning.seed,
            history: 0,
            options: beginning.options.clone(),
            connection: Connection { epoch: beginning.epoch, ..Connection::default() },
            flights: Flights::default(),
            sessions: Sessions::default(),
            pages: Pages::default(),
            frames: Frames::default(),
            dialogs: Dialogs::starting_at(beginning.next_dialog),
            bridge: Bridge::default(),
            guard: Guard::default(),
            calls: Calls::starting_at(beginning.next_call),
            console: Console::default(),
            deadlines: Deadlines::default(),
            observer: beginning.observes.clone().map(Observer::of),
        }
    }

    /// The wall time of a moment, in seconds since the Unix epoch.
    #[must_use]
    pub fn wall(&self, at: At) -> f64 {
        // A double holds microseconds of this century exactly enough: its step is below a microsecond.
        (self.started_unix_us + at.0) as f64 / 1e6
    }

    /// The frame that a session is attached to.
    #[must_use]
    pub fn root_frame(&self, route: &Route) -> Option<FrameId> {
        let session = self.sessions.get(route)?;
        match session.kind {
            SessionKind::Page => self.pages.get(&session.target)?.main_frame.clone(),
            SessionKind::Iframe => Some(FrameId::from(&session.target)),
        }
    }

    /// Whether the session is the page's own (and not an iframe's).
    #[must_use]
    pub fn is_page_session(&self, route: &Route) -> bool {
        self.sessions.get(route).is_some_and(|session| session.kind == SessionKind::Page)
    }

    /// The native dialog that is open on a page: there is one at most.
    #[must_use]
    pub fn open_dialog(&self, page: &TargetId) -> Option<(DialogId, &Open)> {
        let id = self.pages.get(page)?.slot.open?;
        Some((id, self.dialogs.open.get(&id)?))
    }

    /// The origin of a frame's document, `null` for an opaque one; empty while unknown. What a frame is announced with is
    /// that of its URL; only the document's execution context tells what `about:` documents inherit and sandboxes lose.
    #[must_use]
    pub fn origin(&self, id: &FrameId) -> &str {
        // Before the first commit there is an empty document, whose origin says nothing about the one to come.
        let Some(frame) = self.frames.get(id).filter(|frame| !frame.url.is_empty()) else { return "" };
        let session = frame.owner.as_ref().and_then(|owner| self.sessions.get(owner));
        let context = session.and_then(|session| session.contexts.get(session.documents.get(id)?));
        context.map(|context| &context.origin).filter(|origin| !origin.is_empty()).unwrap_or(&frame.origin)
    }

    /// A dialog of a page that waits for an answer, however it came.
    #[must_use]
    pub fn waiting_dialog(&self, page: &TargetId) -> Option<(DialogId, &Open)> {
        let open = self.dialogs.open.iter().map(|(id, open)| (*id, open));
        open.filter(|(_, open)| open.opening.page == *page && open.is_showing()).min_by_key(|(id, _)| *id)
    }

    /// Whether a page's main frame is on its way to another document.
    #[must_use]
    pub fn is_navigating(&self, page: &TargetId) -> bool {
        let main = self.pages.get(page).and_then(|page| page.main_frame.as_ref());
        main.and_then(|main| self.frames.get(main)).is_some_and(|frame| frame.navigating)
    }

    /// Whether commands can be sent.
    #[must_use]
    pub fn is_connected(&self) -> bool {
        self.connection.status == Status::Connected
    }
}
