//! Finds, installs, starts and stops a Chromium, on Unix.
//!
//! ```no_run
//! # async fn example() -> Result<(), chromium_launcher::LauncherError> {
//! let browser = chromium_launcher::find()?;
//! let running = chromium_launcher::Launch::new(browser).start().await?;
//! println!("connect to {}", running.ws_url());
//! running.stop().await
//! # }
//! ```
//!
//! # What outlives what
//!
//! A started browser never outlives its [`Running`]: `stop` and `Drop` kill its whole process group and delete its
//! profile. It does not outlive this process either, even when that is killed: a small shell leads the group and
//! waits for the end of a pipe that only we hold open (module `guard`). Linux's parent-death signal is not used:
//! it needs unsafe code, and it fires when a *thread* ends.
//!
//! Not done: no CDP is spoken, nothing is downloaded but by the system's package manager, and no profile is kept.

mod endpoint;
mod error;
mod find;
mod group;
mod guard;
mod install;
mod launch;
mod os;
mod running;
mod stderr;
mod version;
mod wait;

pub use error::{LauncherError, Rejected};
pub use find::{Browser, find, find_all, find_named};
pub use install::{install, install_hint, may_install};
pub use launch::Launch;
pub use running::Running;
