//! Randomness for the machine's seed: the only place that has any.

use std::hash::{BuildHasher, RandomState};

/// A seed that differs from task to task. The standard library seeds its maps from the system's randomness.
pub(crate) fn fresh() -> u64 {
    RandomState::new().hash_one(std::process::id())
}
