//! The guard's connection: a second one to the same browser.

use browser_model::Wire;
use supervisor_core::{EndpointKind, Epoch, GuardEffect, Net};

use crate::input::Owned;
use crate::rules::check;
use crate::step::refused;
use crate::world::World;

pub(crate) fn carry_out(world: &mut World, effect: GuardEffect) {
    match effect {
        GuardEffect::Send { text } => {
            let is_open = world.wires.guard.epoch.is_some();
            check("the guard sends nothing without a socket", is_open, || text.clone());
            world.wires.guard.upload.push_back(text);
        }
        GuardEffect::Dial { epoch } => {
            world.wires.guard.dialling = Some((world.now.after(world.wires.dial_takes), epoch));
        }
        GuardEffect::HangUp { epoch } => hang_up(world, epoch),
    }
}

/// What waits to be written is written before the socket is closed.
fn hang_up(world: &mut World, epoch: Epoch) {
    let guard = &mut world.wires.guard;
    guard.dialling = guard.dialling.filter(|(_, dialled)| *dialled != epoch);
    if guard.epoch != Some(epoch) {
        return;
    }
    while !world.wires.guard.upload.is_empty() {
        upload_one(world);
    }
    world.wires.guard_closed();
    world.browser.drop_wire(Wire::Guard);
}

pub(crate) fn dialled(world: &mut World, epoch: Epoch) {
    world.wires.guard.dialling = None;
    if world.is_refused() {
        return world.input(Owned::GuardNet(refused(epoch)));
    }
    world.wires.guard.epoch = Some(epoch);
    world.input(Owned::GuardNet(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
}

/// The browser reads what the machine sent first.
pub(crate) fn upload_one(world: &mut World) {
    let Some(text) = world.wires.guard.upload.pop_front() else { return };
    world.note(|| format!("read by the guard's {text}"));
    world.browser.receive_on(Wire::Guard, &text);
    world.snatch();
    world.bury();
}

pub(crate) fn hear(world: &mut World, text: String) {
    if let Some(epoch) = world.wires.guard.epoch {
        world.input(Owned::GuardReceived(epoch, text));
    }
}

/// The socket breaks.
pub(crate) fn lose(world: &mut World, reason: &str) {
    world.deadlines_first();
    let epoch = world.wires.guard.epoch;
    world.wires.guard_closed();
    world.browser.drop_wire(Wire::Guard);
    if let Some(epoch) = epoch {
        world.input(Owned::GuardNet(Net::Lost { epoch, reason: reason.to_owned() }));
    }
}
