//! The part of a page's frames that the snapshot shows.

use std::collections::VecDeque;

use cdp_wire::TargetId;

use crate::limits::{MAX_TREE_CHILDREN, MAX_TREE_OOPIF_DEPTH, MAX_TREE_VISITS};
use crate::snapshot::FrameTree;
use crate::snapshot::view::frame;
use crate::state::State;

/// A page's frames within the limits: breadth first, so that what is near the top is shown.
pub(crate) fn frame_tree(state: &State, page: &TargetId) -> FrameTree {
    let mut tree = FrameTree::default();
    let Some(main) = state.pages.get(page).and_then(|page| page.main_frame.clone()) else { return tree };
    tree.top = frame(state, &main);
    let mut waiting = VecDeque::from([(main, 0)]);
    let mut visits = 0;
    while let Some((parent, depth)) = waiting.pop_front() {
        for child in state.frames.children(&parent) {
            visits += 1;
            if tree.children.len() == MAX_TREE_CHILDREN || visits > MAX_TREE_VISITS {
                tree.truncated = true;
                return tree;
            }
            let Some(view) = frame(state, child) else { continue };
            let depth = depth + usize::from(view.is_oopif);
            if depth > MAX_TREE_OOPIF_DEPTH {
                tree.truncated = true;
                continue;
            }
            tree.children.push(view);
            waiting.push_back((child.clone(), depth));
        }
    }
    tree
}
