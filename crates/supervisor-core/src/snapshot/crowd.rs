//! A page with more frames than the snapshot shows. What becomes of the others changes nothing that is shown, so that a
//! page which adds and removes iframes all the time costs no new tree with each batch.

use cdp_wire::FrameId;
use rustc_hash::FxHashSet;

use crate::event::Event;
use crate::limits::MAX_TREE_CHILDREN;
use crate::snapshot::FrameTree;
use crate::state::State;

/// Who is shown, where all of them are children of the main frame and it has more.
#[derive(Debug, Clone)]
pub(crate) struct Crowd {
    main: FrameId,
    shown: FxHashSet<FrameId>,
    /// The place of the last of them among its siblings.
    last: u64,
    /// How many sessions there were: the end of one may change what is shown of frames elsewhere.
    sessions: usize,
}

impl Crowd {
    pub(crate) fn of(state: &State, tree: &FrameTree) -> Option<Self> {
        let main = &tree.top.as_ref()?.frame_id;
        let children = &tree.children;
        let is_full = tree.truncated && children.len() == MAX_TREE_CHILDREN;
        if !is_full || children.iter().any(|child| child.parent_frame_id.as_ref() != Some(main)) {
            return None;
        }
        let last = state.frames.get(&children.last()?.frame_id)?.since;
        let shown = children.iter().map(|child| child.frame_id.clone()).collect();
        Some(Self { main: main.clone(), shown, last, sessions: state.sessions.len() })
    }

    /// Whether what is shown is still so in this state, to which the event led, as far as the event goes.
    pub(crate) fn hides(&self, state: &State, event: &Event) -> bool {
        let Some(frame) = frame_of(event) else { return false };
        let is_behind = match state.frames.get(frame) {
            Some(known) => known.parent.as_ref() == Some(&self.main) && known.since > self.last,
            None => *frame != self.main && !self.shown.contains(frame),
        };
        is_behind && self.is_full(state)
    }

    fn is_full(&self, state: &State) -> bool {
        let active = state.pages.active().and_then(|active| state.pages.get(active));
        active.is_some_and(|page| page.main_frame.as_ref() == Some(&self.main))
            && state.frames.children_of(&self.main) > MAX_TREE_CHILDREN
            && state.sessions.len() == self.sessions
    }
}

/// The frame that the event is about, where it is about nothing but that frame and what is below it.
fn frame_of(event: &Event) -> Option<&FrameId> {
    match event {
        Event::FrameAttached { frame, .. }
        | Event::FrameGone { frame }
        | Event::FrameUrlChanged { frame, .. }
        | Event::ContextCreated { frame, .. } => Some(frame),
        Event::FrameNavigated { frame, .. } | Event::DocumentOpened { frame } => Some(&frame.id),
        _ => None,
    }
}
