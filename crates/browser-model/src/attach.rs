//! Targets that are announced, attached and let go.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::ids::{FrameNo, SessionNo, Wire};
use crate::json::{self, put, put_some};
use crate::session::{Session, Target};
use crate::shape;
use crate::tally::Mark;

impl Browser {
    /// A new page: a client that wants to know hears of it, and gets a session.
    pub(crate) fn announce_page(&mut self, page: FrameNo, pausable: bool) {
        if self.discover {
            let info = self.target_info(page, false);
            self.speak(None, "Target.targetCreated", json!({ "targetInfo": info }));
        }
        if let Some(wait) = self.auto_attach {
            self.attach_page(Wire::Main, page, wait && pausable);
        }
    }

    /// Attaches a session to a page, announced on the root.
    pub(crate) fn attach_page(&mut self, wire: Wire, page: FrameNo, waiting: bool) -> SessionNo {
        self.attach(wire, page, Session::new(Target::Frame(page), None, waiting))
    }

    /// Attaches a session to an iframe, announced on a session of its parent's process.
    pub(crate) fn attach_iframe(&mut self, frame: FrameNo, parent: SessionNo, waiting: bool, early: bool) {
        let mut session = Session::new(Target::Frame(frame), Some(parent), waiting);
        session.early = early;
        self.attach(parent.wire, frame, session);
    }

    fn attach(&mut self, wire: Wire, frame: FrameNo, session: Session) -> SessionNo {
        let (parent, waiting) = (session.parent, session.waiting);
        let no = self.sessions.insert(wire, frame.0, session);
        self.sent.attached(frame);
        self.page_changed(frame);
        let params = shape::attached(no, self.target_info(frame, true), waiting);
        self.queues.speak(wire, json::event(parent, "Target.attachedToTarget", params));
        no
    }

    /// A worker starts in a frame: each session that attaches to related targets gets one for it.
    pub(crate) fn start_worker(&mut self, frame: FrameNo, kind: &str) -> bool {
        let root = self.frames.local_root(frame);
        let mut started = false;
        for parent in self.sessions.on(root) {
            let Some(wait) = self.sessions.get(parent).and_then(|session| session.auto_attach) else {
                continue;
            };
            let number = self.targets.next();
            let session = Session::new(Target::Worker(frame), Some(parent), wait);
            let no = self.sessions.insert(parent.wire, number, session);
            let url = format!("http://a.test/worker-{number}.js");
            let info = shape::target(kind, format!("WORKER{number}"), "", &url, true);
            self.speak(Some(parent), "Target.attachedToTarget", shape::attached(no, info, wait));
            started = true;
        }
        started
    }

    /// The sessions of a frame's target end, each announced where it was born.
    pub(crate) fn detach_target(&mut self, frame: FrameNo) {
        for session in self.sessions.all_on(frame) {
            self.detach(session);
        }
    }

    /// A session ends, and without a word all that were announced on it.
    pub(crate) fn detach(&mut self, no: SessionNo) {
        let ends = self.sessions.with_descendants(no);
        let Some(session) = self.sessions.get(no) else { return };
        let parent = session.parent;
        if session.early && session.waiting {
            self.tally.removed_while_attaching += 1;
        }
        for ended in &ends {
            self.sessions.remove(*ended);
        }
        let target = match ends.first() {
            Some(first) => FrameNo(first.target),
            None => return,
        };
        let params = json!({ "sessionId": no, "targetId": target });
        let text = json::event(parent, "Target.detachedFromTarget", params);
        self.queues.end(no.wire, text, ends.clone(), Mark::Detached(no));
        self.dialogs_lose_clients(&ends);
    }

    /// A page's or iframe's URL changed, or whether it is attached.
    pub(crate) fn page_changed(&mut self, frame: FrameNo) {
        let is_page = self.frames.parent(frame).is_none();
        let info = self.target_info(frame, !self.sessions.all_on(frame).is_empty());
        if is_page && self.discover {
            self.speak(None, "Target.targetInfoChanged", json!({ "targetInfo": info }));
        }
        if is_page {
            return;
        }
        for session in self.sessions.on(frame) {
            let parent = self.sessions.get(session).and_then(|session| session.parent);
            self.speak(parent, "Target.targetInfoChanged", json!({ "targetInfo": info.clone() }));
        }
    }

    /// `Target.TargetInfo` of a page or an iframe. The target of a frame that is on its way has no URL yet.
    pub(crate) fn target_info(&self, no: FrameNo, attached: bool) -> Value {
        let Some(frame) = self.frames.get(no) else { return Value::Null };
        let is_page = frame.parent.is_none();
        let here = is_page || self.frames.is_remote(no);
        let url = if here { frame.document.whole_url() } else { String::new() };
        let kind = if is_page { "page" } else { "iframe" };
        let mut info = shape::target(kind, no, &url, &url, attached);
        if let Some(page) = self.page(no).filter(|page| page.opener.is_some()) {
            put_some(&mut info, "openerId", page.opener_page);
            put_some(&mut info, "openerFrameId", page.opener);
            put(&mut info, "canAccessOpener", true);
        }
        if self.config.parent_frame_ids && !is_page {
            put_some(&mut info, "parentFrameId", frame.parent);
        }
        info
    }
}
