//! The actor tree against scripted peers over real sockets.

#![cfg(test)]

mod calls;
mod crew;
mod dialling;
mod guard;
mod killed;
mod life;
mod many;
mod networks;
mod peer;
mod recording;
mod refused;
