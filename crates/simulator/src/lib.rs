//! Simulated runs: the real machine, a fake browser, a clock that is only a number, and everything that can go wrong.
//!
//! ```text
//!   seed ──▶ Plan ──▶ Op Op Op … ──▶ World ─┬─ browser-model: acts, speaks in any order, is asked
//!                                           ├─ Machine::step(at, input): the code that is tested
//!                                           ├─ wires: held up, lost, doubled, cut, dialled again
//!                                           └─ rules: looked at after every step
//! ```
//!
//! * [`World`] is one run, driven by its caller, [`Op`] by [`Op`]. Property tests drive it with what proptest draws.
//! * [`simulate`] drives it from a seed. What it finds is a [`Failure`]: the seed, the rule that was broken, the [`Op`]s
//!   and a recording; [`Failure::shrunk`] makes it small.
//! * [`audit`] holds a recording, of whichever run, against the rules.
//! * [`targets`] are what is fuzzed.
//! * [`rules`] are what must hold: at every moment, and when all is settled.
//!
//! A broken rule is a panic whose message begins with the rule. The crate is pure: the same seed is the same run.

mod audit;
mod draw;
mod fault;
mod guard;
mod host;
mod input;
mod op;
mod plan;
mod requests;
pub mod rules;
mod settle;
mod shrink;
mod simulate;
mod step;
pub mod targets;
mod wires;
mod witness;
mod world;

pub use audit::audit;
pub use draw::Draw;
pub use fault::Fault;
pub use host::Ask;
pub use input::Owned;
pub use op::{Op, Script};
pub use plan::Plan;
pub use settle::{QUIET, settle};
pub use shrink::Shrunk;
pub use simulate::{Failure, Report, play, simulate};
pub use world::{Setup, World};
