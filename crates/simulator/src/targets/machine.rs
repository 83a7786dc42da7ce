//! Any bytes as inputs of a machine: the fuzzer's way to courses of things that no browser and no host would take.

use std::time::Duration;

use supervisor_core::{
    Action, At, Beginning, CallId, Command, DialogChoice, DialogPolicy, EndpointKind, Input, Machine, Net,
    Place, Remedy, Req, Stage,
};

use crate::audit::Auditor;
use crate::rules::resumed;

/// What comes before each input: its kind, its argument, and the milliseconds since the one before (two bytes).
pub(super) const HEAD: usize = 4;

/// A message: its length (two bytes) and its text follow.
pub(super) const RECEIVED: u8 = 0;

/// The socket opens, breaks, cannot be opened, or brings what is no text.
pub(super) const NET: u8 = 1;

/// The host asks.
pub(super) const HOST: u8 = 2;

/// Nothing but time.
pub(super) const TICK: u8 = 3;

/// A byte that says who answers dialogs, then inputs. After each of them the rules are looked at.
///
/// # Panics
/// When something is wrong with the code.
pub fn machine_inputs(bytes: &[u8]) {
    let Some((policy, rest)) = bytes.split_first() else { return };
    let mut beginning = Beginning::default();
    let policies = [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
    beginning.options.dialog_policy = policies[usize::from(policy % 3)];
    let mut run = Run::new(&beginning);
    run.take(Input::Host { req: Req(0), command: Command::Start });
    let mut rest = rest;
    while let Some((head, tail)) = rest.split_first_chunk::<HEAD>() {
        rest = run.input(*head, tail);
    }
}

struct Run {
    machine: Machine,
    auditor: Auditor,
    at: At,
    last_req: u64,
}

impl Run {
    fn new(beginning: &Beginning) -> Self {
        let machine = Machine::new(beginning);
        let auditor = Auditor::of(&machine);
        Self { machine, auditor, at: At(0), last_req: 0 }
    }

    /// Gives the machine one input and what is left of the bytes.
    fn input<'a>(&mut self, [kind, arg, high, low]: [u8; HEAD], tail: &'a [u8]) -> &'a [u8] {
        self.at = self.at.after(Duration::from_millis(u64::from(u16::from_be_bytes([high, low]))));
        match kind % 4 {
            RECEIVED => return self.received(tail),
            NET => self.net(arg),
            HOST => self.host(arg),
            _ => self.take(Input::Tick),
        }
        tail
    }

    fn received<'a>(&mut self, tail: &'a [u8]) -> &'a [u8] {
        let Some((length, tail)) = tail.split_first_chunk::<2>() else { return &[] };
        let length = usize::from(u16::from_be_bytes(*length)).min(tail.len());
        let (text, rest) = tail.split_at(length);
        let epoch = self.machine.state().connection.epoch;
        self.take(Input::Received { epoch, text: &String::from_utf8_lossy(text) });
        rest
    }

    fn net(&mut self, arg: u8) {
        let epoch = self.machine.state().connection.epoch;
        let reason = "fuzzed".to_owned();
        self.take(Input::Net(match arg % 8 {
            0..=4 => Net::Connected { epoch, endpoint: EndpointKind::Browser },
            5 => Net::Lost { epoch, reason },
            6 => Net::DialFailed { epoch, stage: Stage::Tcp, reason, http_status: None },
            _ => Net::Garbage { epoch, bytes: 1 },
        }));
    }

    fn host(&mut self, arg: u8) {
        self.last_req += 1;
        let (kind, nth) = (arg % 16, u64::from(arg / 16));
        if let Some(command) = self.command(kind, nth) {
            self.take(Input::Host { req: Req(self.last_req), command });
        }
    }

    fn command(&self, kind: u8, nth: u64) -> Option<Command> {
        let state = self.machine.state();
        let target = state
            .pages
            .iter()
            .map(|(target, _)| target)
            .nth(nth as usize % state.pages.iter().count().max(1));
        let frames: Vec<_> = target.into_iter().flat_map(|target| state.frames.of_page(target)).collect();
        let frame = frames.iter().min().map(|frame| (**frame).clone());
        let accept = Action::Accept { prompt_text: None };
        let respond = |action| Command::Respond { choice: DialogChoice::default(), action };
        let call = |method: &str| Command::Call {
            place: frame.clone().map_or(Place::Active, Place::Frame),
            method: method.to_owned(),
            params: "{}".to_owned(),
            timeout_ms: Some(1_000 * nth),
        };
        Some(match kind {
            0..=2 => Command::Eval {
                frame_id: frame,
                expression: "1".into(),
                await_promise: false,
                timeout_ms: None,
            },
            3 => call("Page.reload"),
            4 => call("Page.getLayoutMetrics"),
            5 => call("Fetch.enable"),
            6 | 7 => respond(accept),
            8 | 9 => respond(Action::Dismiss),
            10 => Command::Result { call_id: CallId(1 + nth), timeout_ms: None },
            11 => Command::Recover { target_id: target?.clone(), remedy: Remedy::Reload },
            12 => Command::Cancel { req: Req(self.last_req.saturating_sub(nth)) },
            13 => Command::Start,
            14 if nth == 0 => Command::Stop,
            _ => {
                let mut options = state.options.clone();
                options.dialog_policy =
                    [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss][nth as usize % 2];
                Command::Configure { options: Box::new(options) }
            }
        })
    }

    fn take(&mut self, input: Input<'_>) {
        let text = match &input {
            Input::Received { text, .. } => (*text).to_owned(),
            _ => String::new(),
        };
        let was_known = self.machine.meters().protocol_violations + self.machine.meters().late_messages;
        let step = self.machine.step(self.at, input);
        let is_known = self.machine.meters().protocol_violations + self.machine.meters().late_messages;
        if was_known == is_known && text.contains("\"Target.attachedToTarget\"") {
            resumed::holds_if_read(&text, &step.effects);
        }
        self.auditor.after(&step, &mut self.machine);
    }
}
