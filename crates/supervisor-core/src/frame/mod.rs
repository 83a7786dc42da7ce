//! Frames: one tree a page, true through process changes.
//!
//! Two facts about a frame change on their own, from different sources and in any order: whether its *parent's process*
//! has it (`frameAttached`, `frameDetached`), and whether a *session of its own* is attached to it. Where it lives, its
//! `owner`, follows from the two, so that every order of the same events ends the same.
//!
//! ```text
//!                       no session of its own        session F attached
//!   parent has it       local, owner = parent's      in between; the later fact decides
//!   parent gave it up   orphan: a round trip decides out-of-process, owner = F
//! ```

mod apply;
pub(crate) mod rules;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cdp_wire::{CommandId, FrameId, LoaderId, TargetId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::event::FrameInfo;
use crate::ids::Route;
use crate::limits::{MAX_FRAMES, MAX_GONE_FRAMES};

/// One frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    /// The page that it is part of.
    pub page: TargetId,
    /// Its parent; none for a main frame.
    pub parent: Option<FrameId>,
    /// Whether that is a guess: older browsers do not say where an iframe in another process belongs.
    pub is_parent_guessed: bool,
    /// Its document's URL with the fragment; empty before the first commit.
    pub url: String,
    /// The origin of its document's URL; `null` for an opaque one, empty while unknown. The document's own may be another:
    /// [`State::origin`](crate::state::State::origin).
    pub origin: String,
    /// Its name.
    pub name: String,
    /// Its document's loader.
    pub loader: Option<LoaderId>,
    /// The session that its calls go to and whose events about it count; none while it is an orphan.
    #[serde(with = "crate::perhaps")]
    pub owner: Option<Route>,
    /// The live session that is attached to this frame itself.
    #[serde(with = "crate::perhaps")]
    pub remote: Option<Route>,
    /// What the process of its parent last said about it.
    pub parent_view: ParentView,
    /// While an orphan: the last command that was sent before; an answer to a later one decides.
    pub orphaned: Option<CommandId>,
    /// Whether it is on its way to another document: what is sent to its present one would be lost.
    pub navigating: bool,
    /// The loader that this document will have, where the browser says it.
    pub coming: Option<LoaderId>,
    /// Its place among its siblings, and in the history.
    pub since: u64,
}

impl Frame {
    /// Whether it lives in another process than its parent, in a session of its own.
    #[must_use]
    pub fn is_oopif(&self) -> bool {
        self.parent.is_some() && self.remote.is_some() && self.owner == self.remote
    }

    /// Whether an attachment by its parent's process brings it back there: it has no session, or that process had given it up.
    #[must_use]
    pub fn comes_home(&self) -> bool {
        self.remote.is_none() || self.parent_view == ParentView::SwappedOut
    }

    /// Whether this process may speak of children of it: it lives there, or did before it went elsewhere.
    #[must_use]
    pub(crate) fn can_have_children_in(&self, route: &Route) -> bool {
        self.owner.as_ref() == Some(route) || self.parent_view == ParentView::Here(route.clone())
    }

    /// Whether it can be a child of that frame: it has one parent for life.
    #[must_use]
    pub(crate) fn can_be_below(&self, parent: &FrameId) -> bool {
        self.is_parent_guessed || self.parent.as_ref().is_none_or(|known| known == parent)
    }

    pub(crate) fn describe(&mut self, info: &FrameInfo) {
        self.url.clone_from(&info.url);
        self.origin.clone_from(&info.origin);
        self.name.clone_from(&info.name);
        self.loader = Some(info.loader.clone());
    }

    /// The navigation is over, or came to nothing.
    pub(crate) fn rests(&mut self) {
        self.navigating = false;
        self.coming = None;
    }

    /// Whether a listing shows the document that the frame was on its way to. A session that came after the commit hears
    /// of it in no other way.
    fn has_arrived(&self, info: &FrameInfo) -> bool {
        let is_new = || self.loader.as_ref() != Some(&info.loader);
        self.navigating
            && !info.url.is_empty()
            && self.coming.as_ref().map_or_else(is_new, |coming| *coming == info.loader)
    }

    /// Takes from a listing what is not known yet: it may be older than what events said.
    pub(crate) fn fill_in(&mut self, info: &FrameInfo) {
        if self.has_arrived(info) {
            self.rests();
        }
        // A URL may be known from the target before the document itself was heard of; of the same document a listing,
        // which comes in order with its events, has the latest. An empty one is not a document yet.
        let is_newer = self.loader.as_ref().is_none_or(|loader| *loader == info.loader);
        if (self.url.is_empty() || is_newer) && !info.url.is_empty() {
            self.url.clone_from(&info.url);
            self.origin.clone_from(&info.origin);
            self.loader = Some(info.loader.clone());
        }
        if self.name.is_empty() {
            self.name.clone_from(&info.name);
        }
    }
}

/// What the process of a frame's parent last said about the frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParentView {
    /// Nothing yet.
    Unseen,
    /// It is there, in that session's process.
    Here(Route),
    /// It went to another process.
    SwappedOut,
}

/// All frames of all pages.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Frames {
    by_id: FxHashMap<FrameId, Frame>,
    /// Also of parents that are not known yet: a child that came first finds its place when the parent comes.
    children: FxHashMap<FrameId, BTreeMap<u64, FrameId>>,
    by_page: FxHashMap<TargetId, FxHashSet<FrameId>>,
    /// The frames whose fate is not known, with the session of their parent's process.
    #[serde(with = "crate::perhaps::values")]
    orphans: BTreeMap<FrameId, Option<Route>>,
    #[serde(with = "crate::pairs")]
    orphans_of: BTreeMap<Route, BTreeSet<FrameId>>,
    gone: VecDeque<Gone>,
}

/// A frame that was there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Gone {
    id: FrameId,
    /// It was removed, and not just left behind with its document, which may come back.
    for_good: bool,
}

impl Frames {
    /// The frame with this id.
    #[must_use]
    pub fn get(&self, id: &FrameId) -> Option<&Frame> {
        self.by_id.get(id)
    }

    /// The id with this text, as it is kept: most that a message names are known.
    pub(crate) fn id(&self, text: &str) -> FrameId {
        self.by_id.get_key_value(text).map_or_else(|| FrameId::from(text), |(id, _)| id.clone())
    }

    pub(crate) fn get_mut(&mut self, id: &FrameId) -> Option<&mut Frame> {
        self.by_id.get_mut(id)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The children of a frame, oldest first.
    pub fn children(&self, id: &FrameId) -> impl DoubleEndedIterator<Item = &FrameId> {
        self.children.get(id).into_iter().flat_map(BTreeMap::values)
    }

    /// How many children a frame has.
    #[must_use]
    pub fn children_of(&self, id: &FrameId) -> usize {
        self.children.get(id).map_or(0, BTreeMap::len)
    }

    /// All frames of a page, in no particular order.
    pub fn of_page(&self, page: &TargetId) -> impl Iterator<Item = &FrameId> {
        self.by_page.get(page).into_iter().flatten()
    }

    /// The frames whose fate is not known.
    pub fn orphans(&self) -> impl Iterator<Item = &FrameId> {
        self.orphans.keys()
    }

    /// Those among them whose parent's process is behind this session.
    pub fn orphans_of(&self, route: &Route) -> impl Iterator<Item = &FrameId> {
        self.orphans_of.get(route).into_iter().flatten()
    }

    /// Gives the frame an owner, or makes it an orphan: then `since` is the last command that was sent.
    pub(crate) fn set_owner(&mut self, id: &FrameId, owner: Option<Route>, since: CommandId) {
        let Some(frame) = self.by_id.get_mut(id) else { return };
        frame.orphaned = owner.is_none().then_some(since);
        frame.owner = owner;
        self.index_orphan(id);
        self.index_orphans_below(id);
    }

    /// The children of a frame have another parent now, or one in another process.
    fn index_orphans_below(&mut self, id: &FrameId) {
        if self.orphans.is_empty() {
            return;
        }
        let is_orphan = |child: &&FrameId| self.orphans.contains_key(*child);
        for child in self.children(id).filter(is_orphan).cloned().collect::<Vec<_>>() {
            self.index_orphan(&child);
        }
    }

    /// Puts a frame where [`Frames::orphans_of`] finds it, or takes it from there.
    fn index_orphan(&mut self, id: &FrameId) {
        if let Some(Some(route)) = self.orphans.remove(id)
            && let Some(orphans) = self.orphans_of.get_mut(&route)
        {
            orphans.remove(id);
            if orphans.is_empty() {
                self.orphans_of.remove(&route);
            }
        }
        let Some(frame) = self.by_id.get(id).filter(|frame| frame.orphaned.is_some()) else { return };
        let parent = frame.parent.as_ref().and_then(|parent| self.by_id.get(parent));
        let route = parent.and_then(|parent| parent.owner.clone());
        if let Some(route) = &route {
            self.orphans_of.entry(route.clone()).or_default().insert(id.clone());
        }
        self.orphans.insert(id.clone(), route);
    }

    /// Whether the frame was there and is gone.
    #[must_use]
    pub fn is_gone(&self, id: &FrameId) -> bool {
        self.gone.iter().any(|gone| gone.id == *id)
    }

    /// Whether the frame was removed, so that nothing can come of it any more. One that was only taken for removed may be
    /// back.
    #[must_use]
    pub fn was_removed(&self, id: &FrameId) -> bool {
        self.gone.iter().any(|gone| gone.for_good && gone.id == *id) && self.get(id).is_none()
    }

    /// A frame that nobody had spoken of was removed.
    pub(crate) fn removed_unseen(&mut self, id: &FrameId) {
        self.remember_gone(Gone { id: id.clone(), for_good: true });
    }

    fn remember_gone(&mut self, gone: Gone) {
        self.gone.push_back(gone);
        while self.gone.len() > MAX_GONE_FRAMES {
            self.gone.pop_front();
        }
    }

    /// So many, which have just gone, will not come back.
    pub(crate) fn gone_for_good(&mut self, frames: usize) {
        for gone in self.gone.iter_mut().rev().take(frames) {
            gone.for_good = true;
        }
    }

    /// Whether a further frame is taken in.
    #[must_use]
    pub fn has_room(&self) -> bool {
        self.by_id.len() < MAX_FRAMES
    }

    /// Whether `frame` is `ancestor` or below it. A tree that a hostile peer made deep costs its depth.
    #[must_use]
    pub fn is_below(&self, frame: &FrameId, ancestor: &FrameId) -> bool {
        let mut current = Some(frame);
        while let Some(id) = current {
            if id == ancestor {
                return true;
            }
            current = self.by_id.get(id).and_then(|frame| frame.parent.as_ref());
        }
        false
    }

    /// Whether the frame is on this page, or not known yet.
    fn can_be_on(&self, frame: &FrameId, page: &TargetId) -> bool {
        self.by_id.get(frame).is_none_or(|known| known.page == *page)
    }

    /// Takes a frame in, unless a hostile peer makes it its own ancestor (that needs children which came before it) or puts
    /// it below a frame of another page.
    pub(crate) fn insert(&mut self, id: FrameId, frame: Frame) {
        let is_circle = |parent: &FrameId| {
            *parent == id || (self.children.contains_key(&id) && self.is_below(parent, &id))
        };
        let is_foreign = |other: &FrameId| !self.can_be_on(other, &frame.page);
        let has_bad_parent = frame.parent.as_ref().is_some_and(|it| is_circle(it) || is_foreign(it));
        if has_bad_parent || self.children(&id).any(is_foreign) {
            return;
        }
        if let Some(parent) = &frame.parent {
            self.children.entry(parent.clone()).or_default().insert(frame.since, id.clone());
        }
        self.by_page.entry(frame.page.clone()).or_default().insert(id.clone());
        self.by_id.insert(id.clone(), frame);
        self.index_orphans_below(&id);
    }

    /// Gives a parent to a frame that had none, or a guessed one. A known parent is never changed: a frame has one for life.
    pub(crate) fn adopt(&mut self, id: &FrameId, parent: &FrameId) {
        let is_settled = |frame: &Frame| {
            (frame.parent.is_some() && !frame.is_parent_guessed) || !self.can_be_on(parent, &frame.page)
        };
        if self.by_id.get(id).is_none_or(is_settled) || self.is_below(parent, id) {
            return;
        }
        self.leave_parent(id);
        if let Some(frame) = self.by_id.get_mut(id) {
            frame.parent = Some(parent.clone());
            frame.is_parent_guessed = false;
            self.children.entry(parent.clone()).or_default().insert(frame.since, id.clone());
        }
        self.index_orphan(id);
    }

    fn leave_parent(&mut self, id: &FrameId) {
        let Some(frame) = self.by_id.get(id) else { return };
        let Some(parent) = &frame.parent else { return };
        if let Some(siblings) = self.children.get_mut(parent) {
            siblings.remove(&frame.since);
            if siblings.is_empty() {
                self.children.remove(parent);
            }
        }
    }

    pub(crate) fn remove(&mut self, id: &FrameId) {
        self.leave_parent(id);
        let Some(frame) = self.by_id.remove(id) else { return };
        if let Some(frames) = self.by_page.get_mut(&frame.page) {
            frames.remove(id);
            if frames.is_empty() {
                self.by_page.remove(&frame.page);
            }
        }
        if frame.orphaned.is_some() {
            self.index_orphan(id);
        }
        self.index_orphans_below(id);
        self.remember_gone(Gone { id: id.clone(), for_good: false });
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
