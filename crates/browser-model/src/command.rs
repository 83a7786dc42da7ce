//! Commands of the client.
//!
//! The browser process carries some out itself; the others are for a renderer, and wait while it cannot listen: behind
//! a dialog, a crash, a pause or a navigation.

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::dialog::Ending;
use crate::document::{Destination, Renderer, site_of, site_page};
use crate::ids::{DialogNo, FrameNo, SessionNo, Wire};
use crate::json;
use crate::navigate::How;
use crate::process::Key;
use crate::renderer::is_resume;
use crate::session::{Held, Target};
use crate::shape;

/// A command as the browser got it.
#[derive(Debug, Clone)]
pub(crate) struct Command {
    pub(crate) id: u64,
    pub(crate) method: String,
    pub(crate) params: Value,
}

impl Browser {
    /// A command of the client arrives. Its reply, if there ever is one, waits in a queue.
    pub fn receive(&mut self, text: &str) {
        self.receive_on(Wire::Main, text);
    }

    /// The same, on one of the client's connections.
    pub fn receive_on(&mut self, wire: Wire, text: &str) {
        if self.dead {
            return;
        }
        self.serving = wire;
        let Some((command, session)) = read(text) else {
            let error = json!({ "code": -32700, "message": "JSON: invalid message" });
            self.queues.speak(wire, json!({ "error": error }).to_string());
            return;
        };
        match session {
            None => self.on_root(&command),
            Some(session) => match self.session_of(wire, &session) {
                Some(session) => self.on_session(session, command),
                None => {
                    // Without a session id, as browsers do it.
                    let text = json::error(command.id, None, -32001, "Session with given id not found.");
                    self.queues.speak(wire, text);
                }
            },
        }
    }

    fn session_of(&self, wire: Wire, text: &str) -> Option<SessionNo> {
        SessionNo::parse(text).filter(|no| no.wire == wire && self.sessions.get(*no).is_some())
    }

    fn on_root(&mut self, command: &Command) {
        match command.method.as_str() {
            "Target.setDiscoverTargets" => self.discover(command),
            "Target.setAutoAttach" => self.attach_pages(command),
            method if self.in_browser(None, command) => debug_assert!(!method.is_empty()),
            method if method.starts_with("Browser.") || method.starts_with("Target.") => {
                self.answer(command, None, json!({}));
            }
            _ => self.not_found(command, None),
        }
    }

    fn on_session(&mut self, session: SessionNo, command: Command) {
        if self.in_browser(Some(session), &command) || self.of_frame(session, &command) {
            return;
        }
        self.before_renderer(session, &command);
        let overtakes = command.method == "Target.setAutoAttach" || is_resume(&command.method);
        let queued = self.sessions.get(session).is_some_and(|session| !session.held.is_empty());
        if self.is_held(session, &command.method) || (queued && !overtakes) {
            if let Some(session) = self.sessions.get_mut(session) {
                session.held.push(Held::Command(command));
            }
            return;
        }
        self.run(session, &command);
    }

    /// What the browser process does whether the renderer listens or not.
    fn before_renderer(&mut self, session: SessionNo, command: &Command) {
        let Some(state) = self.sessions.get_mut(session) else { return };
        match command.method.as_str() {
            "Page.enable" => state.page_handler = true,
            "Target.setAutoAttach" => {
                let wants = flag(command, "autoAttach");
                state.auto_attach = wants.then(|| flag(command, "waitForDebuggerOnStart"));
                let early = state.early;
                if let (Target::Frame(root), true, false) = (state.target, wants, early) {
                    self.attach_direct_children(root);
                }
            }
            _ => {}
        }
    }

    /// Commands of the browser process itself, on the root or on a session. `false` when this is none.
    fn in_browser(&mut self, session: Option<SessionNo>, command: &Command) -> bool {
        match command.method.as_str() {
            "Browser.getVersion" => {
                self.answer(command, session, shape::version(self.config.has_browser_handler))
            }
            "Target.getTargets" => self.list_targets(command, session),
            "Target.attachToTarget" => self.attach_by_hand(command, session),
            "Target.detachFromTarget" => self.detach_by_hand(command, session),
            "Target.closeTarget" => self.close_target(command, session),
            _ => return false,
        }
        true
    }

    /// Commands that the browser process carries out for a page or an iframe. `false` when this is none.
    fn of_frame(&mut self, session: SessionNo, command: &Command) -> bool {
        let Some(Target::Frame(frame)) = self.sessions.get(session).map(|session| session.target) else {
            return false;
        };
        match command.method.as_str() {
            "Page.handleJavaScriptDialog" => self.handle_dialog(session, frame, command),
            "Page.navigate" => self.navigate(session, frame, command),
            "Page.reload" => self.reload_page(session, frame, command),
            "Page.close" => self.close_by_page(session, frame, command),
            "Page.getNavigationHistory" => {
                self.answer(command, Some(session), json!({ "currentIndex": 0, "entries": [] }));
            }
            "Page.bringToFront" | "Page.stopLoading" | "Network.getCookies" => {
                self.answer(command, Some(session), json!({}));
            }
            method if method.starts_with("Fetch.") => self.fetch(session, command),
            method if ["Storage.", "Input.dispatch"].iter().any(|it| method.starts_with(it)) => {
                self.answer(command, Some(session), json!({}));
            }
            _ => return false,
        }
        true
    }

    fn discover(&mut self, command: &Command) {
        self.discover = flag(command, "discover");
        for page in self.pages.iter().map(|page| page.main).collect::<Vec<_>>() {
            if self.discover {
                let info = self.target_info(page, !self.sessions.on(page).is_empty());
                self.speak(None, "Target.targetCreated", json!({ "targetInfo": info }));
            }
        }
        self.answer(command, None, json!({}));
    }

    fn attach_pages(&mut self, command: &Command) {
        self.auto_attach = flag(command, "autoAttach").then(|| flag(command, "waitForDebuggerOnStart"));
        for page in self.pages.iter().map(|page| page.main).collect::<Vec<_>>() {
            if self.auto_attach.is_some() && self.sessions.on_main(page).is_empty() {
                self.attach_page(Wire::Main, page, false);
            }
        }
        self.answer(command, None, json!({}));
    }

    fn list_targets(&mut self, command: &Command, session: Option<SessionNo>) {
        let info = |page: FrameNo| self.target_info(page, !self.sessions.on(page).is_empty());
        let infos: Vec<Value> = self.pages.iter().map(|page| info(page.main)).collect();
        self.answer(command, session, json!({ "targetInfos": infos }));
    }

    fn attach_by_hand(&mut self, command: &Command, session: Option<SessionNo>) {
        match frame_param(command).filter(|page| self.page(*page).is_some()) {
            Some(page) => {
                let wire = self.serving;
                let attached = self.attach_page(wire, page, false);
                self.answer(command, session, json!({ "sessionId": attached }));
            }
            None => self.fail(command, session, -32602, "No target with given id found"),
        }
    }

    fn detach_by_hand(&mut self, command: &Command, session: Option<SessionNo>) {
        let named = command.params.get("sessionId").and_then(Value::as_str).and_then(SessionNo::parse);
        match named.filter(|named| self.sessions.get(*named).is_some()) {
            Some(named) => {
                self.detach(named);
                self.answer(command, session, json!({}));
                self.release_all();
            }
            None => self.fail(command, session, -32602, "No session with given id"),
        }
    }

    fn close_target(&mut self, command: &Command, session: Option<SessionNo>) {
        match frame_param(command).filter(|page| self.page(*page).is_some()) {
            Some(page) if self.would_kill(page, true) => self.die(),
            Some(page) => {
                self.answer(command, session, json!({ "success": true }));
                self.close_page(page);
            }
            None => self.fail(command, session, -32602, "No target with given id found"),
        }
    }

    /// Whether a command at this page ends the browser: an iframe was removed with its dialog open, or, when it is to
    /// close the page, two dialogs had overlapped. No client needs to be there that saw it.
    fn would_kill(&self, page: FrameNo, closes: bool) -> bool {
        let overlapped = self.dialogs.open.values().any(|it| it.page == page && it.overlaps);
        let poisoned = self.page(page).is_some_and(|page| page.poisoned);
        poisoned || (closes && overlapped)
    }

    fn handle_dialog(&mut self, session: SessionNo, frame: FrameNo, command: &Command) {
        if self.page(frame).is_none() {
            let message = "Command can only be executed on top-level targets";
            return self.fail(command, Some(session), -32000, message);
        }
        if self.would_kill(frame, false) {
            return self.die();
        }
        let Some(no) = self.answerable_on(session, frame) else {
            return self.fail(command, Some(session), -32602, "No dialog is showing");
        };
        let text = command.params.get("promptText").and_then(Value::as_str).unwrap_or_default().to_owned();
        let ending = Ending { accepted: flag(command, "accept"), text };
        self.finish_dialog(no, &ending, Some((session, command)));
    }

    /// A dialog closes, the answer is confirmed, then its renderer goes on.
    pub(crate) fn finish_dialog(&mut self, no: DialogNo, ending: &Ending, by: Option<(SessionNo, &Command)>) {
        let process = self.dialogs.get(no).map(|dialog| dialog.process);
        self.close_dialog(no, ending);
        if let Some((session, command)) = by {
            self.answer(command, Some(session), json!({}));
        }
        if let Some(process) = process {
            self.fence_process(process);
        }
        self.release_all();
    }

    fn navigate(&mut self, session: SessionNo, frame: FrameNo, command: &Command) {
        if self.would_kill(frame, false) {
            return self.die();
        }
        let url = command.params.get("url").and_then(Value::as_str).unwrap_or_default();
        let Some(destination) = self.destination_of(frame, url) else {
            return self.fail(command, Some(session), -32000, "Cannot navigate to invalid URL");
        };
        let how = How { asked_by: Some((command.id, session)), ..How::default() };
        self.start_navigation(frame, destination, how);
    }

    fn reload_page(&mut self, session: SessionNo, frame: FrameNo, command: &Command) {
        if self.would_kill(frame, false) {
            return self.die();
        }
        self.answer(command, Some(session), json!({}));
        self.reload(frame);
    }

    /// Loads the document of a frame again.
    pub(crate) fn reload(&mut self, frame: FrameNo) {
        let Some(url) = self.frames.get(frame).map(|frame| frame.document.url.clone()) else { return };
        if let Some(destination) = self.destination_of(frame, &url) {
            self.start_navigation(frame, destination, How::default());
        }
    }

    fn close_by_page(&mut self, session: SessionNo, frame: FrameNo, command: &Command) {
        if self.page(frame).is_none() {
            let message = "Command can only be executed on top-level targets";
            return self.fail(command, Some(session), -32000, message);
        }
        if self.would_kill(frame, true) {
            return self.die();
        }
        self.answer(command, Some(session), json!({}));
        self.close_page(frame);
    }

    /// Where a URL leads. An unknown site is taken for site `a`'s.
    pub(crate) fn destination_of(&self, frame: FrameNo, url: &str) -> Option<Destination> {
        let family = self.page(self.page_of(frame)?)?.family;
        if !url.starts_with("http") {
            let origin = crate::document::OPAQUE.to_owned();
            let url = if url.is_empty() { "about:blank" } else { url };
            let (url, renderer) = (url.to_owned(), Renderer::Inherited);
            return Some(Destination { url, origin, renderer, never_paused: false });
        }
        let site = site_of(url).unwrap_or(0);
        let renderer = Renderer::Of(Key::Site { family, site });
        let url = url.split('#').next().unwrap_or(url).to_owned();
        Some(Destination { url, origin: site_page(site, 0).1, renderer, never_paused: false })
    }

    /// The browser process answers.
    pub(crate) fn answer(&mut self, command: &Command, session: Option<SessionNo>, result: Value) {
        let wire = session.map_or(self.serving, |session| session.wire);
        self.queues.speak(wire, json::result(command.id, session, result));
    }

    pub(crate) fn fail(&mut self, command: &Command, session: Option<SessionNo>, code: i64, message: &str) {
        let wire = session.map_or(self.serving, |session| session.wire);
        self.queues.speak(wire, json::error(command.id, session, code, message));
    }

    fn not_found(&mut self, command: &Command, session: Option<SessionNo>) {
        self.fail(command, session, -32601, &format!("'{}' wasn't found", command.method));
    }
}

fn read(text: &str) -> Option<(Command, Option<String>)> {
    let message: Value = serde_json::from_str(text).ok()?;
    let id = message.get("id")?.as_u64()?;
    let method = message.get("method")?.as_str()?.to_owned();
    let params = message.get("params").cloned().unwrap_or_else(|| json!({}));
    let session = message.get("sessionId").and_then(Value::as_str).map(str::to_owned);
    Some((Command { id, method, params }, session))
}

fn flag(command: &Command, name: &str) -> bool {
    command.params.get(name).and_then(Value::as_bool).unwrap_or(false)
}

fn frame_param(command: &Command) -> Option<FrameNo> {
    FrameNo::parse(command.params.get("targetId")?.as_str()?)
}
