//! The end of an iframe's session is no proof that the iframe is gone: it may have moved to another process.
//!
//! When all is settled a frame that was taken for gone is back, with the next thing that is said of it. But whoever asked
//! for it meanwhile was told that it is not there, and what ran in it ended for the wrong reason.

use serde_json::Value;
use supervisor_core::FrameId;

use crate::input::Owned;
use crate::rules::check;
use crate::world::World;

/// The iframe whose session a message ends, where the machine believes in it.
pub(crate) fn before(world: &World, input: &Owned) -> Option<FrameId> {
    let is_honest = world.witness.is_some() && !world.wires.is_tainted;
    let is_end = is_honest && input.text().contains("\"Target.detachedFromTarget\"");
    let message: Value = serde_json::from_str(input.text()).ok().filter(|_| is_end)?;
    let frame = FrameId::from(message["params"]["targetId"].as_str()?);
    world.machine.state().frames.get(&frame).map(|_| frame)
}

/// It is still believed in, if it is still there.
pub(crate) fn holds(world: &World, frame: Option<&FrameId>) {
    let Some(frame) = frame.filter(|frame| world.machine.state().frames.get(frame).is_none()) else { return };
    let is_there = world.browser.truth().frames.contains_key(frame);
    check("a frame outlives its session", !is_there, || frame.to_string());
}
