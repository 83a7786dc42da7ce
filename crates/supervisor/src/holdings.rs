//! How much a task holds, in the core and around it.

use serde::{Deserialize, Serialize};

/// How much a task holds at one moment, for whoever watches that a long life does not grow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holdings {
    /// Records of the core.
    #[serde(flatten)]
    pub records: supervisor_core::Holdings,
    /// Callers whose request no session's actor has taken over.
    pub callers: usize,
    /// Session actors: one for each session that was called and is still attached, or still keeps a late result.
    pub session_actors: usize,
}
