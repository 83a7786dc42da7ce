//! A navigation commits: a new document, in the same process or in another.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::document::Document;
use crate::frame::Pending;
use crate::ids::{FrameNo, ProcessNo, SessionNo};
use crate::json::{self, put, put_some};
use crate::shape;
use crate::tally::Mark;

impl Browser {
    /// The pending navigation of a frame commits.
    pub(crate) fn commit(&mut self, no: FrameNo) {
        let Some(renderer) =
            self.frames.get(no).and_then(|it| Some(it.pending.as_ref()?.destination.renderer))
        else {
            return;
        };
        let Some(process) = self.destination_process(no, renderer) else { return };
        let Some(mut pending) = self.frames.get_mut(no).and_then(|frame| frame.pending.take()) else {
            return;
        };
        if pending.announced == 0 {
            let url = pending.destination.url.clone();
            pending.announced = self.announce_navigation(no, &url, pending.loader, "differentDocument");
        }
        let parent = self.frames.parent(no).and_then(|parent| self.frames.process(parent));
        let leaves = parent.is_some_and(|parent| parent != process);
        match (parent.is_some() && self.frames.is_remote(no), leaves) {
            (false, true) => self.commit_abroad(no, &pending, process),
            (true, false) => self.commit_at_home(no, &pending, process),
            _ => self.commit_in_place(no, &pending, process),
        }
        self.finish_navigation(no, &pending);
    }

    /// The session stays, whatever process the document is in.
    fn commit_in_place(&mut self, no: FrameNo, pending: &Pending, process: ProcessNo) {
        let root = self.frames.local_root(no);
        let crosses = self.frames.process(no) != Some(process);
        self.fence(root, pending.announced);
        if root == no {
            self.revive(no);
            self.settle_promises(no, crosses);
        }
        self.clear_contexts(root, no);
        if !(pending.cache && self.stash(no)) {
            self.clear_below(no, self.frames.parent(no).is_some() && !crosses);
        }
        if crosses {
            self.forget_lost_dialogs(no);
        }
        self.put_document(no, pending, process);
        self.tell_document(root, no, "Navigation");
        if root == no {
            self.page_changed(no);
        }
    }

    /// The frame goes to another process than its parent's, and has a session of its own there.
    fn commit_abroad(&mut self, no: FrameNo, pending: &Pending, process: ProcessNo) {
        let here = self.frames.local_root(no);
        self.clear_below(no, true);
        if !pending.swapped {
            self.give_up_frame(no);
        }
        self.put_document(no, pending, process);
        self.tally.swaps += 1;
        self.tally.nested += u32::from(self.frames.depth(no) > 1);
        self.arrive(no, here);
        let clear = json!({});
        self.pipe_runtime(no, "Runtime.executionContextsCleared", &clear);
        self.tell_document(no, no, "Navigation");
        self.page_changed(no);
    }

    /// The sessions that came early are those of the frame now; a session of the parent that has none gets one.
    fn arrive(&mut self, no: FrameNo, parent_root: FrameNo) {
        for session in self.sessions.all_on(no) {
            if let Some(session) = self.sessions.get_mut(session) {
                session.early = false;
            }
        }
        for parent in self.sessions.on(parent_root) {
            self.attach_missing(no, parent);
        }
    }

    /// The frame comes back into the process of its parent.
    fn commit_at_home(&mut self, no: FrameNo, pending: &Pending, process: ProcessNo) {
        let Some(parent) = self.frames.parent(no) else { return };
        self.detach_target(no);
        self.clear_below(no, false);
        self.put_document(no, pending, process);
        self.tally.homecomings += 1;
        let root = self.frames.local_root(no);
        let params = json!({ "frameId": no, "parentFrameId": parent });
        self.pipe_page(root, "Page.frameAttached", &params, Some(Mark::FrameSettled(no)));
        self.tell_document(root, no, "Navigation");
    }

    fn put_document(&mut self, no: FrameNo, pending: &Pending, process: ProcessNo) {
        let destination = &pending.destination;
        let document = Document {
            url: destination.url.clone(),
            fragment: String::new(),
            origin: destination.origin.clone(),
            loader: pending.loader,
            context: None,
            asking: None,
        };
        if let Some(frame) = self.frames.get_mut(no) {
            frame.document = document;
            frame.process = process;
        }
        self.new_context(no);
    }

    /// `frameNavigated` and the new execution context.
    fn tell_document(&mut self, root: FrameNo, no: FrameNo, kind: &str) {
        let params =
            json!({ "frame": self.frame_json(no, self.frames.get(no).map(|it| &it.document)), "type": kind });
        self.pipe_page(root, "Page.frameNavigated", &params, None);
        if let Some(event) = self.context_event(no) {
            self.pipe_runtime(root, "Runtime.executionContextCreated", &event);
        }
    }

    /// The contexts of the old document are gone: all of the session's, or one by one.
    fn clear_contexts(&mut self, root: FrameNo, no: FrameNo) {
        if root == no {
            for _ in 0..1 + usize::from(self.config.clears_twice) {
                self.pipe_runtime(root, "Runtime.executionContextsCleared", &json!({}));
            }
            return;
        }
        if let Some(context) = self.frames.get(no).and_then(|frame| frame.document.context) {
            let params =
                json!({ "executionContextId": context.id, "executionContextUniqueId": context.unique() });
            self.pipe_runtime(root, "Runtime.executionContextDestroyed", &params);
        }
    }

    /// Promises that a script waits for: with the process they fail, otherwise nobody hears of them again.
    fn settle_promises(&mut self, root: FrameNo, fail: bool) {
        for session in self.sessions.on(root) {
            let Some(promises) = self.sessions.get_mut(session).map(|it| std::mem::take(&mut it.promises))
            else {
                continue;
            };
            for id in promises.into_iter().filter(|_| fail) {
                let text = json::error(id, Some(session), -32000, "Inspected target navigated or closed");
                self.queues.pipe(session, text, None);
            }
        }
    }

    fn finish_navigation(&mut self, no: FrameNo, pending: &Pending) {
        let root = self.frames.local_root(no);
        self.speak_page(root, "Page.frameStoppedLoading", &json!({ "frameId": no }));
        if let Some((id, session)) =
            pending.asked_by.filter(|(_, session)| self.sessions.get(*session).is_some())
        {
            let result = json!({ "frameId": no, "loaderId": pending.loader, "isDownload": false });
            self.queues.speak(session.wire, json::result(id, Some(session), result));
        }
        if let Some(kind) = self.page_mut(no).and_then(|page| page.first_dialog.take()) {
            self.open_dialog(no, kind);
        }
    }

    /// The renderers of these sessions speak after the browser process has sent this message.
    pub(crate) fn fence(&mut self, root: FrameNo, number: u64) {
        for session in self.sessions.on(root) {
            self.queues.fence(session, number);
        }
    }

    /// Attaches an iframe on a session that attaches to related targets and has none for it yet.
    pub(crate) fn attach_missing(&mut self, no: FrameNo, parent: SessionNo) {
        let has =
            |session: &SessionNo| self.sessions.get(*session).is_some_and(|it| it.parent == Some(parent));
        if self.sessions.get(parent).is_some_and(|session| session.auto_attach.is_some())
            && !self.sessions.all_on(no).iter().any(has)
        {
            self.attach_iframe(no, parent, false, false);
        }
    }

    /// `Page.Frame` with a document.
    pub(crate) fn frame_json(&self, no: FrameNo, document: Option<&Document>) -> Value {
        let (Some(frame), Some(document)) = (self.frames.get(no), document) else { return Value::Null };
        let mut json = shape::frame(no, document.loader, &document.url, &document.origin);
        if !document.fragment.is_empty() {
            put(&mut json, "urlFragment", document.fragment.as_str());
        }
        if frame.parent.is_some() {
            put(&mut json, "name", frame.name.as_str());
        }
        let abroad = self.frames.is_remote(no) || frame.pending.as_ref().is_some_and(|it| it.swapped);
        put_some(&mut json, "parentId", frame.parent.filter(|_| !abroad || self.config.root_parent_ids));
        json
    }

    /// `frameNavigated` of a document that came back, after its contexts.
    pub(crate) fn tell_restored(&mut self, main: FrameNo) {
        self.pipe_runtime(main, "Runtime.executionContextsCleared", &json!({}));
        for frame in self.frames.island(main).into_iter().rev() {
            if let Some(event) = self.context_event(frame) {
                self.pipe_runtime(main, "Runtime.executionContextCreated", &event);
            }
        }
        let document = self.frames.get(main).map(|frame| &frame.document);
        let params = json!({ "frame": self.frame_json(main, document), "type": "BackForwardCacheRestore" });
        self.pipe_page(main, "Page.frameNavigated", &params, None);
    }
}
