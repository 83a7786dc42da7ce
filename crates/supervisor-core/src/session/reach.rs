//! How far an ending reaches.
//!
//! Browsers report the end of a frame or a session at its root only: sessions below it get no detach, frames below it no
//! removal. One event at the root stands for the whole; what it takes with it is computed here, by `decide` (who must be
//! told) and by `apply` (what is removed) alike.

use cdp_wire::{FrameId, TargetId};
use rustc_hash::FxHashSet;

use crate::frame::Frame;
use crate::frame::ParentView;
use crate::ids::Route;
use crate::session::SessionKind;
use crate::state::State;

/// What ends together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reach {
    /// Sessions, parents first.
    pub sessions: Vec<Route>,
    /// Frames.
    pub frames: Vec<FrameId>,
    /// The page, when its own session is among them.
    pub page: Option<TargetId>,
}

/// What ends with a session. A frame that the session was attached to does not: it may go on elsewhere.
#[must_use]
pub fn of_session(state: &State, route: &Route) -> Reach {
    let Some(session) = state.sessions.get(route) else { return Reach::default() };
    let sessions = state.sessions.with_descendants(route);
    match session.kind {
        SessionKind::Page => {
            let mut frames: Vec<_> = state.frames.of_page(&session.target).cloned().collect();
            frames.sort();
            Reach { sessions, frames, page: Some(session.target.clone()) }
        }
        SessionKind::Iframe => {
            let root = FrameId::from(&session.target);
            let ended: FxHashSet<&Route> = sessions.iter().collect();
            let mut frames = below(state, &root, |frame| {
                state
                    .frames
                    .get(frame)
                    .and_then(|frame| frame.owner.as_ref())
                    .is_none_or(|it| ended.contains(it))
            });
            add_strays(state, sessions.get(1..).unwrap_or_default(), &mut frames);
            Reach { sessions, frames, page: None }
        }
    }
}

/// What ends with a frame, itself included.
#[must_use]
pub fn of_frame(state: &State, frame: &FrameId) -> Reach {
    let mut frames = vec![frame.clone()];
    frames.extend(below(state, frame, |_| true));
    with_their_sessions(state, frames)
}

/// What ends when the renderer of a frame dies: all below it.
#[must_use]
pub fn of_crash(state: &State, frame: &FrameId) -> Reach {
    with_their_sessions(state, children_unless(state, frame, |_| false))
}

/// What ends when a new document is committed in a frame: all below it that belongs to the old one. That is what this
/// process has spoken of: of a child of the new document it speaks later. One that it has not spoken of and that has or had a
/// session may be of either; if it is of the old one, its detach says so.
#[must_use]
pub fn of_commit(state: &State, route: &Route, frame: &FrameId) -> Reach {
    with_their_sessions(state, children_unless(state, frame, |child| is_unspoken_of(state, route, child)))
}

/// Whether a session announced this frame whose process has not spoken of it yet; if its own session is over again, the
/// round trip that follows every detach tells what became of it. Who only observes makes none, and takes it for gone.
fn is_unspoken_of(state: &State, route: &Route, frame: &FrameId) -> bool {
    let Some(frame) = state.frames.get(frame).filter(|frame| frame.parent_view == ParentView::Unseen) else {
        return false;
    };
    let session = frame.remote.as_ref().and_then(|remote| state.sessions.get(remote));
    let is_asked_for = frame.orphaned.is_some() && state.observer.is_none();
    session.map_or(is_asked_for, |session| session.parent == *route)
}

/// What ends when a main frame takes the place of another: the old one, itself included.
#[must_use]
pub fn of_succession(state: &State, route: &Route, frame: &FrameId) -> Reach {
    let target = state.sessions.get(route).map(|session| &session.target);
    let before = target.and_then(|target| state.pages.get(target)?.main_frame.as_ref());
    before.filter(|before| *before != frame).map(|before| of_frame(state, before)).unwrap_or_default()
}

/// What ends when a frame leaves a process for another: what that process had below it. One that it has not spoken of may be
/// of a document that the frame comes back to.
#[must_use]
pub fn of_swap_out(state: &State, route: &Route, frame: &FrameId) -> Reach {
    let stays = |child: &FrameId| !belongs_to(state, route, child) || is_unspoken_of(state, route, child);
    with_their_sessions(state, children_unless(state, frame, stays))
}

/// What ends when a frame comes back into its parent's process: all that its own process had below it. Nothing does when
/// it was there already, or is only on its way out.
#[must_use]
pub fn of_homecoming(state: &State, route: &Route, frame: &FrameId) -> Reach {
    if !state.frames.get(frame).is_some_and(Frame::comes_home) {
        return Reach::default();
    }
    // A child of the document that it has there may have been announced before the frame itself was.
    with_their_sessions(state, children_unless(state, frame, |child| belongs_to(state, route, child)))
}

/// Whether a frame is in this session's process, or was announced by it.
fn belongs_to(state: &State, route: &Route, frame: &FrameId) -> bool {
    let Some(frame) = state.frames.get(frame) else { return false };
    let session = frame.remote.as_ref().and_then(|it| state.sessions.get(it));
    session.map(|session| &session.parent).or(frame.owner.as_ref()) == Some(route)
}

/// The children of a frame that do not stay, each with all below it.
fn children_unless(state: &State, frame: &FrameId, stays: impl Fn(&FrameId) -> bool) -> Vec<FrameId> {
    let mut frames = Vec::new();
    for child in state.frames.children(frame).filter(|child| !stays(child)) {
        frames.push(child.clone());
        frames.extend(below(state, child, |_| true));
    }
    frames
}

/// The frames below a frame that `ends` is true for, parents first.
fn below(state: &State, frame: &FrameId, ends: impl Fn(&FrameId) -> bool) -> Vec<FrameId> {
    let mut found = Vec::new();
    let mut waiting: Vec<&FrameId> = state.frames.children(frame).rev().collect();
    while let Some(frame) = waiting.pop() {
        if ends(frame) {
            found.push(frame.clone());
        }
        waiting.extend(state.frames.children(frame).rev());
    }
    found
}

fn with_their_sessions(state: &State, mut frames: Vec<FrameId>) -> Reach {
    let mut sessions = Vec::new();
    let mut seen = FxHashSet::default();
    for remote in frames.iter().filter_map(|frame| state.frames.get(frame)?.remote.as_ref()) {
        if seen.contains(remote) {
            continue;
        }
        for route in state.sessions.with_descendants(remote) {
            if seen.insert(route.clone()) {
                sessions.push(route);
            }
        }
    }
    add_strays(state, &sessions, &mut frames);
    Reach { sessions, frames, page: None }
}

/// Adds the frames of ended sessions that the tree does not lead to: their parents are not known yet, or a peer named others
/// than those in whose process they were announced.
fn add_strays(state: &State, sessions: &[Route], frames: &mut Vec<FrameId>) {
    // Most frames have no session of their own.
    if sessions.is_empty() {
        return;
    }
    let is_stray = |route: &Route, root: &FrameId| {
        let frame = state.frames.get(root);
        let parent = frame.and_then(|frame| frame.parent.as_ref());
        parent.is_some_and(|parent| state.frames.get(parent).is_none())
            || frame.is_some_and(|frame| frame.owner.as_ref() == Some(route))
    };
    let mut known: FxHashSet<FrameId> = frames.iter().cloned().collect();
    let roots = sessions.iter().filter_map(|route| Some((route, state.root_frame(route)?)));
    let strays: Vec<FrameId> =
        roots.filter(|(route, root)| !known.contains(root) && is_stray(route, root)).map(|it| it.1).collect();
    for root in strays {
        let below = below(state, &root, |_| true);
        frames.extend(std::iter::once(root).chain(below).filter(|frame| known.insert(frame.clone())));
    }
}
