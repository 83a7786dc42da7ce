//! A machine, its browser, the wires between them, and the book that is kept of all that happens.

use std::time::Duration;

use browser_model::{Acted, Action, Browser, Config, SourceId, Wire};
use supervisor_core::{At, Beginning, Command, Machine, Net, Recorded, Status};

use crate::draw::Draw;
use crate::fault;
use crate::guard;
use crate::host;
use crate::input::Owned;
use crate::op::{Op, Script};
use crate::requests::Requests;
use crate::step::STEP;
use crate::wires::{Way, Wires};
use crate::witness::Witness;

/// How a run begins.
#[derive(Debug, Clone)]
pub struct Setup {
    /// The browser.
    pub config: Config,
    /// The machine.
    pub beginning: Beginning,
    /// Decides the order of messages.
    pub seed: u64,
    /// Whether the run is recorded, and each step held against every rule.
    pub strict: bool,
    /// Whether a story is kept of what happens, for people to read.
    pub tells: bool,
    /// Whether the backend closes every native dialog itself, before anybody can answer it.
    pub snatches: bool,
}

/// Everything of one run.
pub struct World {
    /// The machine.
    pub machine: Machine,
    /// Its browser.
    pub browser: Browser,
    /// The time.
    pub now: At,
    /// The inputs of the machine with their times.
    pub inputs: Vec<(At, Owned)>,
    /// Its events.
    pub events: Vec<Recorded>,
    /// How many inputs all machines of this world got.
    pub steps: u64,
    /// Dialogs that the machine was told of, each as often as a session told it.
    pub openings: usize,
    /// The host's requests.
    pub requests: Requests,
    pub(crate) draw: Draw,
    pub(crate) wires: Wires,
    pub(crate) witness: Option<Witness>,
    /// What was sent in one step is read in one go.
    whole_writes: bool,
    snatches: bool,
    /// What happened, in lines, when somebody wants to read it.
    pub(crate) story: Option<std::cell::RefCell<Vec<String>>>,
}

impl World {
    /// A world without faults in which only what proptest looks at is kept.
    #[must_use]
    pub fn new(config: Config, seed: u64) -> Self {
        let beginning = Self::beginning();
        Self::begin(Setup { config, beginning, seed, strict: false, tells: false, snatches: false })
    }

    /// A world in which the host has just asked to connect.
    #[must_use]
    pub fn begin(setup: Setup) -> Self {
        let mut world = Self::still(setup);
        world.ask(Command::Start);
        world
    }

    /// A world in which nothing has happened.
    pub(crate) fn still(setup: Setup) -> Self {
        let Setup { config, beginning, seed, strict, tells, snatches } = setup;
        Self {
            machine: Machine::new(&beginning),
            browser: Browser::new(config),
            now: At(0),
            inputs: Vec::new(),
            events: Vec::new(),
            steps: 0,
            openings: 0,
            requests: Requests::default(),
            draw: Draw::new(seed),
            wires: Wires::default(),
            witness: strict.then(|| Witness::new(&beginning)),
            // Where a dead renderer fails what it was asked, a set-up that was cut in two would be half there.
            whole_writes: config.crash_fails_commands,
            snatches,
            story: tells.then(std::cell::RefCell::default),
        }
    }

    /// What the machine of [`World::new`] begins with.
    #[must_use]
    pub fn beginning() -> Beginning {
        Beginning { started_unix_us: 1_000_000_000_000_000, ..Beginning::default() }
    }

    /// A whole run, up to its last op; nothing is settled yet.
    #[must_use]
    pub fn run(script: &Script) -> Self {
        let mut world = Self::new(script.config, script.seed);
        script.ops.iter().for_each(|op| world.play(op));
        world
    }

    /// What the machine was told.
    #[must_use]
    pub fn into_inputs(self) -> Vec<(At, Owned)> {
        self.inputs
    }

    /// Whether the task has ended: a socket that is lost before the first handshake is a failed start.
    #[must_use]
    pub fn is_over(&self) -> bool {
        matches!(self.machine.state().connection.status, Status::Failed | Status::Stopped)
    }

    /// One thing happens.
    pub fn play(&mut self, op: &Op) {
        match op {
            Op::Act(action) => {
                self.act(*action);
            }
            Op::Deliver(count) => {
                for _ in 0..*count {
                    self.deliver_one();
                }
            }
            Op::Host(ask) => host::ask(self, *ask),
            Op::Wait(time) => self.wait(*time),
            Op::Idle(time) => self.settle_for(*time),
            Op::Fault(fault) => fault::strike(self, fault),
        }
    }

    /// Something happens in the browser.
    pub fn act(&mut self, action: Action) -> Acted {
        let acted = self.browser.act(action);
        self.note(|| format!("act  {action:?} {acted:?}"));
        self.snatch();
        if action == Action::DropSocket {
            self.lose_socket("the socket was reset");
        }
        acted
    }

    /// One message goes one way or the other. `false` when there is none.
    pub fn deliver_one(&mut self) -> bool {
        self.bury();
        let ways = self.wires.ready(self.browser.ready(), self.now);
        let Some(way) = ways.get(self.draw.below(ways.len())) else { return false };
        match way {
            Way::Down(source) => self.download(*source),
            Way::Up => self.upload_one(),
            Way::GuardUp => guard::upload_one(self),
        }
        true
    }

    /// A way on which something is ready; none when nothing is.
    pub(crate) fn nth_way(&self, nth: u8) -> Option<Way> {
        let ways = self.wires.ready(self.browser.ready(), self.now);
        ways.get(usize::from(nth) % ways.len().max(1)).copied()
    }

    fn download(&mut self, source: SourceId) {
        let Some(text) = self.browser.emit(source) else { return };
        if source.wire() == Wire::Guard {
            return guard::hear(self, text);
        }
        let Some(epoch) = self.wires.epoch else { return };
        if self.witness.is_some() {
            self.wires.remember(epoch, &text);
        }
        self.input(Owned::Received(epoch, text));
    }

    /// A message arrives that was not said so, or not so often.
    pub(crate) fn spoilt(&mut self, text: String) {
        if let Some(epoch) = self.wires.epoch {
            self.take(&Owned::Received(epoch, text));
        }
    }

    fn upload_one(&mut self) {
        let Some((written, text)) = self.wires.upload.pop_front() else { return };
        self.note(|| format!("read {text}"));
        self.browser.receive(&text);
        self.snatch();
        self.bury();
        if self.whole_writes && self.wires.upload.front().is_some_and(|(next, _)| *next == written) {
            self.upload_one();
        }
    }

    /// The backend closes what has opened.
    pub(crate) fn snatch(&mut self) {
        while self.snatches && self.browser.act(Action::CloseDialog { nth: 0, accept: false }) == Acted::Done
        {
        }
    }

    /// A browser that died is started again.
    pub(crate) fn bury(&mut self) {
        if self.browser.is_dead() {
            self.note(|| "the browser died".to_owned());
            self.browser.restart();
            self.lose_sockets();
        }
    }

    pub(crate) fn lose_sockets(&mut self) {
        self.lose_socket("the browser is gone");
        guard::lose(self, "the browser is gone");
    }

    pub(crate) fn lose_socket(&mut self, reason: &str) {
        self.deadlines_first();
        let epoch = self.wires.epoch;
        self.wires.closed();
        if let Some(epoch) = epoch {
            self.input(Owned::Net(Net::Lost { epoch, reason: reason.to_owned() }));
        }
    }

    /// What is due at this very moment was due while the socket was still there.
    pub(crate) fn deadlines_first(&mut self) {
        while self.machine.next_deadline().is_some_and(|due| due <= self.now.after(STEP)) {
            self.input(Owned::Tick);
        }
    }

    /// Nothing is on any wire any more.
    pub fn drain(&mut self) {
        while self.deliver_one() {}
    }

    /// Time passes, deadline by deadline; nothing is delivered meanwhile.
    pub fn wait(&mut self, time: Duration) {
        self.pass(time, |_| {});
    }

    /// Time passes and everything is delivered at once.
    pub fn settle_for(&mut self, time: Duration) {
        self.drain();
        self.pass(time, Self::drain);
    }

    fn pass(&mut self, time: Duration, mut then: impl FnMut(&mut Self)) {
        let end = self.now.after(time);
        while let Some(moment) = self.next_moment().filter(|moment| *moment <= end) {
            self.now = moment.max(self.now);
            if !self.dial_what_is_due() {
                self.input(Owned::Tick);
            }
            then(self);
        }
        self.now = end.max(self.now);
    }

    fn next_moment(&self) -> Option<At> {
        self.machine.next_deadline().into_iter().chain(self.wires.next_dial()).min()
    }

    /// Adds a line to the story.
    pub fn note(&self, line: impl FnOnce() -> String) {
        if let Some(story) = &self.story {
            story.borrow_mut().push(format!("{} {}", self.now.0, line()));
        }
    }

    /// What happened, line by line; empty unless the world tells.
    #[must_use]
    pub fn story(&self) -> String {
        self.story.as_ref().map(|story| story.borrow().join("\n")).unwrap_or_default()
    }
}
