//! Folding the events of frames.

use cdp_wire::{FrameId, LoaderId, TargetId};

use crate::deadlines::Due;
use crate::event::FrameInfo;
use crate::frame::{Frame, ParentView};
use crate::ids::Route;
use crate::limits::ORPHAN_WAIT;
use crate::session::reach;
use crate::state::State;
use crate::time::At;

impl State {
    pub(crate) fn insert_frame(
        &mut self,
        id: FrameId,
        page: TargetId,
        parent: Option<FrameId>,
        view: ParentView,
    ) {
        let owner = match &view {
            ParentView::Here(route) => Some(route.clone()),
            _ => None,
        };
        let frame = Frame {
            page,
            parent,
            is_parent_guessed: false,
            url: String::new(),
            origin: String::new(),
            name: String::new(),
            loader: None,
            owner,
            remote: None,
            parent_view: view,
            orphaned: None,
            navigating: false,
            coming: None,
            since: self.history_place(),
        };
        self.frames.insert(id, frame);
    }

    /// Several frames can come with one event: each gets a place of its own, in order.
    pub(crate) fn history_place(&self) -> u64 {
        (self.history << 20) + (self.frames.len() as u64 & 0xF_FFFF)
    }

    pub(crate) fn set_owner(&mut self, frame: &FrameId, owner: Option<Route>) {
        if owner.is_some() {
            self.deadlines.cancel(&Due::Orphan(frame.clone()));
        }
        self.frames.set_owner(frame, owner, self.flights.last_id());
    }

    /// A frame without a session of its own lives where its parent's process says, or nobody knows where.
    pub(crate) fn rehome(&mut self, at: At, frame: &FrameId) {
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

    pub(crate) fn frame_attached(&mut self, route: &Route, frame: &FrameId, parent: &FrameId) {
        let Some(known) = self.frames.get(frame) else {
            let Some(page) = self.sessions.get(route).map(|session| session.page.clone()) else { return };
            self.insert_frame(frame.clone(), page, Some(parent.clone()), ParentView::Here(route.clone()));
            return;
        };
        if known.comes_home() {
            self.remove(&reach::of_homecoming(self, route, frame));
            self.set_owner(frame, Some(route.clone()));
        }
        self.frames.adopt(frame, parent);
        if let Some(known) = self.frames.get_mut(frame) {
            known.parent_view = ParentView::Here(route.clone());
        }
    }

    pub(crate) fn frame_navigated(&mut self, route: &Route, info: &FrameInfo) {
        self.remove(&reach::of_commit(self, route, &info.id));
        let is_main = info.parent.is_none() && self.is_page_session(route);
        if is_main {
            self.main_frame_is(route, &info.id);
            self.forget_doom(route);
        }
        self.ensure_frame(route, info);
        self.frames_owner_if_orphan(route, &info.id);
        if let Some(frame) = self.frames.get_mut(&info.id) {
            frame.describe(info);
            frame.rests();
        }
        let last = self.flights.last_id();
        if self.root_frame(route).as_ref() == Some(&info.id)
            && let Some(session) = self.sessions.get_mut(route)
        {
            session.committed = Some(last);
            session.crashed = false;
        }
    }

    /// With a new document the page is as any other.
    fn forget_doom(&mut self, route: &Route) {
        if let Some(session) = self.sessions.get(route) {
            self.connection.doomed.remove(&session.page);
        }
    }

    pub(crate) fn main_frame_is(&mut self, route: &Route, id: &FrameId) {
        let Some(target) = self.sessions.get(route).map(|session| session.target.clone()) else { return };
        let before = self.pages.get(&target).and_then(|page| page.main_frame.clone());
        if let Some(before) = before.filter(|before| before != id) {
            self.remove(&reach::of_frame(self, &before));
        }
        if let Some(page) = self.pages.get_mut(&target) {
            page.main_frame = Some(id.clone());
        }
    }

    pub(crate) fn ensure_frame(&mut self, route: &Route, info: &FrameInfo) {
        if self.frames.get(&info.id).is_none()
            && self.frames.has_room()
            && self.can_speak_of(route, &info.id, info.parent.as_ref())
            && let Some(page) = self.sessions.get(route).map(|session| session.page.clone())
        {
            self.insert_frame(info.id.clone(), page, info.parent.clone(), ParentView::Here(route.clone()));
        }
        if let Some(parent) = &info.parent {
            self.frames.adopt(&info.id, parent);
        }
    }

    /// A process speaks of its own root, and of what is below frames that it has. Anything else would outlive it, unless it is
    /// the page's own, with which every frame of the page ends.
    fn can_speak_of(&self, route: &Route, id: &FrameId, parent: Option<&FrameId>) -> bool {
        let parent = parent.and_then(|parent| self.frames.get(parent));
        self.root_frame(route).as_ref() == Some(id)
            || parent.map_or(self.is_page_session(route), |parent| parent.can_have_children_in(route))
    }

    pub(crate) fn frames_owner_if_orphan(&mut self, route: &Route, id: &FrameId) {
        let page = self.sessions.get(route).map(|session| &session.page);
        let can_claim = |frame: &Frame| {
            frame.owner.is_none()
                && Some(&frame.page) == page
                && self.can_speak_of(route, id, frame.parent.as_ref())
        };
        if self.frames.get(id).is_some_and(can_claim) {
            if let Some(frame) = self.frames.get_mut(id) {
                frame.parent_view = ParentView::Here(route.clone());
            }
            self.set_owner(id, Some(route.clone()));
        }
    }

    pub(crate) fn frames_listed(&mut self, route: &Route, frames: &[FrameInfo]) {
        for info in frames {
            if info.parent.is_none() {
                let known = self.root_frame(route);
                if known.is_some_and(|known| known != info.id) {
                    return;
                }
                if self.is_page_session(route) {
                    self.main_frame_listed(route, &info.id);
                }
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

    pub(crate) fn main_frame_listed(&mut self, route: &Route, id: &FrameId) {
        let Some(target) = self.sessions.get(route).map(|session| session.target.clone()) else { return };
        if let Some(page) = self.pages.get_mut(&target) {
            page.main_frame.get_or_insert_with(|| id.clone());
        }
    }

    pub(crate) fn frame_swapped_out(&mut self, at: At, route: &Route, frame: &FrameId) {
        self.remove(&reach::of_swap_out(self, route, frame));
        let Some(known) = self.frames.get_mut(frame) else { return };
        known.parent_view = ParentView::SwappedOut;
        if known.owner != known.remote {
            // What is known is the document that it left behind.
            known.loader = None;
        }
        match known.remote.clone() {
            Some(remote) => self.set_owner(frame, Some(remote)),
            None => self.rehome(at, frame),
        }
    }

    pub(crate) fn frame_gone(&mut self, frame: &FrameId) {
        let reach = reach::of_frame(self, frame);
        let was_known = self.frames.get(frame).is_some();
        let known = reach.frames.iter().filter(|frame| self.frames.get(frame).is_some()).count();
        self.remove(&reach);
        self.frames.gone_for_good(known);
        if !was_known && !self.frames.is_gone(frame) {
            self.frames.removed_unseen(frame);
        }
    }

    pub(crate) fn navigation_started(&mut self, id: &FrameId, loader: Option<&LoaderId>) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.navigating = true;
            frame.coming = loader.cloned();
        }
    }

    pub(crate) fn loading_stopped(&mut self, id: &FrameId) {
        if let Some(frame) = self.frames.get_mut(id) {
            frame.rests();
        }
    }
}
