//! Waiting for a condition that the operating system does not announce.

use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a condition is looked at: soon enough not to be felt, rare enough to cost nothing.
pub(crate) const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Blocks until `done()` or until `limit` has passed; tells whether it was done.
pub(crate) fn until(limit: Duration, mut done: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + limit;
    loop {
        if done() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        sleep(LOOK_AGAIN);
    }
}
