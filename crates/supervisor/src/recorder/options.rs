//! How a task is recorded.

use std::path::PathBuf;

use crate::limits::RECORDING_MAX;

/// Where a task is recorded, and how.
///
/// A recording holds page texts, typed answers and results of calls. It never holds the values of cookies, `Authorization`
/// headers or the secrets of the endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Recording {
    /// A file that does not exist yet, or a folder that does: in a folder each binding makes a file of its own, and what
    /// earlier ones left there is bounded by `max_bytes` too.
    pub path: PathBuf,
    /// How large the recording may become, all parts together. When it is larger, the oldest part is dropped.
    pub max_bytes: u64,
    /// Whether page texts and typed answers are replaced before they are written.
    pub redact: bool,
    /// Whether a recording that is there already may be replaced.
    pub overwrite: bool,
    /// Why it is made: what it must keep showing. Written into its header as it is.
    pub why: Option<String>,
    /// The program that records. Written into its header as it is.
    pub recorded_with: Option<String>,
}

impl Recording {
    /// A recording to this file, or into this folder.
    #[must_use]
    pub fn to(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            max_bytes: RECORDING_MAX,
            redact: false,
            overwrite: false,
            why: None,
            recorded_with: None,
        }
    }
}

impl<P: Into<PathBuf>> From<P> for Recording {
    fn from(path: P) -> Self {
        Self::to(path)
    }
}
