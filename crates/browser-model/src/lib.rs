//! A fake browser that speaks CDP, for tests, simulation and benchmarks.
//!
//! It has what makes a real one hard to follow: a renderer process per site, frames that move between them, flat
//! sessions that come and go, dialogs that block a whole process, popups that wait to be resumed. It is pure: whatever
//! a real browser decides by chance, its caller chooses.
//!
//! * [`Browser::act`] makes something happen in it: a frame is added, a page navigates, a renderer dies.
//! * [`Browser::receive`] takes a command of the client and carries it out.
//! * Both leave messages in the queues of their [sources](SourceId). Within a source the order is fixed; between
//!   sources it is chance. [`Browser::ready`] names the sources that may speak next, [`Browser::emit`] lets one speak:
//!   by choosing, the caller reaches every order that a real browser could produce.
//! * [`Browser::truth`] is what is really there, to compare with what a client believes.
//!
//! ```text
//!   act ──▶ pages · frames · processes ──▶ queue "browser process" ──┐
//!                      ▲                   queue per session's pipe ─┴─▶ emit ──▶ client
//!   receive ───────────┘                                                            │
//!      ▲────────────────────────────────────────────────────────────────────────────┘
//! ```

mod action;
mod attach;
mod bfcache;
mod bridge;
mod browser;
mod client;
mod command;
mod commit;
mod config;
mod crash;
mod dialog;
mod document;
mod evaluate;
mod frame;
mod ids;
mod json;
mod menu;
mod navigate;
mod page;
mod popup;
mod process;
mod queue;
mod remove;
mod renderer;
mod session;
pub mod shape;
mod tally;
mod truth;

pub use action::{Acted, Action, Place};
pub use browser::Browser;
pub use client::Client;
pub use config::Config;
pub use evaluate::NEVER;
pub use ids::{SessionNo, Wire};
pub use menu::{Entry, menu};
pub use queue::SourceId;
pub use tally::Tally;
pub use truth::{DialogTruth, FrameTruth, PageTruth, Truth};
