//! The rules, played through the machine's one door: inputs in, events and effects out.
#![cfg(test)]

mod answers;
mod attach;
mod bounds;
mod bridge;
mod bridge_choice;
mod bridge_ends;
mod bridge_interception;
mod bridge_rig;
mod bridge_sandbox;
mod calls;
mod connection;
mod console;
mod dialog_faults;
mod dialogs;
mod doomed;
mod events;
mod floods;
mod frames;
mod guard;
mod guard_carries;
mod guard_ends;
mod guard_hands_over;
mod guard_rig;
mod identity;
mod objects;
mod observe;
mod rig;
mod scripts;
mod snapshot;
mod suspects;
mod tables;
