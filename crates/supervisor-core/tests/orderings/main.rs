//! Properties of the machine, with the browser model as its browser and every order that a real one could produce.
#![cfg(test)]

mod bytes;
mod check;
mod draw;
mod interleaving;
mod properties;
mod residue;
mod script;
mod shares;
mod world;
