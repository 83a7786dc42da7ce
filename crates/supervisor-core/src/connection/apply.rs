//! Folding the events of the connection.

use crate::deadlines::Due;
use crate::event::Event;
use crate::limits::{HANDSHAKE, STOP_WAIT};
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
        self.socket_gone();
        self.connection.status = Status::Reconnecting;
        self.connection.last_error = Some(reason.to_owned());
        self.connection.lost_at.get_or_insert(at);
        self.deadlines.set(Due::Reconnect, retry_at);
    }

    /// What cannot outlive a socket. What was last known of the browser stays, to be shown as stale.
    pub(crate) fn socket_gone(&mut self) {
        self.connection.endpoint = None;
        self.flights.clear();
        self.deadlines.keep_late_results();
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
