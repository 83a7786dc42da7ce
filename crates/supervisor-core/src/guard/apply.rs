//! Folding what became of the guard.

use cdp_wire::TargetId;

use crate::deadlines::Due;
use crate::dialog::{DialogOpening, Kept};
use crate::flights::{InFlight, Purpose};
use crate::guard::{GuardEvent, SeenEnd, Showing, Stands, Watch};
use crate::ids::{DialogId, Route};
use crate::limits::{GUARD_WAIT, HANDSHAKE};
use crate::page::Blocked;
use crate::state::State;
use crate::time::At;

impl State {
    pub(crate) fn apply_guard(&mut self, at: At, event: &GuardEvent) {
        let guard = &mut self.guard;
        match event {
            GuardEvent::Dialing { epoch, made_for, attempt } => {
                self.deadlines.cancel(&Due::GuardRetry);
                (guard.epoch, guard.made_for, guard.attempt) = (*epoch, *made_for, *attempt);
                guard.dialling = true;
            }
            GuardEvent::Opened { endpoint, .. } => {
                (guard.dialling, guard.endpoint, guard.opened_at) = (false, Some(endpoint.clone()), Some(at));
                self.deadlines.set(Due::GuardAnswer, at.after(HANDSHAKE));
            }
            GuardEvent::Lost { retry_at } => self.guard_lost(at, *retry_at),
            GuardEvent::Stands { stands, message } => self.guard_stands(*stands, message.clone()),
            GuardEvent::Unsuited { why } => guard.unsuited = Some(*why),
            GuardEvent::MainLost { just_after } => {
                guard.quarrels = if *just_after { guard.quarrels.saturating_add(1) } else { 0 };
                guard.opened_at = None;
            }
            GuardEvent::CommandSent { id, route, method, purpose } => {
                let flight =
                    InFlight { route: route.clone(), method: method.clone(), purpose: purpose.clone() };
                guard.flights.sent(*id, flight);
                if *purpose == Purpose::CatchUp {
                    guard.watches.values_mut().for_each(|watch| watch.last_end = None);
                    self.deadlines.set(Due::GuardAnswer, at.after(GUARD_WAIT));
                }
            }
            GuardEvent::CommandAnswered { id } => self.guard_answered(*id),
            GuardEvent::Watches { target, route } => {
                let watch = Watch {
                    route: route.clone(),
                    enabled: false,
                    leaving: false,
                    showing: None,
                    last_end: None,
                };
                guard.watches.insert(target.clone(), watch);
            }
            GuardEvent::Unwatches { target } => {
                if let Some(watch) = guard.watches.remove(target) {
                    guard.flights.forget_route(&watch.route);
                }
            }
            GuardEvent::Listens { .. }
            | GuardEvent::Saw { .. }
            | GuardEvent::SawEnd { .. }
            | GuardEvent::SawLeaving { .. } => self.guard_heard(event),
            GuardEvent::Carries { id, route, until } => self.guard_carries(*id, route.clone(), *until),
        }
    }

    fn guard_lost(&mut self, at: At, retry_at: Option<At>) {
        let guard = &mut self.guard;
        (guard.dialling, guard.endpoint, guard.opened_at) = (false, None, None);
        guard.flights.clear();
        guard.watches.clear();
        self.deadlines.cancel(&Due::GuardAnswer);
        self.deadlines.cancel(&Due::GuardRetry);
        match retry_at {
            Some(retry_at) => {
                guard.lost_at.get_or_insert(at);
                self.deadlines.set(Due::GuardRetry, retry_at);
            }
            None => guard.lost_at = None,
        }
    }

    fn guard_stands(&mut self, stands: Stands, message: Option<String>) {
        let guard = &mut self.guard;
        (guard.stands, guard.message) = (stands, message);
        match stands {
            Stands::On => (guard.attempt, guard.lost_at) = (0, None),
            Stands::Off => (guard.unsuited, guard.quarrels) = (None, 0),
            Stands::Unavailable(_) => {}
        }
    }

    fn guard_answered(&mut self, id: cdp_wire::CommandId) {
        let guard = &mut self.guard;
        let Some(flight) = guard.flights.get(id) else { return };
        if matches!(flight.purpose, Purpose::CatchUp | Purpose::Watch(_)) {
            self.deadlines.cancel(&Due::GuardAnswer);
        }
        guard.flights.answered(id);
    }

    fn guard_heard(&mut self, event: &GuardEvent) {
        let (GuardEvent::Listens { target }
        | GuardEvent::Saw { target, .. }
        | GuardEvent::SawEnd { target, .. }
        | GuardEvent::SawLeaving { target }) = event
        else {
            return;
        };
        let Some(watch) = self.guard.watches.get_mut(target) else { return };
        match event {
            GuardEvent::Listens { .. } => watch.enabled = true,
            GuardEvent::Saw { dialog, .. } => {
                watch.showing = Some(Box::new(Showing { dialog: (**dialog).clone(), settled: false }));
                watch.leaving = false;
            }
            GuardEvent::SawEnd { end, .. } => {
                if watch.showing.as_ref().is_some_and(|showing| end.is_of(&showing.dialog)) {
                    watch.showing = None;
                }
                watch.last_end = Some(end.clone());
            }
            _ => watch.leaving = true,
        }
    }

    fn guard_carries(&mut self, id: DialogId, route: Option<Route>, until: Option<At>) {
        let Some(open) = self.dialogs.open.get_mut(&id) else { return };
        open.kept = route.map_or(Kept::Unsure, Kept::ByGuard);
        open.seen_by.clear();
        if let Some(until) = until {
            self.deadlines.set(Due::Confirm(id), until);
        }
    }

    /// What the task has done with is no news any more when the main connection is lost.
    pub(crate) fn guard_settles(&mut self, dialog: &DialogOpening) {
        let watch = self.guard.watches.get_mut(&dialog.page);
        if let Some(showing) = watch.and_then(|watch| watch.showing.as_mut())
            && showing.dialog.is_same(dialog)
        {
            showing.settled = true;
        }
    }

    /// The page of a carried dialog has a session on the new main connection.
    pub(crate) fn guard_finds_page(&mut self, target: &TargetId, route: &Route) {
        let carried = self.dialogs.open.iter_mut().find(|(_, open)| {
            open.kept != Kept::ByMain && open.opening.page == *target && open.opening.paused.is_none()
        });
        let (Some((id, open)), Some(page)) = (carried, self.pages.get_mut(target)) else { return };
        open.opening.route = route.clone();
        page.slot.open = Some(*id);
        page.blocked = open.unanswerable.map(|why| Blocked { why, dialog: Some(*id) });
    }
}

impl SeenEnd {
    /// Whether it is that dialog's, as far as the browser says.
    #[must_use]
    pub fn is_of(&self, dialog: &DialogOpening) -> bool {
        self.frame.is_none() || dialog.frame.is_none() || self.frame == dialog.frame
    }
}
