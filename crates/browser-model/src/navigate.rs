//! Navigations: how they start, what holds them, how they end without a new document.

use serde_json::json;

use crate::browser::Browser;
use crate::document::{Destination, Renderer};
use crate::frame::Pending;
use crate::ids::{DialogNo, FrameNo, LoaderNo, ProcessNo, SessionNo};
use crate::json;
use crate::process::Key;

/// How a navigation goes.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct How {
    /// Its answer takes until somebody finishes it.
    pub(crate) slow: bool,
    /// The old document is kept to come back to.
    pub(crate) cache: bool,
    /// The command that asked for it.
    pub(crate) asked_by: Option<(u64, SessionNo)>,
}

impl Browser {
    /// A frame starts for another document.
    pub(crate) fn start_navigation(&mut self, no: FrameNo, destination: Destination, how: How) {
        self.cancel_navigation(no);
        let Some(page) = self.page_of(no) else { return };
        let loader = LoaderNo(self.loaders.next());
        let announced = self.announce_navigation(no, &destination.url, loader, "differentDocument");
        if no == page || self.config.subframe_closes_dialog {
            self.navigation_closes_dialog(page);
        }
        let How { slow, cache, asked_by } = how;
        let pending = Pending {
            destination,
            loader,
            ready: !slow,
            gate: None,
            swapped: false,
            cache,
            announced,
            asked_by,
        };
        if let Some(frame) = self.frames.get_mut(no) {
            frame.pending = Some(pending);
        }
        self.prepare_swap(no);
        self.release_all();
    }

    /// Says that a navigation starts, on the session of the process that the frame is in.
    pub(crate) fn announce_navigation(
        &mut self,
        no: FrameNo,
        url: &str,
        loader: LoaderNo,
        kind: &str,
    ) -> u64 {
        let root = self.frames.local_root(no);
        if self.config.starts_navigating {
            let params = json!({ "frameId": no, "url": url, "loaderId": loader, "navigationType": kind });
            self.speak_page(root, "Page.frameStartedNavigating", &params);
        }
        self.speak_page(root, "Page.frameStartedLoading", &json!({ "frameId": no }))
    }

    /// A frame that will leave its parent's process gets its target, and with it its session, before.
    fn prepare_swap(&mut self, no: FrameNo) {
        let Some((parent, destination)) = self
            .frames
            .get(no)
            .and_then(|frame| Some((frame.parent?, frame.pending.as_ref()?.destination.clone())))
        else {
            return;
        };
        if self.frames.is_remote(no) || self.stays_with(parent, &destination) {
            return;
        }
        for session in self.sessions.on(self.frames.local_root(parent)) {
            if let Some(wait) = self.sessions.get(session).and_then(|session| session.auto_attach) {
                self.attach_iframe(no, session, wait && !destination.never_paused, true);
            }
        }
        if self.config.swap_first {
            self.clear_below(no, true);
            self.give_up_frame(no);
        }
    }

    /// The parent's process gives a frame up: `frameDetached(swap)`.
    pub(crate) fn give_up_frame(&mut self, no: FrameNo) {
        let root = self.frames.local_root(no);
        let Some(frame) = self.frames.get_mut(no) else { return };
        let context = frame.document.context.take();
        if let Some(pending) = &mut frame.pending {
            pending.swapped = true;
        }
        self.pipe_page(root, "Page.frameDetached", &json!({ "frameId": no, "reason": "swap" }), None);
        if let Some(context) = context {
            let params =
                json!({ "executionContextId": context.id, "executionContextUniqueId": context.unique() });
            self.pipe_runtime(root, "Runtime.executionContextDestroyed", &params);
        }
    }

    /// Whether a document will live in the process of the frame's parent.
    fn stays_with(&self, parent: FrameNo, destination: &Destination) -> bool {
        match destination.renderer {
            Renderer::Inherited => true,
            Renderer::Of(key) => self.processes.alive(key) == self.frames.process(parent),
        }
    }

    /// The process in which a navigation will commit.
    pub(crate) fn destination_process(&mut self, no: FrameNo, renderer: Renderer) -> Option<ProcessNo> {
        match renderer {
            Renderer::Of(key) => Some(self.processes.get(key)),
            Renderer::Inherited => self.inherited_process(no),
        }
    }

    fn inherited_process(&mut self, no: FrameNo) -> Option<ProcessNo> {
        let from = self.frames.parent(no).unwrap_or(no);
        let process = self.frames.process(from)?;
        if !self.processes.is_dead(process) {
            return Some(process);
        }
        let family = self.page(no)?.family;
        Some(self.processes.get(Key::Alone(family)))
    }

    /// A navigation ends without a new document.
    pub(crate) fn cancel_navigation(&mut self, no: FrameNo) {
        let Some(pending) = self.frames.get_mut(no).and_then(|frame| frame.pending.take()) else { return };
        for session in self.sessions.all_on(no) {
            if self.sessions.get(session).is_some_and(|session| session.early) {
                self.detach(session);
            }
        }
        let root = self.frames.local_root(no);
        if pending.swapped {
            self.take_frame_back(no, root);
        }
        self.speak_page(root, "Page.frameStoppedLoading", &json!({ "frameId": no }));
        if let Some((id, session)) =
            pending.asked_by.filter(|(_, session)| self.sessions.get(*session).is_some())
        {
            let result =
                json!({ "frameId": no, "loaderId": pending.loader, "errorText": "net::ERR_ABORTED" });
            self.queues.speak(session.wire, json::result(id, Some(session), result));
        }
    }

    /// The process of the parent, which had given the frame up, has it again.
    fn take_frame_back(&mut self, no: FrameNo, root: FrameNo) {
        let Some(parent) = self.frames.parent(no) else { return };
        let params = json!({ "frameId": no, "parentFrameId": parent });
        self.pipe_page(root, "Page.frameAttached", &params, None);
        if self.frames.get(no).is_some_and(|frame| !frame.document.url.is_empty()) {
            self.new_context(no);
            if let Some(event) = self.context_event(no) {
                self.pipe_runtime(root, "Runtime.executionContextCreated", &event);
            }
        }
    }

    /// A navigation starts and comes to nothing: it was aborted, or is a download.
    pub(crate) fn abort_navigation(&mut self, no: FrameNo, download: bool) {
        self.cancel_navigation(no);
        let Some(page) = self.page_of(no) else { return };
        let loader = LoaderNo(self.loaders.next());
        let url = format!("http://a.test/{}", self.urls.next());
        self.announce_navigation(no, &url, loader, "differentDocument");
        if no == page || self.config.subframe_closes_dialog {
            self.navigation_closes_dialog(page);
        }
        let root = self.frames.local_root(no);
        if download {
            let params = json!({ "frameId": no, "guid": "GUID", "url": url, "suggestedFilename": "file" });
            self.speak_page(root, "Page.downloadWillBegin", &params);
        }
        self.speak_page(root, "Page.frameStoppedLoading", &json!({ "frameId": no }));
        self.release_all();
    }

    /// `beforeunload` was answered: the navigation that asked goes on, or ends.
    pub(crate) fn open_gate(&mut self, dialog: DialogNo, accepted: bool) {
        let asked =
            self.frames.iter().find(|frame| frame.pending.as_ref().is_some_and(|it| it.gate == Some(dialog)));
        let Some(no) = asked.map(|frame| frame.no) else { return };
        if !accepted {
            return self.cancel_navigation(no);
        }
        if let Some(pending) = self.frames.get_mut(no).and_then(|frame| frame.pending.as_mut()) {
            pending.gate = None;
        }
    }

    /// Lets everything go on that nothing holds any longer.
    pub(crate) fn release_all(&mut self) {
        loop {
            if let Some(no) = self.next_commit() {
                self.commit(no);
            } else if !self.let_one_request_go() && !self.run_one_held() {
                return;
            }
        }
    }

    fn next_commit(&self) -> Option<FrameNo> {
        self.frames.iter().find(|frame| self.can_commit(frame.no)).map(|frame| frame.no)
    }

    fn can_commit(&self, no: FrameNo) -> bool {
        let Some(frame) = self.frames.get(no) else { return false };
        let Some(pending) = frame.pending.as_ref().filter(|it| it.ready && it.gate.is_none()) else {
            return false;
        };
        // Starting a navigation there kills the browser; what finishing one does, nobody has tried.
        if self.page(no).is_some_and(|page| page.poisoned) {
            return false;
        }
        let resumed =
            |session: &SessionNo| self.sessions.get(*session).is_some_and(|session| !session.waiting);
        let destination = match pending.destination.renderer {
            Renderer::Of(key) => self.processes.alive(key),
            Renderer::Inherited => None,
        };
        let around = [destination, Some(frame.process), frame.parent.and_then(|it| self.frames.process(it))];
        self.sessions.all_on(no).iter().all(resumed)
            && around.into_iter().flatten().all(|process| !self.is_busy(process))
    }

    /// Whether a renderer's thread stands still: a dialog is open, or a window it opens waits to be resumed.
    pub(crate) fn is_busy(&self, process: ProcessNo) -> bool {
        !self.processes.is_dead(process)
            && (self.dialogs.block(process) || self.opening_popup(process).is_some())
    }

    /// The paused popup that a script of this process has just opened.
    pub(crate) fn opening_popup(&self, process: ProcessNo) -> Option<FrameNo> {
        let opened_here = |opener: FrameNo| self.frames.process(opener) == Some(process);
        let popups = self.pages.iter().filter(|page| page.opener.is_some_and(opened_here));
        popups.map(|page| page.main).find(|main| self.is_paused(*main))
    }

    /// Whether a client holds the target of this frame before its first document.
    pub(crate) fn is_paused(&self, root: FrameNo) -> bool {
        self.sessions.on(root).iter().any(|no| self.sessions.get(*no).is_some_and(|session| session.waiting))
    }

    /// Whether scripts of this frame can run now.
    pub(crate) fn can_run(&self, no: FrameNo) -> bool {
        let Some(process) = self.frames.process(no) else { return false };
        let given_up = self.frames.get(no).is_some_and(|it| it.pending.as_ref().is_some_and(|it| it.swapped));
        let paused = self.page_of(no).is_none_or(|page| self.is_paused(page));
        !given_up && !paused && !self.processes.is_dead(process) && !self.is_busy(process)
    }

    /// What the renderers of a process say from now on comes after what the browser process has said.
    pub(crate) fn fence_process(&mut self, process: ProcessNo) {
        let number = self.queues.last();
        let roots: Vec<FrameNo> =
            self.frames.iter().filter(|frame| frame.process == process).map(|it| it.no).collect();
        for session in roots.into_iter().flat_map(|root| self.sessions.on(root)).collect::<Vec<_>>() {
            self.queues.fence(session, number);
        }
    }
}
