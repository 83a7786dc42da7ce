//! Folding the events of dialogs.

use cdp_wire::TargetId;

use crate::deadlines::Due;
use crate::dialog::{Answer, Closed, ClosedBy, Kept, Open, Owed, Progress, Reason, Stray, Unanswerable};
use crate::event::Event;
use crate::ids::{DialogId, Req, Route};
use crate::limits::{ANSWER_CONFIRM, MAX_OWED, REASON_WAIT};
use crate::state::State;
use crate::time::At;

impl State {
    pub(crate) fn apply_dialog(&mut self, at: At, event: &Event) {
        match event {
            Event::DialogOpened { id, dialog, watchdog } => {
                self.dialogs.next = DialogId(id.0 + 1);
                if let Some(page) = self.pages.get_mut(&dialog.page).filter(|_| dialog.paused.is_none()) {
                    page.slot.open = Some(*id);
                }
                let open = Open {
                    opening: (**dialog).clone(),
                    opened_at: at,
                    progress: Progress::Pending,
                    seen_by: [dialog.route.clone()].into(),
                    unanswerable: None,
                    kept: Kept::ByMain,
                    waiting: Vec::new(),
                };
                self.dialogs.open.insert(*id, open);
                if let Some(watchdog) = watchdog {
                    self.deadlines.set(Due::Dialog(*id), *watchdog);
                }
            }
            Event::DialogWatchdogSet { id, watchdog } => match watchdog {
                Some(at) => self.deadlines.set(Due::Dialog(*id), *at),
                None => self.deadlines.cancel(&Due::Dialog(*id)),
            },
            Event::DialogSeenAgain { id, route } => {
                if let Some(open) = self.dialogs.open.get_mut(id) {
                    open.seen_by.insert(route.clone());
                    if open.kept != Kept::ByMain {
                        (open.kept, open.opening.route) = (Kept::ByMain, route.clone());
                    }
                }
            }
            Event::DialogAwaited { id, req } => self.answer_awaited(at, *id, *req),
            Event::DialogAnswering { id, by, req, accept, user_input, command } => {
                let answer = Answer {
                    by: *by,
                    req: *req,
                    accept: *accept,
                    user_input: user_input.clone(),
                    command: *command,
                };
                self.progress(*id, |_| Progress::Answering(answer));
                self.deadlines.cancel(&Due::Dialog(*id));
                if req.is_some() {
                    self.deadlines.set(Due::Answer(*id), at.after(self.options.call_timeout));
                }
            }
            Event::DialogAnswerOverdue { id } => self.answer_overdue(*id),
            Event::DialogClosing { id, until, .. } => {
                self.progress(*id, |answer| answer.map_or(Progress::Pending, Progress::Closing));
                self.deadlines.set(Due::Confirm(*id), *until);
            }
            Event::DialogTaken { id, until } => {
                self.progress(*id, |answer| answer.map_or(Progress::Pending, Progress::Taken));
                self.deadlines.set(Due::Confirm(*id), *until);
            }
            Event::DialogAnswerRefused { id } => {
                self.progress(*id, |_| Progress::Pending);
                self.deadlines.cancel(&Due::Answer(*id));
                self.nobody_waits(*id);
            }
            Event::DialogUnanswerable { id, why } => {
                if let Some(open) = self.dialogs.open.get_mut(id) {
                    open.unanswerable = Some(*why);
                }
            }
            Event::DialogEnded { id, by, reason, accepted, user_input, owed } => {
                self.dialog_ended(at, *id, (*by, *reason), *accepted, user_input.clone(), owed);
            }
            Event::DialogStrayTaken { id } => {
                for stray in self.dialogs.strays.iter_mut().filter(|stray| stray.meant == *id) {
                    stray.taken = true;
                }
            }
            Event::DialogAnswerSettled { id } => {
                self.dialogs.strays.retain(|stray| stray.meant != *id);
                self.deadlines.cancel(&Due::Confirm(*id));
                self.deadlines.cancel(&Due::Answer(*id));
            }
            Event::DialogEndRepeated { page, route, frame } => {
                if let Some(page) = self.pages.get_mut(page)
                    && let Some(place) = page.slot.owed_at(route, frame.as_ref())
                {
                    page.slot.owed.remove(place);
                }
            }
            Event::DialogReasonKnown { id, reason } => {
                self.deadlines.cancel(&Due::Reason(*id));
                if let Some(closed) = self.dialogs.recent.iter_mut().find(|closed| closed.id == *id) {
                    closed.reason = Some(*reason);
                }
            }
            _ => {}
        }
    }

    /// It waits no longer than a request may take.
    fn answer_awaited(&mut self, at: At, id: DialogId, req: Req) {
        if let Some(open) = self.dialogs.open.get_mut(&id) {
            open.waiting.push(req);
        }
        if self.deadlines.get(&Due::Answer(id)).is_none() {
            self.deadlines.set(Due::Answer(id), at.after(self.options.call_timeout));
        }
    }

    /// Whoever waited was told.
    fn nobody_waits(&mut self, id: DialogId) {
        if let Some(open) = self.dialogs.open.get_mut(&id) {
            open.waiting.clear();
        }
    }

    fn answer_overdue(&mut self, id: DialogId) {
        self.nobody_waits(id);
        if let Some(answer) = self.dialogs.open.get_mut(&id).and_then(Open::answer_mut) {
            answer.req = None;
        }
        for stray in self.dialogs.strays.iter_mut().filter(|stray| stray.meant == id) {
            stray.answer.req = None;
        }
    }

    pub(crate) fn page_flooding(&mut self, target: &TargetId, until: Option<At>) {
        if let Some(page) = self.pages.get_mut(target) {
            page.flooding = until.is_some();
            match until {
                Some(until) => self.deadlines.set(Due::Flood(target.clone()), until),
                None => self.deadlines.cancel(&Due::Flood(target.clone())),
            }
        }
    }

    fn progress(&mut self, id: DialogId, next: impl FnOnce(Option<Answer>) -> Progress) {
        if let Some(open) = self.dialogs.open.get_mut(&id) {
            open.progress = next(open.answer().cloned());
        }
    }

    fn dialog_ended(
        &mut self,
        at: At,
        id: DialogId,
        (by, reason): (ClosedBy, Option<Reason>),
        accepted: Option<bool>,
        user_input: Option<String>,
        owed: &[Route],
    ) {
        let Some(open) = self.dialogs.open.remove(&id) else { return };
        self.guard_settles(&open.opening);
        self.deadlines.cancel(&Due::Dialog(id));
        self.deadlines.cancel(&Due::Confirm(id));
        if by == ClosedBy::Remote && reason.is_none() {
            self.deadlines.set(Due::Reason(id), at.after(REASON_WAIT));
        }
        if let Some(page) = self.pages.get_mut(&open.opening.page) {
            if page.slot.open == Some(id) {
                page.slot.open = None;
            }
            let frame = &open.opening.frame;
            page.slot
                .owed
                .extend(owed.iter().map(|route| Owed { route: route.clone(), frame: frame.clone() }));
            while page.slot.owed.len() > MAX_OWED {
                page.slot.owed.pop_front();
            }
        }
        let is_native = open.opening.paused.is_none();
        if reason == Some(Reason::Disconnected)
            && is_native
            && !open.unanswerable.is_some_and(Unanswerable::is_deadly)
        {
            self.dialog_orphaned(&open.opening);
        }
        self.note_strays(at, id, &open, (by, reason), accepted);
        if !self.dialogs.strays.iter().any(|stray| stray.meant == id) {
            self.deadlines.cancel(&Due::Answer(id));
        }
        let reason = reason.or((by == ClosedBy::Remote).then_some(Reason::Unknown));
        let Open { opening, opened_at, .. } = open;
        self.dialogs.remember(Closed {
            id,
            opening,
            opened_at,
            closed_at: at,
            by,
            reason,
            accepted,
            user_input,
        });
    }

    /// An answer that lost its dialog may hit the next one; and this may be the one that an earlier answer hit.
    fn note_strays(
        &mut self,
        at: At,
        id: DialogId,
        open: &Open,
        (by, reason): (ClosedBy, Option<Reason>),
        accepted: Option<bool>,
    ) {
        // An answer by the bridge names its request: it cannot hit another.
        if by != ClosedBy::Remote || open.opening.paused.is_some() {
            return;
        }
        let page = &open.opening.page;
        // The browser tells the end just before it confirms the answer: the last one is it.
        let hit = |stray: &&mut Stray| {
            let is_known = stray.taken && stray.hit.is_some();
            stray.page == *page && !is_known && Some(stray.answer.accept) == accepted
        };
        self.dialogs.strays.iter_mut().filter(hit).for_each(|stray| stray.hit = Some(id));
        if let Some(answer) = open.answer().filter(|_| leaves_a_stray(reason)) {
            let by_guard = open.kept != Kept::ByMain;
            let (page, answer) = (page.clone(), answer.clone());
            let stray = Stray { meant: id, page, answer, hit: None, by_guard, taken: false };
            self.dialogs.strays.push(stray);
            self.deadlines.set(Due::Confirm(id), at.after(ANSWER_CONFIRM));
        }
    }
}

/// Whether an answer that was on its way when its dialog ended so can still arrive anywhere.
pub(crate) fn leaves_a_stray(reason: Option<Reason>) -> bool {
    !matches!(reason, Some(Reason::TargetGone | Reason::Disconnected | Reason::Crash))
}
