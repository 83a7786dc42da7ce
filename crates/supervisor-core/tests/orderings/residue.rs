//! Nothing is left behind.

use std::time::Duration;

use browser_model::{Action, Config, Place};
use supervisor_core::Machine;

use crate::properties::settle;
use crate::script::{LENGTH, cases, scripts};
use crate::shares::Property;
use crate::world::World;

fn assert_nothing_left(machine: &Machine) {
    let state = machine.state();
    assert!(state.pages.is_empty(), "pages: {:?}", state.pages);
    assert!(state.frames.is_empty(), "frames: {:?}", state.frames);
    assert!(state.sessions.is_empty(), "sessions: {:?}", state.sessions);
    assert!(state.flights.is_empty(), "in flight: {:?}", state.flights);
    assert!(state.dialogs.open.is_empty() && state.dialogs.strays.is_empty(), "dialogs: {:?}", state.dialogs);
    assert!(state.calls.open.is_empty() && state.calls.by_req.is_empty(), "calls: {:?}", state.calls);
}

/// When all pages have closed, all that hung on them is gone.
#[test]
fn closed_pages_leave_nothing() {
    let config = cases(128, "tests/orderings/regressions/residue.txt");
    Property::new("closed_pages_leave_nothing", config).holds(&scripts(LENGTH), |script| {
        let mut world = World::run(&script);
        settle(&mut world);
        while world.browser.act(Action::ClosePage { page: 0 }) == browser_model::Acted::Done {}
        world.settle_for(Duration::from_secs(3));
        if !world.is_over() {
            assert_nothing_left(&world.machine);
        }
        Some(world.browser.tally())
    });
}

/// 10,000 frames come, go to other processes and go.
#[test]
fn ten_thousand_frames_leave_nothing() {
    let mut world = World::new(Config::default(), 7);
    world.drain();
    world.act(Action::NavigatePage { page: 0, to: Place::Site(0), cache: false });
    world.drain();
    for round in 0..10_000_u32 {
        world.act(Action::AddFrame { parent: 0, to: Place::Site(u8::try_from(round % 4).unwrap_or(0)) });
        world.drain();
        world.act(Action::Navigate {
            frame: 1,
            to: Place::Site(u8::try_from(round % 3).unwrap_or(0)),
            slow: false,
        });
        world.drain();
        world.act(Action::RemoveFrame { frame: 0 });
        world.drain();
        world.inputs.clear();
        world.events.clear();
    }
    assert_eq!(world.machine.state().frames.len(), 1);
    assert_eq!(world.machine.state().sessions.len(), 1);
    world.act(Action::ClosePage { page: 0 });
    world.settle_for(Duration::from_secs(3));
    assert_nothing_left(&world.machine);
    let tally = world.browser.tally();
    assert!(tally.swaps > 9_000 && tally.homecomings > 2_000, "{tally:?}");
}
