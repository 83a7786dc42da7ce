//! What several integration tests share: a stage with a real Chromium, local pages, and a supervised task.

// A test that cannot set up its stage can only fail, and at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::missing_panics_doc)]

mod frames;
mod stage;
mod talk;

pub use stage::{Stage, browser, patience};
pub use talk::{accept, accept_with, dismiss};
