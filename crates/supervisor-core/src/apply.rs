//! Folding events into state. The `match` is the table of contents; each arm is a function of its subject.

use cdp_wire::{CommandId, FrameId, TargetId};

use crate::deadlines::Due;
use crate::event::{Event, FrameInfo, Recorded, Silence};
use crate::frame::{Frame, ParentView};
use crate::ids::Route;
use crate::limits::{HANDSHAKE, ORPHAN_WAIT, PROBE_WAIT, SETUP_SILENCE};
use crate::page::{Blocked, Page};
use crate::purpose::{InFlight, Purpose};
use crate::reach::{self, Reach};
use crate::session::{Context, Session, SessionKind};
use crate::snapshot::Status;
use crate::state::State;
use crate::time::At;

mod calls;
mod dialogs;

pub(crate) use dialogs::leaves_a_stray;

impl State {
    /// Folds one event. It is total: an event that does not fit changes nothing.
    pub fn apply(&mut self, recorded: &Recorded) {
        self.history = recorded.seq;
        let at = recorded.at;
        match &recorded.event {
            Event::StartRequested { .. }
            | Event::Dialing { .. }
            | Event::SocketOpened { .. }
            | Event::BrowserIdentified { .. }
            | Event::Connected { .. }
            | Event::ConnectionLost { .. }
            | Event::Failed { .. }
            | Event::StopRequested { .. }
            | Event::Stopped
            | Event::StartAnswered { .. }
            | Event::ProbeScheduled { .. } => self.apply_connection(at, &recorded.event),
            Event::DeadlinePassed { due } => self.deadlines.cancel(due),
            Event::OptionsChanged { options } => self.options = (**options).clone(),
            Event::CommandSent { id, route, method, purpose } => {
                let flight =
                    InFlight { route: route.clone(), method: method.clone(), purpose: purpose.clone() };
                self.command_sent(at, *id, flight);
            }
            Event::CommandAnswered { id, .. } => self.command_answered(*id),
            Event::PageAttached { .. } | Event::IframeAttached { .. } => {
                self.apply_attached(at, &recorded.event)
            }
            Event::SessionReleased { route, .. } => self.sessions.release(route.clone()),
            Event::SessionGone { route } => self.session_gone(at, route),
            Event::SessionSilent { route, looks, look_again } => {
                self.session_silent(route, *looks, *look_again)
            }
            Event::SessionAnswered { route } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.unresponsive = false;
                }
            }
            Event::SessionCrashed { route } => self.session_crashed(route),
            Event::SessionRevived { route } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.crashed = false;
                }
            }
            Event::PageChanged { target, url, title } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.url.clone_from(url);
                    page.title.clone_from(title);
                }
            }
            Event::PageBlocked { target, why, dialog } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.blocked = Some(Blocked { why: *why, dialog: *dialog });
                }
            }
            Event::PageFreed { target } => {
                if let Some(page) = self.pages.get_mut(target) {
                    page.blocked = None;
                }
            }
            Event::FrameAttached { route, frame, parent } => self.frame_attached(route, frame, parent),
            Event::FrameNavigated { route, frame, restored } => self.frame_navigated(route, frame, *restored),
            Event::FramesListed { route, frames, .. } => self.frames_listed(route, frames),
            Event::IframeUrlChanged { frame, url } | Event::FrameUrlChanged { frame, url } => {
                if let Some(frame) = self.frames.get_mut(frame) {
                    frame.url.clone_from(url);
                }
            }
            Event::DocumentOpened { frame } => {
                if let Some(known) = self.frames.get_mut(&frame.id) {
                    known.describe(frame);
                }
            }
            Event::FrameSwappedOut { route, frame } => self.frame_swapped_out(at, route, frame),
            Event::FrameGone { frame } => self.remove(&reach::of_frame(self, frame)),
            Event::OrphanWaits { frame, until } => self.deadlines.set(Due::Orphan(frame.clone()), *until),
            Event::NavigationsAreTold => self.connection.tells_navigations = true,
            Event::NavigationStarted { frame } => self.navigation_started(frame),
            Event::LoadingStopped { frame } => self.loading_stopped(frame),
            Event::ContextCreated { route, id, unique, frame } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.context_created(*id, Context { frame: frame.clone(), unique: unique.clone() });
                }
            }
            Event::ContextDestroyed { route, id } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.context_destroyed(*id);
                }
            }
            Event::ContextsCleared { route } => {
                if let Some(session) = self.sessions.get_mut(route) {
                    session.contexts_cleared();
                }
            }
            Event::DialogOpened { .. }
            | Event::DialogSeenAgain { .. }
            | Event::DialogWatchdogSet { .. }
            | Event::DialogAnswering { .. }
            | Event::DialogClosing { .. }
            | Event::DialogTaken { .. }
            | Event::DialogAnswerRefused { .. }
            | Event::DialogUnanswerable { .. }
            | Event::DialogEnded { .. }
            | Event::DialogAnswerSettled { .. }
            | Event::DialogEndRepeated { .. }
            | Event::DialogReasonKnown { .. } => self.apply_dialog(at, &recorded.event),
            Event::CallStarted { .. }
            | Event::CallWaits { .. }
            | Event::CallSent { .. }
            | Event::CallBound { .. }
            | Event::CallInterrupted { .. }
            | Event::CallReleased { .. }
            | Event::CallEnded { .. }
            | Event::CallAbandoned { .. }
            | Event::LateResultKept { .. }
            | Event::LateResultGone { .. }
            | Event::ResultAwaited { .. }
            | Event::ResultAnswered { .. } => self.apply_call(at, &recorded.event),
            Event::ConsoleGathered { gathered } => self.console.add(gathered),
        }
    }

    fn apply_connection(&mut self, at: At, event: &Event) {
        match event {
            Event::StartRequested { req } => {
                self.connection.starters.insert(*req);
            }
            Event::StartAnswered { req } => {
                self.connection.starters.remove(req);
            }
            Event::Dialing { epoch, attempt } => {
                self.deadlines.cancel(&Due::Reconnect);
                self.connection.epoch = *epoch;
                self.connection.attempt = *attempt;
                if !self.connection.was_connected {
                    self.connection.status = Status::Connecting;
                }
            }
            Event::SocketOpened { endpoint, .. } => {
                self.forget_browser();
                self.connection.endpoint = Some(endpoint.clone());
                self.deadlines.set(Due::Handshake, at.after(HANDSHAKE));
            }
            Event::BrowserIdentified { product } => self.connection.product = Some(product.clone()),
            Event::Connected { .. } => {
                self.deadlines.cancel(&Due::Handshake);
                let connection = &mut self.connection;
                connection.status = Status::Connected;
                connection.was_connected = true;
                connection.attempt = 0;
                connection.lost_at = None;
                connection.last_error = None;
            }
            Event::ConnectionLost { reason, retry_at } => self.connection_lost(at, reason, *retry_at),
            Event::Failed { failure } => {
                self.socket_gone();
                self.connection.status = Status::Failed;
                self.connection.failure = Some(failure.clone());
            }
            Event::StopRequested { req } => {
                self.connection.stopper = Some(*req);
                self.deadlines.set(Due::Stop, at.after(crate::limits::STOP_WAIT));
            }
            Event::Stopped => {
                self.forget_browser();
                self.socket_gone();
                self.connection.status = Status::Stopped;
            }
            Event::ProbeScheduled { at } => {
                self.deadlines.cancel(&Due::ProbeAnswer);
                self.deadlines.set(Due::Probe, *at);
            }
            _ => {}
        }
    }

    fn connection_lost(&mut self, at: At, reason: &str, retry_at: At) {
        self.socket_gone();
        self.connection.status = Status::Reconnecting;
        self.connection.last_error = Some(reason.to_owned());
        self.connection.lost_at.get_or_insert(at);
        self.deadlines.set(Due::Reconnect, retry_at);
    }

    /// What cannot outlive a socket. What was last known of the browser stays, to be shown as stale.
    fn socket_gone(&mut self) {
        self.connection.endpoint = None;
        self.flights.clear();
        self.deadlines.keep_late_results();
    }

    /// A new socket shows the browser afresh.
    fn forget_browser(&mut self) {
        self.flights.clear();
        self.sessions.clear();
        self.pages.clear();
        self.frames.clear();
        self.connection.tells_navigations = false;
    }

    fn command_sent(&mut self, at: At, id: CommandId, flight: InFlight) {
        match flight.purpose {
            Purpose::ListFrames => {
                if let Some(session) = self.sessions.get_mut(&flight.route) {
                    session.listing = Some(id);
                }
            }
            Purpose::Probe => self.deadlines.set(Due::ProbeAnswer, at.after(PROBE_WAIT)),
            _ => {}
        }
        self.flights.sent(id, flight);
    }

    fn command_answered(&mut self, id: CommandId) {
        let Some(flight) = self.flights.get(id) else { return };
        if let Some(session) = self.sessions.get_mut(&flight.route) {
            session.auto_attach_answered |= flight.method == "Target.setAutoAttach";
            if session.listing == Some(id) {
                session.listing = None;
            }
            if crate::blocking::needs_renderer(&flight.method) {
                session.heard = Some(id);
            }
        }
        self.flights.answered(id);
    }

    fn apply_attached(&mut self, at: At, event: &Event) {
        let route = match event {
            Event::PageAttached {
                route,
                parent,
                target,
                url,
                title,
                opener,
                opener_frame,
                can_access_opener,
                context,
            } => {
                let session = Session::new(
                    SessionKind::Page,
                    target.clone(),
                    parent.clone(),
                    target.clone(),
                    self.history,
                );
                self.sessions.insert(route.clone(), session);
                let page = Page {
                    route: route.clone(),
                    main_frame: None,
                    url: url.clone(),
                    title: title.clone(),
                    opener: opener.clone(),
                    opener_frame: opener_frame.clone(),
                    can_access_opener: *can_access_opener,
                    context: context.clone(),
                    slot: crate::dialog::Slot::default(),
                    blocked: None,
                    navigating: false,
                };
                self.pages.insert(target.clone(), page);
                route
            }
            Event::IframeAttached { route, parent, frame, parent_frame, url } => {
                self.iframe_attached(route, parent, frame, parent_frame.as_ref(), url);
                route
            }
            _ => return,
        };
        self.deadlines.set(Due::Setup(route.clone()), at.after(SETUP_SILENCE));
    }

    fn iframe_attached(
        &mut self,
        route: &Route,
        parent: &Route,
        frame: &FrameId,
        above: Option<&FrameId>,
        url: &str,
    ) {
        let Some(page) = self.sessions.get(parent).map(|session| session.page.clone()) else { return };
        // Older browsers do not name the parent frame; the parent session's own frame is the best guess.
        let above =
            above.cloned().or_else(|| self.root_frame(parent)).unwrap_or_else(|| FrameId::from(&page));
        let target = TargetId::from(frame);
        let session = Session::new(SessionKind::Iframe, target, parent.clone(), page.clone(), self.history);
        self.sessions.insert(route.clone(), session);
        if self.frames.get(frame).is_none() {
            self.insert_frame(frame.clone(), page, Some(above.clone()), ParentView::Unseen);
        }
        self.frames.adopt(frame, &above);
        if let Some(known) = self.frames.get_mut(frame) {
            known.remote = Some(route.clone());
            if known.url.is_empty() {
                url.clone_into(&mut known.url);
            }
        }
        self.set_owner(frame, Some(route.clone()));
    }

    fn insert_frame(&mut self, id: FrameId, page: TargetId, parent: Option<FrameId>, view: ParentView) {
        let owner = match &view {
            ParentView::Here(route) => Some(route.clone()),
            _ => None,
        };
        let frame = Frame {
            page,
            parent,
            url: String::new(),
            origin: String::new(),
            name: String::new(),
            loader: None,
            owner,
            remote: None,
            parent_view: view,
            orphaned: None,
            navigation_started: None,
            since: self.history_place(),
        };
        self.frames.insert(id, frame);
    }

    /// Several frames can come with one event: each gets a place of its own, in order.
    fn history_place(&self) -> u64 {
        (self.history << 20) + (self.frames.len() as u64 & 0xF_FFFF)
    }

    fn set_owner(&mut self, frame: &FrameId, owner: Option<Route>) {
        if owner.is_some() {
            self.deadlines.cancel(&Due::Orphan(frame.clone()));
        }
        self.frames.set_owner(frame, owner, self.flights.last_id());
    }

    fn session_gone(&mut self, at: At, route: &Route) {
        let root = self.sessions.get(route).map(|session| FrameId::from(&session.target));
        self.remove(&reach::of_session(self, route));
        let Some(root) = root else { return };
        if let Some(frame) = self.frames.get_mut(&root).filter(|frame| frame.remote.as_ref() == Some(route)) {
            frame.remote = None;
            self.rehome(at, &root);
        }
    }

    /// A frame without a session of its own lives where its parent's process says, or nobody knows where.
    fn rehome(&mut self, at: At, frame: &FrameId) {
        let Some(known) = self.frames.get(frame) else { return };
        let home = match &known.parent_view {
            ParentView::Here(route) if self.sessions.get(route).is_some() => Some(route.clone()),
            _ => None,
        };
        if home.is_none() {
            self.deadlines.set(Due::Orphan(frame.clone()), at.after(ORPHAN_WAIT));
        }
        self.set_owner(frame, home);
    }

    fn remove(&mut self, reach: &Reach) {
        for route in &reach.sessions {
            self.flights.forget_route(route);
            self.deadlines.cancel(&Due::Setup(route.clone()));
            self.sessions.remove(route);
        }
        for frame in &reach.frames {
            self.deadlines.cancel(&Due::Orphan(frame.clone()));
            self.frames.remove(frame);
        }
        if let Some(page) = &reach.page {
            self.pages.remove(page);
        }
    }

    fn session_silent(&mut self, route: &Route, looks: Silence, look_again: At) {
        let Some(session) = self.sessions.get_mut(route) else { return };
        session.unresponsive = looks == Silence::Unresponsive;
        self.deadlines.cancel(&Due::Setup(route.clone()));
        if looks != Silence::Unresponsive {
            self.deadlines.set(Due::Setup(route.clone()), look_again);
        }
    }

    fn session_crashed(&mut self, route: &Route) {
        let root = self.root_frame(route);
        if let Some(root) = root {
            let reach = reach::of_crash(self, &root);
            self.remove(&reach);
        }
        self.flights.forget_route(route);
        if let Some(session) = self.sessions.get_mut(route) {
            session.crashed = true;
            session.listing = None;
            session.contexts_cleared();
        }
    }

    fn frame_attached(&mut self, route: &Route, frame: &FrameId, parent: &FrameId) {
        let Some(known) = self.frames.get(frame) else {
            let Some(page) = self.sessions.get(route).map(|session| session.page.clone()) else { return };
            self.insert_frame(frame.clone(), page, Some(parent.clone()), ParentView::Here(route.clone()));
            return;
        };
        let comes_home = known.remote.is_none() || known.parent_view == ParentView::SwappedOut;
        if comes_home {
            self.remove(&reach::of_homecoming(self, route, frame));
            self.set_owner(frame, Some(route.clone()));
        }
        self.frames.adopt(frame, parent);
        if let Some(known) = self.frames.get_mut(frame) {
            known.parent_view = ParentView::Here(route.clone());
        }
    }

    fn frame_navigated(&mut self, route: &Route, info: &FrameInfo, restored: bool) {
        self.remove(&reach::of_commit(self, route, &info.id, restored));
        let is_main = info.parent.is_none() && self.is_page_session(route);
        if is_main {
            self.main_frame_is(route, &info.id);
        }
        self.ensure_frame(route, info);
        self.frames_owner_if_orphan(route, &info.id);
        if let Some(frame) = self.frames.get_mut(&info.id) {
            frame.describe(info);
            frame.navigation_started = None;
        }
        let last = self.flights.last_id();
        if self.root_frame(route).as_ref() == Some(&info.id)
            && let Some(session) = self.sessions.get_mut(route)
        {
            session.committed = Some(last);
            session.crashed = false;
        }
    }

    fn main_frame_is(&mut self, route: &Route, id: &FrameId) {
        let Some(target) = self.sessions.get(route).map(|session| session.target.clone()) else { return };
        let before = self.pages.get(&target).and_then(|page| page.main_frame.clone());
        if let Some(before) = before.filter(|before| before != id) {
            self.remove(&reach::of_frame(self, &before));
        }
        if let Some(page) = self.pages.get_mut(&target) {
            page.main_frame = Some(id.clone());
            page.navigating = false;
        }
    }

    fn ensure_frame(&mut self, route: &Route, info: &FrameInfo) {
        if self.frames.get(&info.id).is_none()
            && let Some(page) = self.sessions.get(route).map(|session| session.page.clone())
        {
            self.insert_frame(info.id.clone(), page, info.parent.clone(), ParentView::Here(route.clone()));
        }
        if let Some(parent) = &info.parent {
            self.frames.adopt(&info.id, parent);
        }
    }

    fn frames_owner_if_orphan(&mut self, route: &Route, id: &FrameId) {
        if self.frames.get(id).is_some_and(|frame| frame.owner.is_none()) {
            if let Some(frame) = self.frames.get_mut(id) {
                frame.parent_view = ParentView::Here(route.clone());
            }
            self.set_owner(id, Some(route.clone()));
        }
    }

    fn frames_listed(&mut self, route: &Route, frames: &[FrameInfo]) {
        for info in frames {
            if info.parent.is_none() && self.is_page_session(route) {
                let known = self.root_frame(route);
                if known.is_some_and(|known| known != info.id) {
                    return;
                }
                self.main_frame_listed(route, &info.id);
            }
            self.ensure_frame(route, info);
            self.frames_owner_if_orphan(route, &info.id);
            if let Some(frame) =
                self.frames.get_mut(&info.id).filter(|frame| frame.owner.as_ref() == Some(route))
            {
                frame.fill_in(info);
            }
        }
    }

    fn main_frame_listed(&mut self, route: &Route, id: &FrameId) {
        let Some(target) = self.sessions.get(route).map(|session| session.target.clone()) else { return };
        if let Some(page) = self.pages.get_mut(&target) {
            page.main_frame.get_or_insert_with(|| id.clone());
        }
    }

    fn frame_swapped_out(&mut self, at: At, route: &Route, frame: &FrameId) {
        self.remove(&reach::of_swap_out(self, route, frame));
        let Some(known) = self.frames.get_mut(frame) else { return };
        known.parent_view = ParentView::SwappedOut;
        match known.remote.clone() {
            Some(remote) => self.set_owner(frame, Some(remote)),
            None => self.rehome(at, frame),
        }
    }

    fn navigation_started(&mut self, id: &FrameId) {
        let place = self.history;
        let Some(frame) = self.frames.get_mut(id) else { return };
        frame.navigation_started.get_or_insert(place);
        let page = frame.page.clone();
        self.set_navigating(&page, id, true);
    }

    fn loading_stopped(&mut self, id: &FrameId) {
        if let Some(page) = self.frames.get(id).map(|frame| frame.page.clone()) {
            self.set_navigating(&page, id, false);
        }
    }

    fn set_navigating(&mut self, page: &TargetId, frame: &FrameId, navigating: bool) {
        if let Some(page) = self.pages.get_mut(page)
            && page.main_frame.as_ref() == Some(frame)
        {
            page.navigating = navigating;
        }
    }
}
