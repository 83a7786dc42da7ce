//! A machine, a browser with two clients of which it is both, and the wires between them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use supervisor_core::{
    Action, At, Beginning, Command, DialogChoice, DialogId, DialogPolicy, Effect, EndpointKind, Epoch,
    GuardEffect, GuardInput, Input, Machine, Net, Options, Outcome, Recorded, Req, Stage,
};

use crate::browser::{Browser, Cause, End, GUARD, MAIN, PAGES, Place};
use crate::script::{Op, Script};

pub(crate) struct World {
    pub(crate) machine: Machine,
    pub(crate) browser: Browser,
    now: At,
    seed: u64,
    /// What the machine sent and the browser has not read yet.
    up: [VecDeque<String>; 2],
    epochs: [Option<Epoch>; 2],
    refuses: bool,
    last_req: u64,
    pub(crate) events: Vec<Recorded>,
    /// Answers that were on their way when a connection was lost: the page, and what they were.
    pub(crate) lost_answers: BTreeSet<(usize, bool)>,
    /// The host's answers: for which dialog, and how that ended.
    pub(crate) asked: BTreeMap<Req, DialogId>,
    pub(crate) told: BTreeMap<Req, Vec<Outcome>>,
}

impl World {
    pub(crate) fn new(seed: u64) -> Self {
        let mut beginning = Beginning { started_unix_us: 1_000_000_000_000_000, ..Beginning::default() };
        beginning.options = options(DialogPolicy::MustRespond, true);
        let mut world = Self {
            machine: Machine::new(&beginning),
            browser: Browser::default(),
            now: At(0),
            seed,
            up: Default::default(),
            epochs: [None, None],
            refuses: false,
            last_req: 0,
            events: Vec::new(),
            lost_answers: BTreeSet::new(),
            asked: BTreeMap::new(),
            told: BTreeMap::new(),
        };
        world.host(Command::Start);
        world
    }

    pub(crate) fn run(script: &Script) -> Self {
        let mut world = Self::new(script.seed);
        script.ops.iter().for_each(|op| world.play(op));
        world
    }

    pub(crate) fn play(&mut self, op: &Op) {
        match op {
            Op::Ask { page, iframe } => {
                self.browser.ask(Place { page: usize::from(*page) % PAGES, is_iframe: *iframe });
            }
            Op::Other { nth, accept } => self.other(*nth, *accept),
            Op::Respond { nth, accept } => self.respond(*nth, *accept),
            Op::Deliver(count) => (0..*count).for_each(|_| {
                self.deliver_one();
            }),
            // What is on its way arrives first: a browser that says nothing for seconds is another story.
            Op::Wait(time) => {
                self.drain();
                self.pass(*time, Self::drain);
            }
            Op::LoseMain => self.lose(MAIN),
            Op::LoseGuard => self.lose(GUARD),
            Op::Refuse(refuses) => self.refuses = *refuses,
            Op::Policy(kind) => {
                let policies =
                    [DialogPolicy::MustRespond, DialogPolicy::AutoDismiss, DialogPolicy::AutoAccept];
                let policy = policies[usize::from(*kind) % policies.len()];
                self.configure(options(policy, self.machine.state().options.guard));
            }
            Op::Guard(on) => self.configure(options(self.machine.state().options.dialog_policy, *on)),
        }
    }

    fn configure(&mut self, options: Options) {
        self.host(Command::Configure { options: Box::new(options) });
    }

    fn other(&mut self, nth: u8, accepted: bool) {
        let open: Vec<usize> =
            self.browser.open.iter().filter(|it| it.answerable).map(|it| it.number).collect();
        if let Some(number) = open.get(usize::from(nth) % open.len().max(1)) {
            self.browser.close(*number, End { cause: Cause::Other, accepted });
        }
    }

    fn respond(&mut self, nth: u8, accept: bool) {
        let next = self.machine.state().dialogs.next.0;
        // Mostly one of the last: the others have ended long ago.
        let Some(id) = (next - 1).checked_sub(u64::from(nth % 3)).filter(|id| *id > 0) else { return };
        let choice = DialogChoice { dialog_id: Some(DialogId(id)), target_id: None };
        let action = if accept { Action::Accept { prompt_text: None } } else { Action::Dismiss };
        self.asked.insert(Req(self.last_req + 1), DialogId(id));
        self.host(Command::Respond { choice, action });
    }

    fn host(&mut self, command: Command) {
        self.last_req += 1;
        let req = Req(self.last_req);
        self.input(Input::Host { req, command });
    }

    /// One message goes one way on one of the wires. `false` when there is none.
    pub(crate) fn deliver_one(&mut self) -> bool {
        let ways: Vec<usize> = (0..4).filter(|way| self.has_any(*way)).collect();
        let Some(way) = ways.get(self.below(ways.len())) else { return false };
        let wire = way % 2;
        if *way < 2 {
            let text = self.browser.wires[wire].down.pop_front().expect("there is one");
            self.hear(wire, &text);
        } else {
            let text = self.up[wire].pop_front().expect("there is one");
            self.browser.receive(wire, &text);
        }
        true
    }

    fn has_any(&self, way: usize) -> bool {
        match way {
            0 | 1 => !self.browser.wires[way].down.is_empty(),
            _ => !self.up[way - 2].is_empty(),
        }
    }

    /// The seed 0 always takes the first way: that is what failures shrink to.
    fn below(&mut self, bound: usize) -> usize {
        if self.seed == 0 || bound < 2 {
            return 0;
        }
        self.seed =
            self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) | 1;
        usize::try_from(self.seed >> 33).unwrap_or(0) % bound
    }

    fn hear(&mut self, wire: usize, text: &str) {
        match self.epochs[wire] {
            Some(epoch) if wire == MAIN => self.input(Input::Received { epoch, text }),
            Some(epoch) => self.input(Input::Guard(GuardInput::Received { epoch, text })),
            None => {}
        }
    }

    pub(crate) fn drain(&mut self) {
        while self.deliver_one() {}
    }

    /// A connection breaks.
    fn lose(&mut self, wire: usize) {
        // What becomes of an answer that is on its way now, nobody here will hear.
        for open in self.machine.state().dialogs.open.values() {
            let page = open.opening.page.as_str().trim_start_matches('P').parse().expect("a page");
            self.lost_answers.extend(open.answer().map(|answer| (page, answer.accept)));
        }
        for stray in &self.machine.state().dialogs.strays {
            let page = stray.page.as_str().trim_start_matches('P').parse().expect("a page");
            self.lost_answers.insert((page, stray.answer.accept));
        }
        self.hang_up(wire);
        let reason = "the socket was reset".to_owned();
        if let Some(epoch) = self.epochs[wire].take() {
            self.net(wire, Net::Lost { epoch, reason });
        }
    }

    fn hang_up(&mut self, wire: usize) {
        self.up[wire].clear();
        self.browser.drop_wire(wire);
    }

    fn net(&mut self, wire: usize, net: Net) {
        match wire {
            MAIN => self.input(Input::Net(net)),
            _ => self.input(Input::Guard(GuardInput::Net(net))),
        }
    }

    fn dial(&mut self, wire: usize, epoch: Epoch) {
        if wire == MAIN && self.refuses {
            let (stage, reason) = (Stage::Tcp, "refused".to_owned());
            return self.net(wire, Net::DialFailed { epoch, stage, reason, http_status: None });
        }
        self.browser.connect(wire);
        self.epochs[wire] = Some(epoch);
        self.net(wire, Net::Connected { epoch, endpoint: EndpointKind::Browser });
    }

    fn input(&mut self, input: Input<'_>) {
        self.now = At(self.now.0 + 1);
        let step = self.machine.step(self.now, input);
        self.events.extend(step.events);
        for effect in step.effects {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send { text, .. } => self.up[MAIN].push_back(text),
            Effect::Guard(GuardEffect::Send { text }) => self.up[GUARD].push_back(text),
            Effect::Dial { epoch } => self.dial(MAIN, epoch),
            Effect::Guard(GuardEffect::Dial { epoch }) => self.dial(GUARD, epoch),
            Effect::HangUp { .. } => self.flush_and_hang_up(MAIN),
            Effect::Guard(GuardEffect::HangUp { .. }) => self.flush_and_hang_up(GUARD),
            Effect::Reply { req, outcome, .. } => self.told.entry(req).or_default().push(outcome),
            _ => {}
        }
    }

    /// What waits to be written is written before a socket is closed.
    fn flush_and_hang_up(&mut self, wire: usize) {
        while let Some(text) = self.up[wire].pop_front() {
            self.browser.receive(wire, &text);
        }
        self.epochs[wire] = None;
        self.hang_up(wire);
    }

    /// Time passes, deadline by deadline.
    pub(crate) fn pass(&mut self, time: Duration, mut then: impl FnMut(&mut Self)) {
        let end = self.now.after(time);
        while let Some(due) = self.machine.next_deadline().filter(|due| *due <= end) {
            self.now = due.max(self.now);
            self.input(Input::Tick);
            then(self);
        }
        self.now = end.max(self.now);
    }

    /// Everything is delivered, people close what is open, and what nobody can answer goes with its page.
    pub(crate) fn settle(&mut self) {
        const QUIET: Duration = Duration::from_secs(40);
        self.refuses = false;
        self.drain();
        self.pass(QUIET, Self::drain);
        while let Some(dialog) = self.browser.open.first().cloned() {
            let cause = if dialog.answerable { Cause::Other } else { Cause::Left };
            self.browser.close(dialog.number, End { cause, accepted: false });
            self.drain();
        }
        self.pass(QUIET, Self::drain);
    }
}

fn options(policy: DialogPolicy, guard: bool) -> Options {
    let mut options = Options::default();
    options.dialog_policy = policy;
    options.dialog_timeout = Duration::from_secs(2);
    options.guard = guard;
    options
}
