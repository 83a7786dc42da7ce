//! A whole run out of a seed.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use browser_model::{Action, Tally};
use supervisor_core::Command;
use supervisor_transcript::{Reader, Writer};

use crate::draw::Draw;
use crate::host::Ask;
use crate::op::Op;
use crate::plan::Plan;
use crate::rules;
use crate::settle::settle;
use crate::world::World;

/// Longer than a reconnect waits at most.
const RECONNECTED: Duration = Duration::from_secs(30);

/// Longer than a call may take here.
const CALLS: Duration = Duration::from_secs(70);

/// What a run met.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The seed.
    pub seed: u64,
    /// Inputs that the machine got.
    pub steps: u64,
    /// Ops that led to them.
    pub ops: usize,
    /// Requests of the host that were answered.
    pub answered: u64,
    /// What happened in the browser.
    pub tally: Tally,
    /// The epoch of the last connection.
    pub connections: u32,
    /// The epoch of the guard's last connection.
    pub guards: u32,
}

/// A rule that was broken.
#[derive(Debug, Clone)]
pub struct Failure {
    /// What kind of run.
    pub plan: Plan,
    /// What was found, with the rule before the first colon.
    pub message: String,
    /// How many inputs the machine had got.
    pub steps: u64,
    /// What led to it.
    pub ops: Vec<Op>,
    /// The recording of the machine that broke it. Its header says why it was made.
    pub recording: Vec<u8>,
    /// What happened, for people to read; empty unless asked for.
    pub story: String,
}

impl Failure {
    /// The rule.
    #[must_use]
    pub fn rule(&self) -> &str {
        self.message.split(": ").next().unwrap_or_default()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plan, message, steps, ops, .. } = self;
        write!(f, "seed {}, after {steps} steps ({} ops): {message}", plan.seed, ops.len())
    }
}

/// Runs a seed for so many steps, then until all is settled.
///
/// # Errors
/// The first rule that was broken.
pub fn simulate(seed: u64, steps: u64) -> Result<Report, Box<Failure>> {
    let plan = Plan::of(seed);
    let mut draw = Draw::of_seed(seed ^ 2);
    run(&plan, false, |world| (world.steps < steps).then(|| plan.next(&mut draw, world)))
}

/// Plays a run again, or a part of it. `tells`: a failure brings its story.
///
/// # Errors
/// The first rule that was broken.
pub fn play(plan: &Plan, ops: &[Op], tells: bool) -> Result<Report, Box<Failure>> {
    let mut ops = ops.iter();
    run(plan, tells, |_| ops.next().cloned())
}

fn run(plan: &Plan, tells: bool, mut next: impl FnMut(&World) -> Option<Op>) -> Result<Report, Box<Failure>> {
    let mut world = World::still(plan.setup(tells));
    let mut ops = Vec::new();
    let ran = catch_unwind(AssertUnwindSafe(|| {
        world.ask(Command::Start);
        while let Some(op) = next(&world) {
            ops.push(op.clone());
            world.note(|| format!("op   {op:?}"));
            world.play(&op);
            if world.is_over() {
                conclude(&mut world);
            }
        }
        finish(&mut world);
    }));
    match ran {
        Ok(()) => Ok(report(plan, &world, ops.len())),
        Err(panic) => Err(Box::new(failure(plan, &world, ops, message_of(&*panic)))),
    }
}

/// The task is over: nothing revives it, and the host begins anew.
fn conclude(world: &mut World) {
    world.play(&Op::Host(Ask::Eval { frame: 0, kind: 0 }));
    world.ask(Command::Start);
    world.requests.all_answered();
    rules::replayed::holds(world);
    world.rebind();
}

fn finish(world: &mut World) {
    world.wires.release_all();
    (world.wires.dials_fail, world.wires.dial_takes) = (0, Duration::ZERO);
    if world.wires.is_tainted {
        world.act(Action::DropSocket);
    }
    world.settle_for(RECONNECTED);
    settle(world);
    rules::truth::holds(&world.machine, &world.browser.truth());
    rules::dialogs::nobody_waits(world);
    rules::dialogs::no_ghosts(world);
    if !world.wires.was_tainted {
        rules::dialogs::add_up(world);
    }
    world.settle_for(CALLS);
    world.requests.all_answered();
    rules::residue::none_when_all_pages_close(world);
    rules::replayed::holds(world);
}

fn report(plan: &Plan, world: &World, ops: usize) -> Report {
    Report {
        seed: plan.seed,
        steps: world.steps,
        ops,
        answered: world.requests.answered_so_far(),
        tally: world.browser.tally(),
        connections: world.machine.state().connection.epoch.0,
        guards: world.machine.state().guard.epoch.0,
    }
}

fn failure(plan: &Plan, world: &World, ops: Vec<Op>, message: String) -> Failure {
    let recording = world.witness.as_ref().map(|witness| witness.recording.as_slice()).unwrap_or_default();
    let why = format!("The simulator's seed {}: {message}", plan.seed);
    Failure {
        plan: plan.clone(),
        steps: world.steps,
        ops,
        recording: with_why(recording, why),
        story: world.story(),
        message,
    }
}

/// The recording with the reason in its header.
fn with_why(recording: &[u8], why: String) -> Vec<u8> {
    let Ok(reader) = Reader::new(recording) else { return recording.to_vec() };
    let mut header = reader.header().clone();
    header.why = Some(why);
    let mut text = Vec::with_capacity(recording.len());
    let mut writer = Writer::begin(&header, &mut text);
    reader.map_while(Result::ok).for_each(|numbered| writer.line(&numbered.line, &mut text));
    text
}

pub(crate) fn message_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    // A rule names itself; anything else is the machine's own panic.
    if text.contains(": ") { text.to_owned() } else { format!("no input is fatal: {text}") }
}
