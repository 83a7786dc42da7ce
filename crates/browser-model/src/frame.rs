//! Frames, and where the borders between processes run through their tree.

use std::collections::BTreeMap;

use crate::document::{Destination, Document};
use crate::ids::{DialogNo, FrameNo, LoaderNo, ProcessNo, SessionNo};

/// One frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame {
    pub(crate) no: FrameNo,
    /// The main frame of its page.
    pub(crate) page: FrameNo,
    pub(crate) parent: Option<FrameNo>,
    /// Oldest first.
    pub(crate) children: Vec<FrameNo>,
    pub(crate) name: String,
    pub(crate) process: ProcessNo,
    pub(crate) document: Document,
    pub(crate) pending: Option<Pending>,
}

/// A navigation under way.
#[derive(Debug, Clone)]
pub(crate) struct Pending {
    pub(crate) destination: Destination,
    pub(crate) loader: LoaderNo,
    /// The answer has come; it commits as soon as nothing holds it.
    pub(crate) ready: bool,
    /// `beforeunload` asks.
    pub(crate) gate: Option<DialogNo>,
    /// The process of the parent has given the frame up already.
    pub(crate) swapped: bool,
    /// The old document is kept to come back to.
    pub(crate) cache: bool,
    /// The number of the message that announced it.
    pub(crate) announced: u64,
    /// The command that is answered when it has committed.
    pub(crate) asked_by: Option<(u64, SessionNo)>,
}

/// All frames that are in a page now.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frames {
    by_no: BTreeMap<FrameNo, Frame>,
}

impl Frames {
    pub(crate) fn get(&self, no: FrameNo) -> Option<&Frame> {
        self.by_no.get(&no)
    }

    pub(crate) fn get_mut(&mut self, no: FrameNo) -> Option<&mut Frame> {
        self.by_no.get_mut(&no)
    }

    /// All of them, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Frame> {
        self.by_no.values()
    }

    pub(crate) fn insert(&mut self, frame: Frame) {
        if let Some(parent) = frame.parent.and_then(|parent| self.by_no.get_mut(&parent))
            && !parent.children.contains(&frame.no)
        {
            parent.children.push(frame.no);
        }
        self.by_no.insert(frame.no, frame);
    }

    pub(crate) fn remove(&mut self, no: FrameNo) -> Option<Frame> {
        let frame = self.by_no.remove(&no)?;
        if let Some(parent) = frame.parent.and_then(|parent| self.by_no.get_mut(&parent)) {
            parent.children.retain(|child| *child != no);
        }
        Some(frame)
    }

    pub(crate) fn parent(&self, no: FrameNo) -> Option<FrameNo> {
        self.get(no)?.parent
    }

    pub(crate) fn process(&self, no: FrameNo) -> Option<ProcessNo> {
        Some(self.get(no)?.process)
    }

    /// Whether the frame is in another process than its parent.
    pub(crate) fn is_remote(&self, no: FrameNo) -> bool {
        let parent = self.parent(no).and_then(|parent| self.process(parent));
        parent.is_some() && parent != self.process(no)
    }

    /// The frame that this one's session is attached to: the topmost one that is in the same process all the way up.
    pub(crate) fn local_root(&self, no: FrameNo) -> FrameNo {
        let mut root = no;
        while let Some(parent) = self.parent(root).filter(|_| !self.is_remote(root)) {
            root = parent;
        }
        root
    }

    /// All frames below one, parents first.
    pub(crate) fn below(&self, no: FrameNo) -> Vec<FrameNo> {
        let mut found = Vec::new();
        let mut waiting: Vec<FrameNo> = self.get(no).map(|frame| frame.children.clone()).unwrap_or_default();
        waiting.reverse();
        while let Some(next) = waiting.pop() {
            found.push(next);
            waiting.extend(self.get(next).into_iter().flat_map(|frame| frame.children.iter().rev()));
        }
        found
    }

    /// The frames of the process of a local root that hang together with it, itself first.
    pub(crate) fn island(&self, root: FrameNo) -> Vec<FrameNo> {
        let here = self.below(root).into_iter().filter(|frame| self.local_root(*frame) == root);
        std::iter::once(root).chain(here).collect()
    }

    /// How many process borders are between this frame and its page's main frame.
    pub(crate) fn depth(&self, no: FrameNo) -> usize {
        let mut depth = 0;
        let mut current = Some(no);
        while let Some(frame) = current {
            depth += usize::from(self.is_remote(frame));
            current = self.parent(frame);
        }
        depth
    }
}
