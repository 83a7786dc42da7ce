//! A machine, its browser, the wires between them, and the book that is kept of all that happens.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use browser_model::{Acted, Action, Browser, Config, NEVER, SourceId};
use serde_json::Value;
use supervisor_core::{
    At, Beginning, Body, CallId, Command, DialogChoice, DialogPolicy, Effect, EndpointKind, Epoch, FrameId,
    Input, Machine, Net, Options, Outcome, Place, Recorded, Remedy, Req, Route, SessionId, Status,
};

use crate::draw::Draw;
use crate::script::{Ask, Op, Script};

/// An input that owns its text, so that a run can be repeated.
#[derive(Debug, Clone)]
pub(crate) enum Owned {
    Received(Epoch, String),
    Net(Net),
    Host(Req, Command),
    Tick,
}

impl Owned {
    pub(crate) fn borrow(&self) -> Input<'_> {
        match self {
            Owned::Received(epoch, text) => Input::Received { epoch: *epoch, text },
            Owned::Net(net) => Input::Net(net.clone()),
            Owned::Host(req, command) => Input::Host { req: *req, command: command.clone() },
            Owned::Tick => Input::Tick,
        }
    }
}

/// Everything of one run.
pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) browser: Browser,
    pub(crate) now: At,
    pub(crate) draw: Draw,
    /// The inputs with their times.
    pub(crate) inputs: Vec<(At, Owned)>,
    pub(crate) events: Vec<Recorded>,
    /// What the machine sent and the browser has not read yet.
    pub(crate) upload: VecDeque<(At, String)>,
    /// What was sent in one step is read in one go.
    whole_writes: bool,
    /// How often each request was answered.
    pub(crate) answers: BTreeMap<Req, u32>,
    pub(crate) cancelled: BTreeSet<Req>,
    /// Late results that are kept: their values are checked when they are served.
    pub(crate) kept: BTreeSet<CallId>,
    /// The frame that each evaluation was for.
    pub(crate) evals: BTreeMap<Req, FrameId>,
    /// Dialogs that the machine was told of, each as often as a session told it.
    pub(crate) openings: usize,
    /// Whether a socket is open.
    epoch: Option<Epoch>,
    last_req: u64,
    /// What happened, in lines, when somebody wants to read it.
    log: Option<RefCell<Vec<String>>>,
}

impl World {
    pub(crate) fn new(config: Config, seed: u64) -> Self {
        let mut world = Self {
            machine: Machine::new(&Self::beginning()),
            browser: Browser::new(config),
            now: At(0),
            draw: Draw::new(seed),
            inputs: Vec::new(),
            events: Vec::new(),
            upload: VecDeque::new(),
            // Where a dead renderer fails what it was asked, a set-up that was cut in two would be half there.
            whole_writes: config.crash_fails_commands,
            answers: BTreeMap::new(),
            cancelled: BTreeSet::new(),
            kept: BTreeSet::new(),
            evals: BTreeMap::new(),
            openings: 0,
            epoch: None,
            last_req: 0,
            log: LOG.then(RefCell::default),
        };
        world.ask(Command::Start);
        world
    }

    pub(crate) fn beginning() -> Beginning {
        Beginning { started_unix_us: 1_000_000_000_000_000, ..Beginning::default() }
    }

    /// Whether the task has ended: a socket that is lost before the first handshake is a failed start.
    pub(crate) fn is_over(&self) -> bool {
        self.machine.state().connection.status == Status::Failed
    }

    /// A whole run, up to its last op; nothing is settled yet.
    pub(crate) fn run(script: &Script) -> Self {
        let mut world = Self::new(script.config, script.seed);
        for op in &script.ops {
            world.play(op);
        }
        world
    }

    /// What the machine was told.
    pub(crate) fn into_inputs(mut self) -> Vec<(At, Owned)> {
        std::mem::take(&mut self.inputs)
    }

    pub(crate) fn play(&mut self, op: &Op) {
        match op {
            Op::Act(action) => {
                self.act(*action);
            }
            Op::Deliver(count) => {
                for _ in 0..*count {
                    self.deliver_one();
                }
            }
            Op::Host(ask) => self.host(*ask),
            Op::Wait(time) => self.wait(*time),
        }
    }

    pub(crate) fn act(&mut self, action: Action) -> Acted {
        let acted = self.browser.act(action);
        self.note(|| format!("act  {action:?} {acted:?}"));
        if action == Action::DropSocket {
            self.lose("the socket was reset");
        }
        acted
    }

    /// One message goes one way or the other. `false` when there is none.
    pub(crate) fn deliver_one(&mut self) -> bool {
        self.bury();
        let ready = self.browser.ready();
        let ways = ready.len() + usize::from(!self.upload.is_empty());
        if ways == 0 {
            return false;
        }
        match ready.get(self.draw.below(ways)) {
            Some(source) => self.download(*source),
            None => self.upload_one(),
        }
        true
    }

    fn download(&mut self, source: SourceId) {
        let text = self.browser.emit(source).expect("a source that is ready speaks");
        if let Some(epoch) = self.epoch {
            self.input(Owned::Received(epoch, text));
        }
    }

    fn upload_one(&mut self) {
        let Some((written, text)) = self.upload.pop_front() else { return };
        self.note(|| format!("read {text}"));
        self.browser.receive(&text);
        self.bury();
        if self.whole_writes && self.upload.front().is_some_and(|(next, _)| *next == written) {
            self.upload_one();
        }
    }

    /// A browser that died is started again.
    fn bury(&mut self) {
        if self.browser.is_dead() {
            self.note(|| "the browser died".to_owned());
            self.browser.restart();
            self.lose("the browser is gone");
        }
    }

    fn lose(&mut self, reason: &str) {
        self.upload.clear();
        if let Some(epoch) = self.epoch.take() {
            self.input(Owned::Net(Net::Lost { epoch, reason: reason.to_owned() }));
        }
    }

    /// Nothing is on any wire any more.
    pub(crate) fn drain(&mut self) {
        while self.deliver_one() {}
    }

    /// Time passes, deadline by deadline; nothing is delivered meanwhile.
    pub(crate) fn wait(&mut self, time: Duration) {
        self.pass(time, |_| {});
    }

    /// Time passes and everything is delivered at once.
    pub(crate) fn settle_for(&mut self, time: Duration) {
        self.drain();
        self.pass(time, Self::drain);
    }

    fn pass(&mut self, time: Duration, mut then: impl FnMut(&mut Self)) {
        let end = self.now.after(time);
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= end) {
            self.now = due.max(self.now);
            self.input(Owned::Tick);
            then(self);
        }
        self.now = end.max(self.now);
    }

    pub(crate) fn ask(&mut self, command: Command) -> Req {
        self.last_req += 1;
        let req = Req(self.last_req);
        self.answers.insert(req, 0);
        self.input(Owned::Host(req, command));
        req
    }

    pub(crate) fn input(&mut self, input: Owned) {
        self.now = At(self.now.0 + 1);
        self.note(|| match &input {
            Owned::Received(_, text) => format!("recv {text}"),
            other => format!("in   {other:?}"),
        });
        self.openings += usize::from(self.tells_of_dialog(&input));
        let step = self.machine.step(self.now, input.borrow());
        for recorded in &step.events {
            self.note(|| format!("     {:?}", recorded.event));
        }
        self.events.extend(step.events.iter().cloned());
        let text = if let Owned::Received(_, text) = &input { text.as_str() } else { "" };
        assert_resumed(text, &step.effects);
        self.inputs.push((self.now, input.clone()));
        for effect in step.effects {
            self.carry_out(effect, text);
        }
        self.bury();
    }

    /// Whether this is the opening of a dialog, on a session that the machine has.
    fn tells_of_dialog(&self, input: &Owned) -> bool {
        let Owned::Received(_, text) = input else { return false };
        if !text.contains("Page.javascriptDialogOpening") {
            return false;
        }
        let Ok(message) = serde_json::from_str::<Value>(text) else { return false };
        let session = message["sessionId"].as_str().map(SessionId::from);
        self.machine.state().sessions.get(&Route::from(session)).is_some()
    }

    fn carry_out(&mut self, effect: Effect, text: &str) {
        match effect {
            Effect::Send { text, .. } => {
                assert!(self.epoch.is_some(), "sent without a socket: {text}");
                self.upload.push_back((self.now, text));
            }
            Effect::Dial { epoch } => self.dial(epoch),
            Effect::HangUp { .. } => {
                self.epoch = None;
                self.upload.clear();
                self.browser.act(Action::DropSocket);
            }
            Effect::Reply { req, outcome, .. } => self.answered(req, &outcome, text),
            Effect::Keep { call, .. } => assert!(self.kept.insert(call), "{call} is kept twice"),
            Effect::Serve { call, req, .. } => {
                assert!(self.kept.remove(&call), "{call} is not kept");
                *self.answers.entry(req).or_default() += 1;
            }
            Effect::Drop { call, .. } => assert!(self.kept.remove(&call), "{call} is not kept"),
            _ => {}
        }
    }

    fn dial(&mut self, epoch: Epoch) {
        self.epoch = Some(epoch);
        self.input(Owned::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    }

    fn answered(&mut self, req: Req, outcome: &Outcome, text: &str) {
        self.note(|| format!("     {req:?} {outcome:?}"));
        *self.answers.entry(req).or_default() += 1;
        if let (Outcome::Value { body, .. }, Some(frame)) = (outcome, self.evals.get(&req)) {
            let value = match body {
                Body::Slice(range) => &text[range.clone()],
                Body::Text(text) => text,
            };
            let ran_in: Value = serde_json::from_str(value).expect("a value is JSON");
            assert_eq!(
                ran_in.as_str(),
                Some(frame.as_str()),
                "an expression ran in another frame than its own"
            );
        }
    }

    pub(crate) fn note(&self, line: impl FnOnce() -> String) {
        if let Some(log) = &self.log {
            log.borrow_mut().push(format!("{} {}", self.now.0, line()));
        }
    }

    fn host(&mut self, ask: Ask) {
        let Some(command) = self.command(ask) else { return };
        let target = match &command {
            Command::Eval { frame_id: Some(frame), .. } => Some(frame.clone()),
            _ => None,
        };
        if let Command::Cancel { req } = &command {
            self.cancelled.insert(*req);
            self.last_req += 1;
            return self.input(Owned::Host(Req(self.last_req), command));
        }
        if let Some(frame) = target {
            self.evals.insert(Req(self.last_req + 1), frame);
        }
        self.ask(command);
    }

    fn command(&self, ask: Ask) -> Option<Command> {
        Some(match ask {
            Ask::Eval { frame, kind } => {
                let expression = ["1", "1", NEVER, "alert('x')", "confirm('x')", "prompt('x')"];
                Command::Eval {
                    frame_id: Some(self.nth_frame(frame)?),
                    expression: nth(&expression, kind)?.to_string(),
                    await_promise: false,
                    timeout_ms: None,
                }
            }
            Ask::Call { frame, kind } => {
                let (method, params) = *nth(&CALLS, kind)?;
                let place = Place::Frame(self.nth_frame(frame)?);
                Command::Call { place, method: method.into(), params: params.into(), timeout_ms: None }
            }
            Ask::Respond { nth: which, accept } => {
                let open: Vec<_> = self.machine.state().dialogs.open.keys().copied().collect();
                let choice = DialogChoice { dialog_id: Some(*nth(&open, which)?), target_id: None };
                let accepted = supervisor_core::Action::Accept { prompt_text: None };
                let action = if accept { accepted } else { supervisor_core::Action::Dismiss };
                Command::Respond { choice, action }
            }
            Ask::Result { nth: which } => {
                let last = self.machine.state().calls.next.0;
                Command::Result { call_id: CallId(1 + u64::from(which) % last), timeout_ms: None }
            }
            Ask::Recover { page, kind } => {
                let pages: Vec<_> =
                    self.machine.state().pages.iter().map(|(target, _)| target.clone()).collect();
                let elsewhere = Remedy::Navigate { url: "http://c.test/".into() };
                let remedies = [Remedy::Reload, elsewhere, Remedy::Close];
                Command::Recover {
                    target_id: nth(&pages, page)?.clone(),
                    remedy: nth(&remedies, kind)?.clone(),
                }
            }
            Ask::Cancel { nth: which } => {
                let open: Vec<Req> =
                    self.answers.iter().filter(|(_, count)| **count == 0).map(|(req, _)| *req).collect();
                Command::Cancel { req: *nth(&open, which)? }
            }
            Ask::Policy { kind } => {
                let policies =
                    [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
                let mut options = Options::default();
                options.dialog_policy = *nth(&policies, kind)?;
                Command::Configure { options: Box::new(options) }
            }
        })
    }

    fn nth_frame(&self, which: u8) -> Option<FrameId> {
        let state = self.machine.state();
        let mut all: Vec<FrameId> =
            state.pages.iter().flat_map(|(page, _)| state.frames.of_page(page).cloned()).collect();
        all.sort();
        nth(&all, which).cloned()
    }
}

/// Whether a run that fails tells its story. With `ORDERINGS_LOG=1` set when the tests are built, it does; after
/// shrinking, the last story is that of the smallest run.
const LOG: bool = option_env!("ORDERINGS_LOG").is_some();

impl Drop for World {
    fn drop(&mut self) {
        if let Some(log) = self.log.as_ref().filter(|_| std::thread::panicking()) {
            println!("--- a run that failed:\n{}", log.borrow().join("\n"));
        }
    }
}

/// Raw calls: for the renderer, for the browser process, and ones that end what they run in.
const CALLS: [(&str, &str); 7] = [
    ("Runtime.evaluate", r#"{"expression":"1"}"#),
    ("Page.getLayoutMetrics", "{}"),
    ("Page.navigate", r#"{"url":"http://b.test/called"}"#),
    ("Page.reload", "{}"),
    ("Page.getNavigationHistory", "{}"),
    ("Nonsense.method", "{}"),
    ("Page.close", "{}"),
];

fn nth<T>(all: &[T], which: u8) -> Option<&T> {
    all.get(usize::from(which) % all.len().max(1))
}

/// A paused target is resumed in the very step in which it is seen.
fn assert_resumed(text: &str, effects: &[Effect]) {
    if !text.contains("\"waitingForDebugger\":true") {
        return;
    }
    let message: Value = serde_json::from_str(text).expect("the model writes JSON");
    let session = message["params"]["sessionId"].as_str().expect("a session");
    let resumes = |effect: &Effect| {
        let Effect::Send { text, .. } = effect else { return false };
        text.contains("Runtime.runIfWaitingForDebugger") && text.contains(&format!("\"{session}\""))
    };
    assert!(effects.iter().any(resumes), "{session} waits for a resume that was not sent");
}
