//! Folding what became of the guard.

use std::collections::VecDeque;

use cdp_wire::TargetId;

use crate::deadlines::Due;
use crate::dialog::{DialogOpening, Kept};
use crate::flights::{InFlight, Purpose};
use crate::guard::{Ended, GuardEvent, SeenEnd, Showing, Stands, Teller, Watch};
use crate::ids::{DialogId, Route};
use crate::limits::{GUARD_WAIT, HANDSHAKE, MAX_SEEN_AT_ONCE, MAX_SEEN_ENDS};
use crate::page::Blocked;
use crate::snapshot::Status;
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
                    self.guard_falls_behind();
                    self.deadlines.set(Due::GuardAnswer, at.after(GUARD_WAIT));
                }
            }
            GuardEvent::CommandAnswered { id } => self.guard_answered(*id),
            GuardEvent::Watches { target, route } => {
                let listens = self.connection.status == Status::Connected;
                let teller = if listens { Teller::Main } else { Teller::Guard };
                guard.watches.insert(target.clone(), Watch::new(route.clone(), teller));
            }
            GuardEvent::Unwatches { target } => {
                if let Some(watch) = guard.watches.remove(target) {
                    guard.flights.forget_route(&watch.route);
                }
            }
            GuardEvent::Listens { .. }
            | GuardEvent::Saw { .. }
            | GuardEvent::SawEnd { .. }
            | GuardEvent::SawLeaving { .. }
            | GuardEvent::Tells { .. } => self.guard_heard(event),
            GuardEvent::Carries { id, route, sure } => self.guard_carries(*id, route.clone(), *sure),
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
        if !guard.is_catching_up() {
            guard.watches.values_mut().for_each(|watch| watch.lags = false);
        }
    }

    fn guard_heard(&mut self, event: &GuardEvent) {
        let (GuardEvent::Listens { target }
        | GuardEvent::Saw { target, .. }
        | GuardEvent::SawEnd { target, .. }
        | GuardEvent::SawLeaving { target }
        | GuardEvent::Tells { target, .. }) = event
        else {
            return;
        };
        let Some(watch) = self.guard.watches.get_mut(target) else { return };
        match event {
            GuardEvent::Listens { .. } => watch.enabled = true,
            GuardEvent::Saw { dialog, .. } => watch.saw((**dialog).clone()),
            GuardEvent::SawEnd { end, .. } => watch.saw_end(end),
            GuardEvent::Tells { teller, .. } => watch.tells(*teller),
            _ => watch.leaving = true,
        }
    }

    fn guard_carries(&mut self, id: DialogId, route: Option<Route>, sure: bool) {
        if let Some(open) = self.dialogs.open.get_mut(&id) {
            open.kept = match route {
                Some(route) if sure => Kept::ByGuard(route),
                route => Kept::Unsure(route),
            };
            open.seen_by.clear();
        }
    }

    /// The main connection is lost. On pages where its word counted, the guard may still have to hear of what it had told.
    fn guard_falls_behind(&mut self) {
        for watch in self.guard.watches.values_mut() {
            watch.lags = watch.teller != Teller::Guard;
            watch.tells(Teller::Guard);
        }
    }

    /// Nobody else listens.
    pub(crate) fn guard_tells(&mut self) {
        self.guard.watches.values_mut().for_each(|watch| watch.tells(Teller::Guard));
    }

    /// What the task has done with is no news any more when the main connection is lost.
    pub(crate) fn guard_settles(&mut self, dialog: &DialogOpening) {
        let Some(watch) = self.guard.watches.get_mut(&dialog.page) else { return };
        match watch.ends.iter().position(|ended| ended.dialog.is_same(dialog)) {
            Some(place) => drop(watch.ends.remove(place)),
            None => {
                let same = watch.showing.iter_mut().filter(|showing| showing.dialog.is_same(dialog));
                same.for_each(|showing| showing.settled = true);
            }
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

impl Watch {
    fn new(route: Route, teller: Teller) -> Self {
        let (showing, ends) = (Vec::new(), VecDeque::new());
        Self { route, enabled: false, leaving: false, showing, ends, lags: false, teller }
    }

    fn tells(&mut self, teller: Teller) {
        let is_compared = matches!(teller, Teller::MainCompares | Teller::GuardSettles);
        for showing in &mut self.showing {
            showing.compared = is_compared && (showing.compared || teller == Teller::MainCompares);
        }
        self.teller = teller;
    }

    fn saw(&mut self, dialog: DialogOpening) {
        let overlaps = !self.showing.is_empty() && dialog.has_browser_handler;
        if self.showing.len() >= MAX_SEEN_AT_ONCE {
            self.showing.remove(0);
        }
        self.showing.push(Showing { dialog, settled: false, overlaps, compared: false });
        self.leaving = false;
    }

    /// Those that were there first end first.
    fn saw_end(&mut self, end: &SeenEnd) {
        let Some(place) = self.showing.iter().position(|showing| end.is_of(&showing.dialog)) else { return };
        let Showing { dialog, settled, .. } = self.showing.remove(place);
        if !settled {
            let overlapped = place < self.showing.len();
            self.ends.push_back(Ended { dialog, end: end.clone(), overlapped });
        }
        while self.ends.len() > MAX_SEEN_ENDS {
            self.ends.pop_front();
        }
    }
}

impl SeenEnd {
    /// Whether it is that dialog's, as far as the browser says.
    #[must_use]
    pub fn is_of(&self, dialog: &DialogOpening) -> bool {
        self.frame.is_none() || dialog.frame.is_none() || self.frame == dialog.frame
    }
}
