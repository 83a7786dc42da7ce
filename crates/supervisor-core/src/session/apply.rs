//! Folding the events of sessions, and of the commands on them.

use cdp_wire::{CommandId, FrameId, TargetId};

use crate::call::blocking;
use crate::deadlines::Due;
use crate::dialog::Slot;
use crate::event::{Event, Silence};
use crate::flights::{InFlight, Purpose};
use crate::frame::ParentView;
use crate::ids::Route;
use crate::limits::{PROBE_WAIT, SETUP_SILENCE};
use crate::page::Page;
use crate::session::reach::{self, Reach};
use crate::session::{Session, SessionKind};
use crate::state::State;
use crate::time::At;

impl State {
    pub(crate) fn command_sent(&mut self, at: At, id: CommandId, flight: InFlight) {
        match flight.purpose {
            Purpose::ListFrames => {
                if let Some(session) = self.sessions.get_mut(&flight.route) {
                    session.listing = Some(id);
                }
            }
            Purpose::Call(call) => {
                if let Some(open) = self.calls.open.get_mut(&call) {
                    open.command = Some(id);
                }
            }
            Purpose::Probe => self.deadlines.set(Due::ProbeAnswer, at.after(PROBE_WAIT)),
            _ => {}
        }
        self.flights.sent(id, flight);
    }

    pub(crate) fn command_answered(&mut self, id: CommandId) {
        let Some(flight) = self.flights.get(id) else { return };
        if let Some(session) = self.sessions.get_mut(&flight.route) {
            session.auto_attach_answered |= flight.method == "Target.setAutoAttach";
            if session.listing == Some(id) {
                session.listing = None;
            }
            if blocking::needs_renderer(&flight.method) {
                session.heard = Some(id);
                // It answers: the dialog that a lost connection left behind is gone.
                if session.kind == SessionKind::Page {
                    self.connection.orphaned.remove(&session.page);
                } else {
                    let root = FrameId::from(&session.target);
                    self.connection.doomed.retain(|_, doomed| doomed.without.as_ref() != Some(&root));
                }
            }
        }
        if let Purpose::Pulse(call) = flight.purpose {
            self.deadlines.cancel(&Due::Suspect(call));
        }
        self.flights.answered(id);
    }

    pub(crate) fn apply_attached(&mut self, at: At, event: &Event) {
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
                    slot: Slot::default(),
                    blocked: None,
                    flooding: false,
                    bridge_unavailable: None,
                };
                self.pages.insert(target.clone(), page);
                self.guard_finds_page(target, route);
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

    pub(crate) fn iframe_attached(
        &mut self,
        route: &Route,
        parent: &Route,
        frame: &FrameId,
        above: Option<&FrameId>,
        url: &str,
    ) {
        let Some(page) = self.sessions.get(parent).map(|session| session.page.clone()) else { return };
        // Older browsers do not name the parent frame; the parent session's own frame is the best guess.
        let is_guess = above.is_none();
        let above =
            above.cloned().or_else(|| self.root_frame(parent)).unwrap_or_else(|| FrameId::from(&page));
        let target = TargetId::from(frame);
        let session = Session::new(SessionKind::Iframe, target, parent.clone(), page.clone(), self.history);
        self.sessions.insert(route.clone(), session);
        if self.frames.get(frame).is_none() {
            self.insert_frame(frame.clone(), page, Some(above), ParentView::Unseen);
            if let Some(known) = self.frames.get_mut(frame) {
                known.is_parent_guessed = is_guess;
            }
        } else if !is_guess {
            self.frames.adopt(frame, &above);
        }
        if let Some(known) = self.frames.get_mut(frame) {
            known.remote = Some(route.clone());
            // The document in the new process, which may have been there for long, is not known.
            known.loader = None;
            if !url.is_empty() {
                url.clone_into(&mut known.url);
            }
        }
        self.set_owner(frame, Some(route.clone()));
    }

    pub(crate) fn session_gone(&mut self, at: At, route: &Route) {
        self.flights.forget_route(route);
        let root = self.sessions.get(route).map(|session| FrameId::from(&session.target));
        self.remove(&reach::of_session(self, route));
        let Some(root) = root else { return };
        if let Some(frame) = self.frames.get_mut(&root).filter(|frame| frame.remote.as_ref() == Some(route)) {
            frame.remote = None;
            if frame.owner.as_ref() == Some(route) {
                // Its document was in the process that is gone: what it shows now is not known.
                frame.loader = None;
            }
            self.rehome(at, &root);
        }
    }

    pub(crate) fn remove(&mut self, reach: &Reach) {
        for route in &reach.sessions {
            self.flights.forget_route(route);
            self.deadlines.cancel(&Due::Setup(route.clone()));
            self.deadlines.cancel(&Due::Objects(route.clone()));
            self.sessions.remove(route);
        }
        for frame in &reach.frames {
            self.deadlines.cancel(&Due::Orphan(frame.clone()));
            self.frames.remove(frame);
        }
        if let Some(page) = &reach.page {
            self.pages.remove(page);
            self.deadlines.cancel(&Due::Flood(page.clone()));
            self.connection.orphaned.remove(page);
            self.connection.doomed.remove(page);
        }
    }

    pub(crate) fn session_silent(&mut self, route: &Route, looks: Silence, look_again: At) {
        let Some(session) = self.sessions.get_mut(route) else { return };
        session.unresponsive = looks == Silence::Unresponsive;
        self.deadlines.cancel(&Due::Setup(route.clone()));
        if looks != Silence::Unresponsive {
            self.deadlines.set(Due::Setup(route.clone()), look_again);
        }
    }

    /// It is set up once more, and must answer as if it were new.
    pub(crate) fn session_revived(&mut self, at: At, route: &Route) {
        let Some(session) = self.sessions.get_mut(route) else { return };
        session.crashed = false;
        session.heard = None;
        session.auto_attach_answered = false;
        self.deadlines.set(Due::Setup(route.clone()), at.after(SETUP_SILENCE));
    }

    pub(crate) fn session_crashed(&mut self, route: &Route) {
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
}
