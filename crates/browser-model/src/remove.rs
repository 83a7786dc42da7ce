//! Frames and pages that go.

use serde_json::json;

use crate::browser::Browser;
use crate::dialog::{Dialog, Ending};
use crate::ids::{DialogNo, FrameNo, SessionNo};
use crate::session::Target;
use crate::tally::Mark;

impl Browser {
    /// All below a frame goes with its document. Sessions of the frame's own process are told of those below; what was
    /// deeper ends without a word. `report`: the process that lives on says which frames it removed.
    pub(crate) fn clear_below(&mut self, no: FrameNo, report: bool) {
        let root = self.frames.local_root(no);
        self.end_workers(no);
        let below = self.frames.below(no);
        for frame in &below {
            if report {
                self.report_removal(*frame, no, root);
            }
            self.detach_target(*frame);
        }
        for frame in below.into_iter().rev() {
            self.close_dialogs_in(frame);
            self.drop_frame(frame);
        }
    }

    /// A navigation closes the dialogs of the documents that it ends.
    fn close_dialogs_in(&mut self, frame: FrameNo) {
        let keeps_open = self.config.has_browser_handler;
        let ends = |it: &Dialog| it.answerable || (keeps_open && it.is_whole());
        let open = self.dialogs.open.iter().filter(|(_, it)| it.frame == frame && ends(it));
        for no in open.map(|(no, _)| *no).collect::<Vec<_>>() {
            self.close_dialog(no, &Ending::default());
        }
    }

    fn report_removal(&mut self, frame: FrameNo, top: FrameNo, root: FrameNo) {
        let Some(parent) = self.frames.parent(frame) else { return };
        let named = parent == top || self.config.reports_descendants;
        if named && self.frames.local_root(parent) == root {
            let params = json!({ "frameId": frame, "reason": "remove" });
            self.pipe_page(root, "Page.frameDetached", &params, Some(Mark::FrameSettled(frame)));
        }
    }

    /// A script removes an iframe: sessions of the whole subtree are told, children before parents.
    pub(crate) fn remove_frame(&mut self, no: FrameNo) {
        let Some(parent) = self.frames.parent(no) else { return };
        let root = self.frames.local_root(parent);
        let mut gone = self.frames.below(no);
        gone.insert(0, no);
        for frame in gone.iter().rev() {
            self.detach_target(*frame);
        }
        for frame in gone.iter().rev().filter(|frame| **frame != no) {
            self.report_removal(*frame, parent, root);
        }
        let params = json!({ "frameId": no, "reason": "remove" });
        self.pipe_page(root, "Page.frameDetached", &params, Some(Mark::FrameSettled(no)));
        for frame in gone.into_iter().rev() {
            self.drop_frame(frame);
        }
        self.release_all();
    }

    fn drop_frame(&mut self, no: FrameNo) {
        self.end_workers(no);
        self.dialogs_lose_frame(no);
        self.frames.remove(no);
    }

    fn end_workers(&mut self, no: FrameNo) {
        let workers: Vec<SessionNo> = self
            .sessions
            .iter()
            .filter(|(_, it)| it.target == Target::Worker(no))
            .map(|(no, _)| no)
            .collect();
        for session in workers {
            self.detach(session);
        }
    }

    /// A page closes.
    pub(crate) fn close_page(&mut self, main: FrameNo) {
        self.end_workers(main);
        for frame in self.frames.below(main) {
            self.detach_target(frame);
        }
        self.close_dialogs_of(main);
        for session in self.sessions.on(main) {
            self.speak(Some(session), "Inspector.detached", json!({ "reason": "Render process gone." }));
        }
        self.detach_target(main);
        if self.discover {
            self.speak(None, "Target.targetDestroyed", json!({ "targetId": main }));
        }
        for frame in self.frames.below(main) {
            self.frames.remove(frame);
        }
        self.frames.remove(main);
        self.pages.retain(|page| page.main != main);
        self.release_all();
    }

    /// The dialogs of a page end with it: the one in its place says so, others do not.
    pub(crate) fn close_dialogs_of(&mut self, main: FrameNo) {
        self.dialogs.stopped.retain(|_, stopped| stopped.page != main);
        let shown = self.page(main).and_then(|page| page.dialog);
        let open: Vec<DialogNo> =
            self.dialogs.open.iter().filter(|(_, it)| it.page == main).map(|(no, _)| *no).collect();
        for no in open {
            if shown == Some(no) {
                self.close_dialog(no, &Ending::default());
            } else {
                self.drop_dialog(no);
            }
        }
    }
}
