//! One input of the machine: recorded, handled, carried out, and held against the rules.

use std::time::Duration;

use browser_model::Action;
use supervisor_core::{At, Beginning, Command, Effect, EndpointKind, Epoch, Machine, Net, Req, Stage, Step};

use crate::input::Owned;
use crate::rules;
use crate::witness::Witness;
use crate::world::World;

/// Between two inputs, so that each has a time of its own.
const STEP: Duration = Duration::from_micros(1);

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
        let effects = self.take(&input);
        rules::resumed::holds(input.text(), &effects);
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
        if let Some((_, epoch)) = self.wires.dialling.filter(|(at, _)| *at <= self.now) {
            self.dialled(epoch);
        }
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

    pub(crate) fn dialled(&mut self, epoch: Epoch) {
        self.wires.dialling = None;
        if self.wires.dials_fail > 0 {
            self.wires.dials_fail -= 1;
            let reason = "refused".to_owned();
            return self.input(Owned::Net(Net::DialFailed {
                epoch,
                stage: Stage::Tcp,
                reason,
                http_status: None,
            }));
        }
        self.wires.opened(epoch);
        self.input(Owned::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
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
        (self.now, self.openings) = (At(0), 0);
        self.inputs.clear();
        self.events.clear();
        self.requests.begin_anew();
        self.ask(Command::Start);
    }
}
