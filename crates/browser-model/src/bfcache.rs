//! The back/forward cache: a document leaves with all its frames, and comes back as it was.

use crate::browser::Browser;
use crate::frame::Frame;
use crate::ids::{FrameNo, LoaderNo};

impl Browser {
    /// Keeps the document of a page and all below it, for later. `false` when it cannot be kept.
    pub(crate) fn stash(&mut self, main: FrameNo) -> bool {
        let below = self.frames.below(main);
        let busy = |no: FrameNo| self.frames.get(no).is_none_or(|frame| frame.pending.is_some());
        // The blank document that a page begins with is no entry of its history: whatever comes first takes its place.
        let is_first = self.frames.get(main).is_none_or(|frame| frame.document.url.is_empty());
        let open = self.dialogs.open.values().any(|dialog| dialog.page == main)
            || self.dialogs.stopped.values().any(|stopped| stopped.page == main);
        let alive =
            |no: FrameNo| self.frames.process(no).is_some_and(|process| !self.processes.is_dead(process));
        if open
            || is_first
            || below.iter().any(|no| busy(*no))
            || !std::iter::once(&main).chain(&below).all(|no| alive(*no))
        {
            return false;
        }
        let kept = self.copy_frames(main);
        self.clear_below(main, false);
        if let Some(page) = self.page_mut(main) {
            page.cached = Some(kept);
        }
        true
    }

    fn copy_frames(&self, main: FrameNo) -> Vec<Frame> {
        let all = std::iter::once(main).chain(self.frames.below(main));
        all.filter_map(|no| self.frames.get(no).cloned()).collect()
    }

    /// Goes back to the document that was kept, and keeps the present one. `false` when there is nothing to go back to.
    pub(crate) fn go_back(&mut self, main: FrameNo) -> bool {
        let Some(cached) = self.page_mut(main).and_then(|page| page.cached.take()) else { return false };
        self.tally.restores += 1;
        self.cancel_navigation(main);
        let url = cached.first().map(|frame| frame.document.url.clone()).unwrap_or_default();
        let loader = LoaderNo(self.loaders.next());
        let announced = self.announce_navigation(main, &url, loader, "historyDifferentDocument");
        self.navigation_closes_dialog(main);
        self.fence(main, announced);
        self.revive(main);
        if !self.stash(main) {
            self.clear_below(main, false);
        }
        self.put_frames(cached);
        self.attach_direct_children(main);
        self.page_changed(main);
        self.tell_restored(main);
        self.speak_page(main, "Page.frameStoppedLoading", &serde_json::json!({ "frameId": main }));
        self.release_all();
        true
    }

    fn put_frames(&mut self, cached: Vec<Frame>) {
        for frame in cached {
            self.frames.insert(frame);
        }
    }

    /// The out-of-process iframes right below a target get sessions, not paused: they were there before.
    pub(crate) fn attach_direct_children(&mut self, root: FrameNo) {
        let below = self.frames.below(root);
        let direct = |no: &FrameNo| {
            let parent = self.frames.parent(*no).map(|parent| self.frames.local_root(parent));
            self.frames.is_remote(*no) && parent == Some(root)
        };
        for child in below.into_iter().filter(direct).collect::<Vec<_>>() {
            for session in self.sessions.on(root) {
                self.attach_missing(child, session);
            }
        }
    }
}
