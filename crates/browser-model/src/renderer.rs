//! What a renderer does with a command, and what keeps it from doing so.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::command::Command;
use crate::document::Document;
use crate::ids::{FrameNo, SessionNo};
use crate::json::{self, put};
use crate::session::{Held, Target};

/// The domains that a renderer's session has.
const DOMAINS: &str = "Page Runtime Log Fetch DOM Network Inspector Debugger Accessibility Emulation Input Storage \
                       Performance Target Browser";

impl Browser {
    /// Whether a command for this session's renderer has to wait.
    pub(crate) fn is_held(&self, no: SessionNo, method: &str) -> bool {
        let Some(session) = self.sessions.get(no) else { return false };
        let Target::Frame(root) = session.target else {
            return session.waiting && !self.config.paused_answers && !is_resume(method);
        };
        if session.waiting && !is_resume(method) && (!self.config.paused_answers || is_script(method)) {
            return true;
        }
        let Some(frame) = self.frames.get(root) else { return false };
        if session.early {
            return !session.waiting;
        }
        let process = frame.process;
        if session.waiting && is_resume(method) {
            return self.dialogs.block(process);
        }
        let opening = self.opening_popup(process).filter(|popup| *popup != frame.page);
        let navigating = frame.pending.is_some() && !session.waiting && method != "Target.setAutoAttach";
        self.processes.is_dead(process) || self.dialogs.block(process) || opening.is_some() || navigating
    }

    /// Runs the first thing that waits for a renderer and no longer has to. `false` when there is none.
    pub(crate) fn run_one_held(&mut self) -> bool {
        let runnable =
            self.sessions.iter().find_map(|(no, session)| Some((no, self.runnable(no, &session.held)?)));
        let Some((no, place)) = runnable else { return false };
        let Some(held) = self.sessions.get_mut(no).map(|session| session.held.remove(place)) else {
            return false;
        };
        match held {
            Held::Command(command) => self.run(no, &command),
            Held::Reply { text, .. } => self.queues.pipe(no, text, None),
        }
        true
    }

    /// The place of what a session's renderer does next: the first in the queue, or a resume, which waits for nothing
    /// that waits for it.
    fn runnable(&self, no: SessionNo, held: &[Held]) -> Option<usize> {
        let is_free = |held: &Held| match held {
            Held::Command(command) => !self.is_held(no, &command.method),
            Held::Reply { dialog, .. } => !self.dialogs.is_waited_for(*dialog),
        };
        let resume = |held: &Held| matches!(held, Held::Command(command) if is_resume(&command.method));
        let first = held.first().filter(|first| is_free(first)).map(|_| 0);
        first.or_else(|| held.iter().position(|held| resume(held) && is_free(held)))
    }

    /// A renderer carries out a command.
    pub(crate) fn run(&mut self, session: SessionNo, command: &Command) {
        match command.method.as_str() {
            "Page.enable" => self.enable_page(session, command),
            "Runtime.enable" => self.enable_runtime(session, command),
            "Page.getFrameTree" => {
                let tree = self.tree(session);
                self.reply(session, command, json!({ "frameTree": tree }));
            }
            "Runtime.evaluate" => self.evaluate(session, command),
            "Page.addScriptToEvaluateOnNewDocument" => self.add_script(session, command),
            "Page.removeScriptToEvaluateOnNewDocument" => self.remove_script(session, command),
            "DOM.getFrameOwner" => self.frame_owner(session, command),
            "DOM.describeNode" => {
                let node =
                    json!({ "nodeName": "IFRAME", "attributes": ["sandbox", "allow-scripts allow-modals"] });
                self.reply(session, command, json!({ "node": node }));
            }
            "Runtime.runIfWaitingForDebugger" => self.resume(session, command),
            method
                if method.split('.').next().is_some_and(|it| DOMAINS.split(' ').any(|known| known == it)) =>
            {
                self.reply(session, command, json!({}));
            }
            method => {
                let message = format!("'{method}' wasn't found");
                self.queues.pipe(session, json::error(command.id, Some(session), -32601, &message), None);
            }
        }
    }

    fn resume(&mut self, session: SessionNo, command: &Command) {
        if let Some(session) = self.sessions.get_mut(session) {
            session.waiting = false;
        }
        self.release_all();
        self.reply(session, command, json!({}));
    }

    fn enable_page(&mut self, session: SessionNo, command: &Command) {
        let Some(state) = self.sessions.get_mut(session) else { return };
        state.page_agent = true;
        if let Target::Frame(root) = state.target
            && !state.waiting
            && let Some(pending) = self.frames.get(root).and_then(|frame| frame.pending.as_ref())
        {
            let params = json!({ "frameId": root, "url": pending.destination.url, "loaderId": pending.loader,
                                 "navigationType": "differentDocument" });
            self.speak(Some(session), "Page.frameStartedNavigating", params);
        }
        self.reply(session, command, json!({}));
    }

    fn enable_runtime(&mut self, session: SessionNo, command: &Command) {
        let Some(state) = self.sessions.get_mut(session) else { return };
        state.runtime_agent = true;
        if let (Target::Frame(root), false) = (state.target, state.early) {
            for frame in self.frames.island(root) {
                if let Some(event) = self.context_event(frame) {
                    let text = json::event(Some(session), "Runtime.executionContextCreated", event);
                    self.queues.pipe(session, text, None);
                }
            }
        }
        self.reply(session, command, json!({}));
    }

    /// The element of an iframe, as long as its parent is in this process.
    fn frame_owner(&mut self, session: SessionNo, command: &Command) {
        let named = command.params.get("frameId").and_then(Value::as_str).and_then(FrameNo::parse);
        match named.filter(|frame| self.frames.parent(*frame).is_some()) {
            Some(frame) => self.reply(session, command, json!({ "backendNodeId": frame.0 })),
            None => {
                let message = "Frame with the given id was not found.";
                self.queues.pipe(session, json::error(command.id, Some(session), -32000, message), None);
            }
        }
    }

    /// The frames of the session's process. A target that is on its way has one empty document.
    fn tree(&self, session: SessionNo) -> Value {
        let Some((Target::Frame(root), early)) = self.sessions.get(session).map(|it| (it.target, it.early))
        else {
            return Value::Null;
        };
        if !early {
            return self.tree_below(root, root);
        }
        let document = self.frames.get(root).map(|frame| Document::empty(frame.document.loader));
        let mut frame = self.frame_json(root, document.as_ref());
        if !self.config.root_parent_ids
            && let Some(fields) = frame.as_object_mut()
        {
            fields.remove("parentId");
        }
        json!({ "frame": frame })
    }

    fn tree_below(&self, no: FrameNo, root: FrameNo) -> Value {
        let Some(frame) = self.frames.get(no) else { return Value::Null };
        let given_up = |no: FrameNo| {
            self.frames.get(no).is_some_and(|it| it.pending.as_ref().is_some_and(|it| it.swapped))
        };
        let here = frame.children.iter().filter(|child| self.frames.local_root(**child) == root);
        let children: Vec<Value> =
            here.filter(|child| !given_up(**child)).map(|child| self.tree_below(*child, root)).collect();
        let mut tree = json!({ "frame": self.frame_json(no, Some(&frame.document)) });
        if !children.is_empty() {
            put(&mut tree, "childFrames", children);
        }
        tree
    }

    /// A renderer answers.
    pub(crate) fn reply(&mut self, session: SessionNo, command: &Command, result: Value) {
        if self.sessions.get(session).is_some() {
            self.queues.pipe(session, json::result(command.id, Some(session), result), None);
        }
    }
}

pub(crate) fn is_resume(method: &str) -> bool {
    method == "Runtime.runIfWaitingForDebugger"
}

fn is_script(method: &str) -> bool {
    method == "Runtime.evaluate" || method == "Runtime.callFunctionOn"
}
