//! A machine with a hand-made browser around it.

use serde_json::{Value, json};
use std::time::Duration;

use supervisor_core::{
    Action, At, Beginning, Code, Command, DialogChoice, Effect, EndpointKind, Event, Failure, Input, Machine,
    Net, Options, Outcome, Place, Req, Snapshot, Step,
};

pub(crate) struct Rig {
    pub(crate) machine: Machine,
    pub(crate) now: At,
    pub(crate) events: Vec<Event>,
    pub(crate) sent: Vec<Value>,
    pub(crate) effects: Vec<Effect>,
    last_req: u64,
}

impl Rig {
    pub(crate) fn new(options: Options) -> Self {
        Self::from(&Beginning { options, ..Beginning::default() })
    }

    /// Another client is observed, which is connected to a browser.
    pub(crate) fn observing() -> Self {
        Self::from(&Beginning { observes: Some(EndpointKind::Browser), ..Beginning::default() })
    }

    pub(crate) fn from(beginning: &Beginning) -> Self {
        let beginning = Beginning { started_unix_us: 1_000_000_000_000_000, ..beginning.clone() };
        let machine = Machine::new(&beginning);
        Self { machine, now: At(0), events: Vec::new(), sent: Vec::new(), effects: Vec::new(), last_req: 0 }
    }

    /// Connected to a browser with one page `P` in session `SP`, its main frame `P` on `http://a.test`.
    pub(crate) fn with_page() -> Self {
        Self::with_page_and(Options::default())
    }

    pub(crate) fn with_page_and(options: Options) -> Self {
        let mut rig = Self::connected(options);
        rig.attach_page("P", "SP", json!({}));
        rig.navigated("SP", "P", None, "http://a.test/");
        rig
    }

    /// Connected to a browser without a page.
    pub(crate) fn connected(options: Options) -> Self {
        let mut rig = Self::new(options);
        rig.host(Command::Start);
        let epoch = rig.epoch();
        rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
        rig.answer_all("Browser.getVersion", json!({"product": "Chrome/156", "protocolVersion": "1.3"}));
        rig.answer_all("Target.setDiscoverTargets", json!({}));
        rig.answer_all("Target.setAutoAttach", json!({}));
        rig
    }

    pub(crate) fn epoch(&self) -> supervisor_core::Epoch {
        self.machine.state().connection.epoch
    }

    pub(crate) fn input(&mut self, input: Input<'_>) -> Step {
        let step = self.machine.step(self.now, input);
        self.events.extend(step.events.iter().map(|recorded| recorded.event.clone()));
        for effect in &step.effects {
            if let Effect::Send { text, .. } = effect {
                self.sent.push(serde_json::from_str(text).unwrap());
            }
        }
        self.effects.extend(step.effects.iter().cloned());
        assert_eq!(self.machine.snapshot(), self.machine.snapshot_afresh(), "a section was not rebuilt");
        step
    }

    pub(crate) fn recv(&mut self, message: &Value) {
        let (epoch, text) = (self.epoch(), message.to_string());
        self.input(Input::Received { epoch, text: &text });
    }

    pub(crate) fn event(&mut self, session: &str, method: &str, params: Value) {
        let mut message = json!({"method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        self.recv(&message);
    }

    /// The client that is observed sends a command.
    pub(crate) fn observed(&mut self, session: &str, id: u64, method: &str, params: Value) {
        let mut message = json!({"id": id, "method": method, "params": params});
        if !session.is_empty() {
            message["sessionId"] = json!(session);
        }
        self.input(Input::Observed { text: &message.to_string() });
    }

    pub(crate) fn host(&mut self, command: Command) -> Req {
        self.last_req += 1;
        let req = Req(self.last_req);
        self.input(Input::Host { req, command });
        req
    }

    /// Time passes; the browser gives a sign of life whenever it is asked.
    pub(crate) fn advance(&mut self, wait: Duration) {
        let end = self.now.after(wait);
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= end) {
            self.now = due;
            self.input(Input::Tick);
            self.answer_all("Browser.getVersion", json!({"product": "Chrome/156"}));
        }
        self.now = end;
        self.input(Input::Tick);
    }

    /// Time passes, and the browser answers nothing.
    pub(crate) fn advance_deaf(&mut self, wait: Duration) {
        self.now = self.now.after(wait);
        self.input(Input::Tick);
    }

    /// What was sent with this method, oldest first.
    pub(crate) fn sent_as(&self, method: &str) -> Vec<&Value> {
        self.sent.iter().filter(|message| message["method"] == method).collect()
    }

    pub(crate) fn reply(&mut self, id: u64, result: Value) {
        self.recv(&json!({"id": id, "result": result}));
    }

    pub(crate) fn reply_error(&mut self, id: u64, code: i64, message: &str) {
        self.recv(&json!({"id": id, "error": {"code": code, "message": message}}));
    }

    /// Answers everything that was sent with this method.
    pub(crate) fn answer_all(&mut self, method: &str, result: Value) {
        let ids: Vec<u64> =
            self.sent_as(method).iter().map(|message| message["id"].as_u64().unwrap()).collect();
        self.sent.retain(|message| message["method"] != method);
        for id in ids {
            self.reply(id, result.clone());
        }
    }

    pub(crate) fn last_id(&self, method: &str) -> u64 {
        self.sent_as(method).last().unwrap_or_else(|| panic!("{method} was not sent"))["id"].as_u64().unwrap()
    }

    pub(crate) fn attach_page(&mut self, target: &str, session: &str, more: Value) {
        let mut info = json!({"targetId": target, "type": "page", "url": "http://a.test/", "title": "t", "attached": true,
            "browserContextId": "C"});
        for (key, value) in more.as_object().unwrap() {
            info[key] = value.clone();
        }
        self.event(
            "",
            "Target.attachedToTarget",
            json!({"sessionId": session, "targetInfo": info,
            "waitingForDebugger": true}),
        );
    }

    pub(crate) fn attach_iframe(&mut self, parent: &str, frame: &str, session: &str, above: &str) {
        let info = json!({"targetId": frame, "type": "iframe", "url": "", "title": "", "attached": true,
            "parentFrameId": above});
        self.event(
            parent,
            "Target.attachedToTarget",
            json!({"sessionId": session, "targetInfo": info,
            "waitingForDebugger": true}),
        );
    }

    pub(crate) fn navigated(&mut self, session: &str, frame: &str, parent: Option<&str>, url: &str) {
        let origin = url.split('/').take(3).collect::<Vec<_>>().join("/");
        let mut described = json!({"id": frame, "loaderId": format!("L-{url}"), "url": url, "securityOrigin": origin,
            "mimeType": "text/html"});
        if let Some(parent) = parent {
            described["parentId"] = json!(parent);
        }
        self.event(session, "Page.frameNavigated", json!({"frame": described, "type": "Navigation"}));
    }

    pub(crate) fn context(&mut self, session: &str, frame: &str, id: i64) {
        let known = self.machine.state().frames.get(&frame.into()).map(|frame| frame.origin.clone());
        let origin = known.filter(|origin| !origin.is_empty()).unwrap_or_else(|| "http://a.test".to_owned());
        self.context_of(session, frame, id, &origin);
    }

    /// The context of a document with this origin.
    pub(crate) fn context_of(&mut self, session: &str, frame: &str, id: i64, origin: &str) {
        self.event(
            session,
            "Runtime.executionContextCreated",
            json!({"context": {"id": id, "origin": origin,
            "name": "", "uniqueId": format!("U-{session}-{id}"),
            "auxData": {"isDefault": true, "type": "default", "frameId": frame}}}),
        );
    }

    pub(crate) fn opening(&mut self, session: &str, frame: &str, kind: &str, message: &str) {
        self.event(
            session,
            "Page.javascriptDialogOpening",
            json!({"url": "http://a.test/", "frameId": frame,
            "message": message, "type": kind, "hasBrowserHandler": true, "defaultPrompt": "dflt"}),
        );
    }

    pub(crate) fn closed(&mut self, session: &str, frame: &str, result: bool, input: &str) {
        self.event(
            session,
            "Page.javascriptDialogClosed",
            json!({"frameId": frame, "result": result,
            "userInput": input}),
        );
    }

    pub(crate) fn respond(&mut self, dialog: Option<u64>, action: Action) -> Req {
        let choice = DialogChoice { dialog_id: dialog.map(supervisor_core::DialogId), target_id: None };
        self.host(Command::Respond { choice, action })
    }

    pub(crate) fn call(&mut self, place: Place, method: &str) -> Req {
        self.host(Command::Call { place, method: method.into(), params: "{}".into(), timeout_ms: None })
    }

    pub(crate) fn eval(&mut self, frame: &str) -> Req {
        self.host(Command::Eval {
            frame_id: Some(frame.into()),
            expression: "1".into(),
            await_promise: false,
            timeout_ms: None,
        })
    }

    /// How a request was answered; `None` while it was not. More than one answer is a failure.
    pub(crate) fn outcome(&self, req: Req) -> Option<&Outcome> {
        let mut found = self.effects.iter().filter_map(|effect| match effect {
            Effect::Reply { req: answered, outcome, .. } if *answered == req => Some(outcome),
            _ => None,
        });
        let first = found.next();
        assert!(found.next().is_none(), "{req:?} was answered twice");
        first
    }

    pub(crate) fn failure(&self, req: Req) -> &Failure {
        match self.outcome(req) {
            Some(Outcome::Failed(failure)) => failure,
            other => panic!("expected a failure, got {other:?}"),
        }
    }

    pub(crate) fn code(&self, req: Req) -> Code {
        self.failure(req).code
    }

    pub(crate) fn snapshot(&mut self) -> std::sync::Arc<Snapshot> {
        self.machine.snapshot()
    }

    /// The frames of the active page as `id<parent session`, sorted.
    pub(crate) fn tree(&self) -> Vec<String> {
        let describe = |frame: &supervisor_core::FrameView| {
            let parent = frame.parent_frame_id.as_ref().map_or("-", |id| id.as_str());
            let session = frame.session_id.as_ref().map_or("", |id| id.as_str());
            format!("{}<{parent} {session}", frame.frame_id)
        };
        let mut all: Vec<_> = self.machine.frames(None).unwrap().iter().map(describe).collect();
        all.sort();
        all
    }
}

pub(crate) fn accept() -> Action {
    Action::Accept { prompt_text: None }
}
