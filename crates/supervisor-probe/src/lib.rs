//! Measures with real pages what a browser backend can do under the supervisor: are dialogs seen and answered, is the
//! frame tree whole, do calls reach frames of other sites, and what becomes of all that beside other clients.
//!
//! [`probe`] opens pages of its own, in a browser context of its own where it may, asks one thing after the other, and closes
//! all that it opened. The pages are on hosts that exist nowhere: the probe answers their requests itself
//! (`Fetch.fulfillRequest`), so that a browser far away needs no way to this machine.
//!
//! ```text
//!   supervisor task ──▶ guest ─┐
//!                              ├─▶ line ──▶ backend      one connection for both, so that the pages are
//!   hand (opens, serves) ──────┘                         there also where each connection is another browser
//! ```
//!
//! The task is a host's own, as the `supervisor` library starts it; what it cannot tell (a second client, a dialog from before
//! anybody came) is measured with bare CDP.

mod asking;
mod carrier;
mod check;
mod checks;
mod close;
mod error;
mod guest;
mod hand;
pub mod limits;
mod line;
mod notes;
mod pages;
mod report;
mod row;
mod run;
mod serve;
mod stage;

pub use error::ProbeError;
pub use report::{Backend, Matrix, Outcome, Report, Value, Verdict};
pub use row::Row;
pub use run::{Ended, Progress, Request, probe};
