//! What is wrong with the settings.

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use super::source::Source;

/// Why the settings cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SettingsError {
    /// The file cannot be read.
    #[error("cannot read the settings in {}\n  why: {source}\n  next: look at the path and its permissions, or name another file by --config", .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Keys or values that cannot be meant so: all that were found.
    #[error("the settings cannot be used{}\n  next: `cdp-supervisor config --schema` says what is accepted; --config names another file (/dev/null for none)", listed(.0))]
    Wrong(Vec<Problem>),
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    /// Where it was given.
    pub(crate) source: Source,
    /// Which key, as it was written; empty when it is about the whole file.
    pub(crate) key: String,
    /// What was expected, and what was there; without secrets.
    pub(crate) why: String,
}

fn listed(problems: &[Problem]) -> String {
    let mut text = String::new();
    for Problem { source, key, why } in problems {
        let colon = if key.is_empty() { "" } else { ": " };
        let _ = write!(text, "\n  {source}: {key}{colon}{why}");
    }
    text
}
