//! What holds of every run.

use std::time::Duration;

use browser_model::{Action, Config, Place, Tally};
use proptest::prelude::*;
use supervisor_core::call::{Call, CallStage};
use supervisor_core::{Action as Answer, Checkpoint, Command, DialogChoice, DialogId, Machine};

use crate::check::{assert_answered_once, assert_dialogs_add_up, assert_sound, assert_true};
use crate::script::{Ask, LENGTH, Op, cases, scripts};
use crate::shares::Property;
use crate::world::World;

/// Longer than every deadline of the machine but those of calls and of late results.
const QUIET: Duration = Duration::from_secs(12);

/// Longer than a call may take.
const CALLS: Duration = Duration::from_secs(70);

/// Nothing is under way any more: navigations have come, dialogs are closed, everything was delivered.
pub(crate) fn settle(world: &mut World) {
    world.drain();
    world.browser.finish_all();
    world.settle_for(QUIET);
    free_pages(world);
    world.browser.finish_all();
    world.settle_for(QUIET);
}

/// People close what is open. What nobody can answer goes with its document.
fn free_pages(world: &mut World) {
    for _ in 0..100 {
        if let Some(id) = bridged(world) {
            let choice = DialogChoice { dialog_id: Some(id), target_id: None };
            world.ask(Command::Respond { choice, action: Answer::Dismiss });
            world.drain();
            continue;
        }
        let truth = world.browser.truth();
        let Some(dialog) = truth.dialogs.first() else { return };
        if truth.dialogs.iter().any(|dialog| dialog.answerable) {
            world.act(Action::CloseDialog { nth: 0, accept: false });
        } else {
            world.browser.leave_page(&dialog.page.clone());
        }
        world.drain();
    }
}

/// A dialog of the bridge: only the host can answer it, and its document waits for that.
fn bridged(world: &World) -> Option<DialogId> {
    let mut open = world.machine.state().dialogs.open.iter();
    open.find(|(_, open)| open.opening.paused.is_some() && open.answer().is_none()).map(|(id, _)| *id)
}

fn assert_no_deaths<'o>(config: Config, seed: u64, ops: impl IntoIterator<Item = &'o Op>) -> Tally {
    let mut world = World::new(config, seed);
    for op in ops {
        world.drain();
        world.play(op);
    }
    settle(&mut world);
    let tally = world.browser.tally();
    assert_eq!(tally.deaths, 0);
    tally
}

/// What makes a page deadly outlives the connection that saw it: an iframe that was removed with its dialog open before the
/// connection was lost, or after, and two dialogs that overlapped.
#[test]
fn no_page_is_touched_that_was_deadly_before_the_connection_was_lost() {
    let [remove, drop] = [Action::RemoveFrame { frame: 0 }, Action::DropSocket].map(Op::Act);
    let frame = |to| Op::Act(Action::AddFrame { parent: 0, to });
    let alert = |frame| Op::Host(Ask::Eval { frame, kind: 3 });
    let (navigate, close) = (Ask::Call { frame: 0, kind: 2 }, Ask::Call { frame: 0, kind: 6 });
    let again = Op::Wait(Duration::from_millis(800));
    let removed = [frame(Place::Sandboxed), alert(1), remove.clone(), drop.clone(), again.clone()];
    let removed_after = [frame(Place::Sandboxed), alert(1), drop.clone(), again.clone(), remove.clone()];
    let removed_between = [frame(Place::Sandboxed), alert(1), drop.clone(), remove, again.clone()];
    let overlapped = [frame(Place::Sandboxed), frame(Place::Sandboxed), alert(1), alert(2), drop, again];
    let stories: [&[Op]; 4] = [&removed, &removed_after, &removed_between, &overlapped];
    for (story, ask) in stories.into_iter().zip([navigate, navigate, navigate, close]) {
        assert_no_deaths(Config::default(), 0, story.iter().chain([&Op::Host(ask)]));
    }
}

/// The machine, written down and read again.
fn resumed(machine: &Machine) -> Machine {
    let written = serde_json::to_string(&machine.checkpoint()).unwrap();
    let read: Checkpoint = serde_json::from_str(&written).unwrap();
    assert!(machine.is_at(&read));
    Machine::resume(read)
}

/// As many cases as proptest has by itself.
fn usual() -> ProptestConfig {
    cases(256, "tests/orderings/regressions/properties.txt")
}

/// Nothing panics and every moment is sound.
#[test]
fn every_moment_is_sound() {
    Property::new("every_moment_is_sound", usual()).holds(&scripts(LENGTH), |script| {
        let mut world = World::new(script.config, script.seed);
        for op in &script.ops {
            world.play(op);
            assert_sound(&world);
        }
        settle(&mut world);
        assert_sound(&world);
        assert_dialogs_add_up(&world);
        Some(world.browser.tally())
    });
}

/// When all is settled, the machine believes what is true.
#[test]
fn what_is_believed_is_true() {
    Property::new("what_is_believed_is_true", usual()).holds(&scripts(LENGTH), |script| {
        let mut world = World::run(&script);
        settle(&mut world);
        assert_true(&world);
        Some(world.browser.tally())
    });
}

/// A machine that has heard all that there was to hear kills no browser, whatever a host or a policy asks. Of a frame
/// whose session was taken away it hears nothing.
#[test]
fn nothing_kills_the_browser() {
    // Here a target is resumed before anything else happens.
    let property = Property::new("nothing_kills_the_browser", usual()).without("removals during attach");
    property.holds(&scripts(LENGTH), |script| {
        let config = Config { dialog_frame_ids: true, ..script.config };
        let ops = script.ops.iter().filter(|op| !matches!(op, Op::Act(Action::Detach { .. })));
        Some(assert_no_deaths(config, script.seed, ops))
    });
}

/// Each request of a host ends, once.
#[test]
fn each_request_is_answered_once() {
    Property::new("each_request_is_answered_once", usual()).holds(&scripts(LENGTH), |script| {
        let mut world = World::run(&script);
        settle(&mut world);
        world.settle_for(CALLS);
        assert_answered_once(&world);
        // Where the browser names no frame, nobody can tell that a dialog's was removed before the dialog was heard of.
        let names_frames = script.config.dialog_frame_ids;
        let is_held = |call: &Call| !names_frames && matches!(call.stage, CallStage::Interrupted(..));
        assert!(world.machine.state().calls.open.values().all(is_held));
        assert!(world.machine.state().calls.waiters.is_empty());
        Some(world.browser.tally())
    });
}

/// The same inputs give the same events and the same snapshot, and the state is the fold of the events.
#[test]
fn a_run_can_be_repeated() {
    Property::new("a_run_can_be_repeated", usual()).holds(&scripts(LENGTH), |script| {
        let mut world = World::run(&script);
        settle(&mut world);
        assert_repeats(&mut world);
        Some(world.browser.tally())
    });
}

fn assert_repeats(world: &mut World) {
    let mut again = Machine::new(&World::beginning());
    let mut folded = again.state().clone();
    let mut events = Vec::new();
    for (at, input) in &world.inputs {
        events.extend(again.step(*at, input.borrow()).events);
    }
    assert_eq!(&events, &world.events);
    assert_eq!(again.snapshot(), world.machine.snapshot());
    assert_eq!(again.state(), world.machine.state());
    for recorded in &events {
        folded.apply(recorded);
    }
    assert!(&folded == world.machine.state(), "the state is not the fold of the events");
}

/// A machine that is written down and read again goes on as if nothing had happened.
#[test]
fn a_checkpoint_has_all_that_counts() {
    let strategy = (scripts(LENGTH), 1..20_usize);
    Property::new("a_checkpoint_has_all_that_counts", usual()).holds(&strategy, |(script, every)| {
        let mut world = World::run(&script);
        settle(&mut world);
        assert_goes_on(&world, every);
        Some(world.browser.tally())
    });
}

fn assert_goes_on(world: &World, every: usize) {
    let mut whole = Machine::new(&World::beginning());
    let mut parts = Machine::new(&World::beginning());
    for (number, (at, input)) in world.inputs.iter().enumerate() {
        if number % every == 0 {
            parts = resumed(&parts);
        }
        assert_eq!(parts.step(*at, input.borrow()), whole.step(*at, input.borrow()));
        assert_eq!(parts.next_deadline(), whole.next_deadline());
        assert_eq!(parts.snapshot(), whole.snapshot());
    }
    assert!(parts.is_at(&whole.checkpoint()));
}
