//! Folding the events of the connection.

use cdp_wire::{LoaderId, TargetId};

use crate::deadlines::Due;
use crate::dialog::{DialogOpening, Unanswerable};
use crate::event::Event;
use crate::limits::{HANDSHAKE, STOP_WAIT};
use crate::page::Doomed;
use crate::snapshot::Status;
use crate::state::State;
use crate::time::At;

impl State {
    pub(crate) fn apply_connection(&mut self, at: At, event: &Event) {
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
                // The guard may have learned more since the loss.
                self.keep_doomed();
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
                self.deadlines.set(Due::Stop, at.after(STOP_WAIT));
            }
            Event::Stopped => {
                self.forget_browser();
                self.socket_gone();
                self.connection.status = Status::Stopped;
            }
            Event::ProbeScheduled { next } => {
                self.deadlines.cancel(&Due::ProbeAnswer);
                self.deadlines.set(Due::Probe, *next);
            }
            _ => {}
        }
    }

    pub(crate) fn connection_lost(&mut self, at: At, reason: &str, retry_at: At) {
        self.keep_doomed();
        self.socket_gone();
        self.connection.status = Status::Reconnecting;
        self.connection.last_error = Some(reason.to_owned());
        self.connection.lost_at.get_or_insert(at);
        self.deadlines.set(Due::Reconnect, retry_at);
    }

    /// Measured on Chromium: what makes a page deadly outlives its clients.
    fn keep_doomed(&mut self) {
        if self.connection.status == Status::Connected {
            // All pages are known: those that are not among them were closed since the loss before.
            self.connection.orphaned.retain(|target| self.pages.get(target).is_some());
            self.connection.doomed.retain(|target, _| self.pages.get(target).is_some());
        }
        for (target, page) in self.pages.iter() {
            let Some(why) = page.blocked.as_ref().map(|it| it.why).filter(|why| why.is_deadly()) else {
                continue;
            };
            let doomed = Doomed { why, loader: self.main_loader(target), without: None };
            self.connection.doomed.entry(target.clone()).or_insert(doomed);
        }
    }

    /// A native dialog is open when the connection is lost: from now on nobody can answer it.
    pub(crate) fn dialog_orphaned(&mut self, dialog: &DialogOpening) {
        let page = &dialog.page;
        self.connection.orphaned.insert(page.clone());
        let owner = dialog.frame.as_ref().and_then(|frame| self.frames.get(frame)?.owner.clone());
        let iframe = owner.filter(|owner| !self.is_page_session(owner)).and_then(|it| self.root_frame(&it));
        if iframe.is_some() && dialog.has_browser_handler {
            let loader = self.main_loader(page);
            let doomed = Doomed { why: Unanswerable::FrameRemoved, loader, without: iframe };
            self.connection.doomed.insert(page.clone(), doomed);
        }
    }

    fn main_loader(&self, page: &TargetId) -> Option<LoaderId> {
        self.frames.get(self.pages.get(page)?.main_frame.as_ref()?)?.loader.clone()
    }

    /// What cannot outlive a socket. What was last known of the browser stays, to be shown as stale.
    pub(crate) fn socket_gone(&mut self) {
        self.connection.endpoint = None;
        self.flights.clear();
        self.guard_tells();
        self.deadlines.socket_gone();
    }

    /// A new socket shows the browser afresh.
    pub(crate) fn forget_browser(&mut self) {
        self.flights.clear();
        self.sessions.clear();
        self.pages.clear();
        self.frames.clear();
        self.bridge.disconnected();
        self.connection.tells_navigations = false;
    }
}
