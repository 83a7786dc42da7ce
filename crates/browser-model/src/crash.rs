//! Renderers that die, and come back.

use serde_json::json;

use crate::browser::Browser;
use crate::ids::{FrameNo, ProcessNo};
use crate::json;
use crate::session::Held;

impl Browser {
    /// A renderer dies, and with it every document in it.
    pub(crate) fn crash(&mut self, process: ProcessNo) {
        if self.processes.is_dead(process) {
            return;
        }
        self.processes.kill(process);
        self.dialogs.stopped.retain(|_, stopped| stopped.process != process);
        self.tally.crashes += 1;
        for page in &mut self.pages {
            let lost =
                page.cached.as_ref().is_some_and(|frames| frames.iter().any(|it| it.process == process));
            page.cached = page.cached.take().filter(|_| !lost);
        }
        let in_it = self.frames.iter().filter(|frame| frame.process == process).map(|frame| frame.no);
        let roots: Vec<FrameNo> = in_it.filter(|no| self.frames.local_root(*no) == *no).collect();
        for root in roots {
            if self.frames.get(root).is_some() {
                self.crash_target(root);
            }
        }
        self.release_all();
    }

    fn crash_target(&mut self, root: FrameNo) {
        let is_page = self.frames.parent(root).is_none();
        if is_page {
            self.close_dialogs_of(root);
        }
        for session in self.sessions.on(root) {
            let text = json::event(Some(session), "Inspector.targetCrashed", json!({}));
            self.queues.break_pipe(text, session);
            if let Some(session) = self.sessions.get_mut(session) {
                session.saw_crash = true;
                session.promises.clear();
                session.held.retain(|held| matches!(held, Held::Command(_)));
            }
        }
        if is_page && self.discover {
            let params = json!({ "targetId": root, "status": "crashed", "errorCode": 11 });
            self.speak(None, "Target.targetCrashed", params);
        }
        self.cancel_navigation(root);
        self.clear_below(root, false);
        if let Some(frame) = self.frames.get_mut(root) {
            frame.document.context = None;
        }
    }

    /// A dead target gets a renderer again. What was asked meanwhile fails, or is asked again.
    pub(crate) fn revive(&mut self, root: FrameNo) {
        if !self.frames.process(root).is_some_and(|process| self.processes.is_dead(process)) {
            return;
        }
        let is_page = self.frames.parent(root).is_none();
        for session in self.sessions.on(root) {
            let params = json!({});
            let number = self.speak(Some(session), "Inspector.targetReloadedAfterCrash", params);
            self.queues.fence(session, number);
            if let Some(state) = self.sessions.get_mut(session) {
                state.saw_crash = false;
            }
            let Some(state) = self.sessions.get_mut(session).filter(|_| self.config.crash_fails_commands)
            else {
                continue;
            };
            for held in std::mem::take(&mut state.held).into_iter().filter(|_| is_page) {
                if let Held::Command(command) = held {
                    let text = json::error(command.id, Some(session), -32000, "Target crashed");
                    self.queues.pipe(session, text, None);
                }
            }
        }
    }
}
