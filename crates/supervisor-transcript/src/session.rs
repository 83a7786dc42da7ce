//! For tests: a machine that is recorded while it runs, against a browser that says what the test wants.

use std::collections::VecDeque;
use std::sync::Arc;

use supervisor_core::{
    Action, At, Beginning, Command, DialogChoice, DialogPolicy, Effect, EndpointKind, Epoch, GuardEffect,
    GuardInput, Input, Machine, Net, Recorded, Req, Snapshot, Stage,
};

use crate::{Header, Writer};

/// One thing that happens in a session.
#[derive(Debug, Clone)]
pub(crate) enum Happening {
    /// Microseconds pass.
    Wait(u64),
    /// The oldest command that is unanswered is answered.
    Reply(&'static str),
    /// The browser says this.
    Says(String),
    /// A message of the connection before arrives late.
    SaysLate(&'static str),
    /// The host asks.
    Host(Command),
    /// The connection is opened, lost, …
    Connected,
    Lost,
    /// The oldest command of the guard that is unanswered is answered.
    GuardReply(&'static str),
    /// The browser says this on the guard's connection.
    GuardSays(String),
    /// The guard's connection is opened, or lost.
    GuardConnected,
    GuardLost,
    DialFailed,
    Garbage,
    Tick,
}

/// A recorded session.
pub(crate) struct Session {
    machine: Machine,
    writer: Writer,
    at: At,
    epoch: Epoch,
    req: Req,
    unanswered: VecDeque<u64>,
    guard_epoch: Epoch,
    guard_unanswered: VecDeque<u64>,
    pub(crate) recording: Vec<u8>,
    pub(crate) events: Vec<Recorded>,
}

impl Session {
    pub(crate) fn new(policy: DialogPolicy) -> Self {
        let mut beginning =
            Beginning { started_unix_us: 1_650_000_000_000_000, seed: 7, ..Beginning::default() };
        beginning.options.dialog_policy = policy;
        beginning.options.guard = true;
        let mut recording = Vec::new();
        let header = Header::new(beginning.clone(), "ws://127.0.0.1/devtools/browser/…");
        Self {
            machine: Machine::new(&beginning),
            writer: Writer::begin(&header, &mut recording),
            at: At(0),
            epoch: beginning.epoch,
            req: Req(0),
            unanswered: VecDeque::new(),
            guard_epoch: Epoch(0),
            guard_unanswered: VecDeque::new(),
            recording,
            events: Vec::new(),
        }
    }

    pub(crate) fn run(policy: DialogPolicy, happenings: &[Happening]) -> Self {
        let mut session = Self::new(policy);
        happenings.iter().for_each(|happening| session.happen(happening));
        session
    }

    pub(crate) fn snapshot(&mut self) -> Arc<Snapshot> {
        self.machine.snapshot()
    }

    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.recording).unwrap()
    }

    pub(crate) fn happen(&mut self, happening: &Happening) {
        let epoch = self.epoch;
        match happening {
            Happening::Wait(micros) => self.at.0 += micros,
            Happening::Reply(rest) => {
                if let Some(id) = self.unanswered.pop_front() {
                    self.input(Input::Received { epoch, text: &format!("{{\"id\":{id},{rest}}}") });
                }
            }
            Happening::Says(text) => self.input(Input::Received { epoch, text }),
            Happening::SaysLate(text) => {
                self.input(Input::Received { epoch: Epoch(epoch.0.saturating_sub(1)), text });
            }
            Happening::Host(command) => {
                self.req.0 += 1;
                self.input(Input::Host { req: self.req, command: command.clone() });
            }
            Happening::Connected => {
                self.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
            }
            Happening::Lost => self.input(Input::Net(Net::Lost { epoch, reason: "reset".to_owned() })),
            Happening::GuardReply(rest) => {
                if let Some(id) = self.guard_unanswered.pop_front() {
                    self.guard_says(&format!("{{\"id\":{id},{rest}}}"));
                }
            }
            Happening::GuardSays(text) => self.guard_says(text),
            Happening::GuardConnected => {
                let net = Net::Connected { epoch: self.guard_epoch, endpoint: EndpointKind::Browser };
                self.input(Input::Guard(GuardInput::Net(net)));
            }
            Happening::GuardLost => {
                let net = Net::Lost { epoch: self.guard_epoch, reason: "reset".to_owned() };
                self.input(Input::Guard(GuardInput::Net(net)));
            }
            Happening::DialFailed => {
                let (stage, reason) = (Stage::Upgrade, "refused".to_owned());
                self.input(Input::Net(Net::DialFailed { epoch, stage, reason, http_status: Some(503) }));
            }
            Happening::Garbage => self.input(Input::Net(Net::Garbage { epoch, bytes: 3 })),
            Happening::Tick => self.input(Input::Tick),
        }
    }

    fn guard_says(&mut self, text: &str) {
        self.input(Input::Guard(GuardInput::Received { epoch: self.guard_epoch, text }));
    }

    fn input(&mut self, input: Input<'_>) {
        self.writer.input(self.at, &input, &mut self.recording);
        let step = self.machine.step(self.at, input);
        self.events.extend(step.events);
        for effect in step.effects {
            match effect {
                Effect::Send { text, .. } => {
                    self.writer.sent(self.at, &text, &mut self.recording);
                    self.unanswered.extend(command_id(&text));
                }
                Effect::Dial { epoch } => {
                    self.epoch = epoch;
                    self.unanswered.clear();
                }
                Effect::Guard(GuardEffect::Send { text }) => {
                    self.writer.sent_by_guard(self.at, &text, &mut self.recording);
                    self.guard_unanswered.extend(command_id(&text));
                }
                Effect::Guard(GuardEffect::Dial { epoch }) => {
                    self.guard_epoch = epoch;
                    self.guard_unanswered.clear();
                }
                _ => {}
            }
        }
    }
}

fn command_id(text: &str) -> Option<u64> {
    serde_json::from_str::<serde_json::Value>(text).unwrap()["id"].as_u64()
}

pub(crate) fn page_attached(session: &str, target: &str) -> Happening {
    Happening::Says(format!(
        r#"{{"method":"Target.attachedToTarget","params":{{"sessionId":"{session}","targetInfo":{{"targetId":"{target}","type":"page","title":"t","url":"http://a.test/","attached":true,"canAccessOpener":false,"browserContextId":"B"}},"waitingForDebugger":true}}}}"#
    ))
}

pub(crate) fn dialog_opens(session: &str, frame: &str, kind: &str) -> Happening {
    Happening::Says(format!(
        r#"{{"method":"Page.javascriptDialogOpening","params":{{"url":"http://a.test/","frameId":"{frame}","message":"hello","type":"{kind}","hasBrowserHandler":true,"defaultPrompt":"x"}},"sessionId":"{session}"}}"#
    ))
}

pub(crate) fn dialog_closes(session: &str, frame: &str, result: bool) -> Happening {
    Happening::Says(format!(
        r#"{{"method":"Page.javascriptDialogClosed","params":{{"frameId":"{frame}","result":{result},"userInput":""}},"sessionId":"{session}"}}"#
    ))
}

pub(crate) fn accept() -> Happening {
    let action = Action::Accept { prompt_text: Some("typed".to_owned()) };
    Happening::Host(Command::Respond { choice: DialogChoice::default(), action })
}

/// The same on the guard's connection.
pub(crate) fn on_guard(happening: Happening) -> Happening {
    match happening {
        Happening::Says(text) => Happening::GuardSays(text),
        other => other,
    }
}

/// A page that is set up.
fn page_there() -> Vec<Happening> {
    let mut all = vec![Happening::Host(Command::Start), Happening::Wait(1_000), Happening::Connected];
    all.extend(std::iter::repeat_n(Happening::Reply(r#""result":{}"#), 3));
    all.extend([Happening::Wait(1), page_attached("S1", "F1")]);
    all.extend(std::iter::repeat_n(Happening::Reply(r#""result":{},"sessionId":"S1""#), 8));
    all
}

/// The connection is lost with a confirm open, which the host then accepts by the guard.
pub(crate) fn carried_confirm() -> Vec<Happening> {
    let mut all = page_there();
    all.extend([
        Happening::GuardConnected,
        Happening::GuardReply(r#""result":{"sessionId":"G1"}"#),
        Happening::GuardReply(r#""result":{},"sessionId":"G1""#),
        dialog_opens("S1", "F1", "confirm"),
        on_guard(dialog_opens("G1", "F1", "confirm")),
        Happening::Lost,
        Happening::GuardReply(r#""result":{}"#),
        accept(),
        on_guard(dialog_closes("G1", "F1", true)),
        Happening::GuardReply(r#""result":{},"sessionId":"G1""#),
        Happening::Wait(700_000),
        Happening::Tick,
        Happening::Connected,
    ]);
    all
}

/// A page whose alert the host accepts.
pub(crate) fn answered_alert() -> Vec<Happening> {
    let mut all = page_there();
    all.extend([
        Happening::Wait(2_500_000),
        dialog_opens("S1", "F1", "alert"),
        Happening::Wait(17),
        accept(),
    ]);
    all.extend([Happening::Wait(900), dialog_closes("S1", "F1", true)]);
    all.extend(std::iter::repeat_n(Happening::Reply(r#""result":{},"sessionId":"S1""#), 4));
    all
}
