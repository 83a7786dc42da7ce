//! One input of the machine: recorded, handled, carried out, and held against the rules.

use std::time::Duration;

use browser_model::{Action, Wire};
use supervisor_core::{At, Beginning, Command, Effect, EndpointKind, Epoch, Machine, Net, Req, Stage, Step};

use crate::guard;
use crate::input::Owned;
use crate::rules;
use crate::witness::Witness;
use crate::world::World;

/// Between two inputs, so that each has a time of its own.
pub(crate) const STEP: Duration = Duration::from_micros(1);

impl World {
    /// The host asks.
    pub fn ask(&mut self, command: Command) -> Req {
        let req = self.requests.ask(self.now.after(STEP), &command, &self.machine.state().options);
        self.input(Owned::Host(req, command));
        req
    }

    /// The machine gets an input.
    pub fn input(&mut self, input: Owned) {
        self.openings += usize::from(rules::dialogs::tells_of_one(self.machine.state(), &input));
        let frame = rules::kept::before(self, &input);
        let page = rules::heard::before(self, &input);
        let effects = self.take(&input);
        rules::resumed::holds(input.text(), &effects);
        rules::kept::holds(self, frame.as_ref());
        rules::heard::holds(self, page.as_ref());
    }

    /// The machine gets an input that must not mean anything to it.
    pub(crate) fn input_without_effect(&mut self, input: &Owned) {
        let version = self.machine.state().history;
        // At the very moment of the last input, so that no deadline comes in between.
        self.now = At(self.now.0.saturating_sub(STEP.as_micros() as u64));
        let effects = self.take(input);
        rules::epochs::holds(version, &effects, &self.machine);
    }

    /// Gives back what the machine asked for; it is carried out by then.
    pub(crate) fn take(&mut self, input: &Owned) -> Vec<Effect> {
        self.now = self.now.after(STEP);
        self.steps += 1;
        self.note(|| match input {
            Owned::Received(_, text) => format!("recv {text}"),
            other => format!("in   {other:?}"),
        });
        let step = self.step(input);
        for recorded in &step.events {
            self.note(|| format!("     {:?}", recorded.event));
        }
        self.events.extend(step.events);
        self.inputs.push((self.now, input.clone()));
        for effect in step.effects.iter().cloned() {
            self.carry_out(effect, input.text());
        }
        if self.witness.is_some() {
            rules::after_step(self);
        }
        self.dial_what_is_due();
        self.bury();
        step.effects
    }

    fn step(&mut self, input: &Owned) -> Step {
        if let Some(witness) = &mut self.witness {
            witness.before(self.now, input);
        }
        let step = self.machine.step(self.now, input.borrow());
        if let Some(witness) = &mut self.witness {
            witness.after(self.now, &step, &mut self.machine, self.events.len());
        }
        step
    }

    fn carry_out(&mut self, effect: Effect, text: &str) {
        match effect {
            Effect::Send { text, .. } => {
                rules::check("nothing is sent without a socket", self.wires.epoch.is_some(), || text.clone());
                self.wires.upload.push_back((self.now, text));
            }
            Effect::Dial { epoch } => {
                self.wires.dialling = Some((self.now.after(self.wires.dial_takes), epoch));
            }
            Effect::HangUp { epoch } => self.hang_up(epoch),
            Effect::Guard(effect) => guard::carry_out(self, effect),
            Effect::Reply { req, outcome, .. } => {
                self.note(|| format!("     {req:?} {outcome:?}"));
                self.requests.answered(req, &outcome, text, self.wires.is_forged);
            }
            Effect::Keep { call, .. } => self.requests.keep(call),
            Effect::Serve { call, req, .. } => {
                self.requests.let_go(call);
                self.requests.served(req);
            }
            Effect::Drop { call, .. } => self.requests.let_go(call),
            Effect::Ended => self.requests.all_answered(),
            _ => {}
        }
    }

    /// `false` when no dial is due.
    pub(crate) fn dial_what_is_due(&mut self) -> bool {
        let now = self.now;
        let due = |dialling: Option<(At, Epoch)>| dialling.filter(|(at, _)| *at <= now);
        if let Some((_, epoch)) = due(self.wires.dialling) {
            self.dialled(epoch);
        } else if let Some((_, epoch)) = due(self.wires.guard.dialling) {
            guard::dialled(self, epoch);
        } else {
            return false;
        }
        true
    }

    fn dialled(&mut self, epoch: Epoch) {
        self.wires.dialling = None;
        if self.is_refused() {
            return self.input(Owned::Net(refused(epoch)));
        }
        self.wires.opened(epoch);
        self.input(Owned::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    }

    /// Whether the dial that is decided now fails.
    pub(crate) fn is_refused(&mut self) -> bool {
        let fails = self.wires.dials_fail > 0;
        self.wires.dials_fail = self.wires.dials_fail.saturating_sub(1);
        fails
    }

    fn hang_up(&mut self, epoch: Epoch) {
        self.wires.dialling = self.wires.dialling.filter(|(_, dialled)| *dialled != epoch);
        if self.wires.epoch == Some(epoch) {
            self.wires.closed();
            self.browser.act(Action::DropSocket);
        }
    }

    /// The task is over and its host connects anew: another machine, whose ids go on.
    pub(crate) fn rebind(&mut self) {
        let (next_dialog, next_call, epoch) = self.machine.counters();
        let seed = self.machine.state().seed + 1;
        let mut beginning = Beginning { next_dialog, next_call, epoch, seed, ..Self::beginning() };
        beginning.options = self.machine.state().options.clone();
        self.machine = Machine::new(&beginning);
        self.witness = self.witness.take().map(|_| Witness::new(&beginning));
        self.wires.begin_anew();
        self.browser.act(Action::DropSocket);
        self.browser.drop_wire(Wire::Guard);
        (self.now, self.openings) = (At(0), 0);
        self.inputs.clear();
        self.events.clear();
        self.requests.begin_anew();
        self.ask(Command::Start);
    }
}

/// Nobody takes the call.
pub(crate) fn refused(epoch: Epoch) -> Net {
    Net::DialFailed { epoch, stage: Stage::Tcp, reason: "refused".to_owned(), http_status: None }
}
