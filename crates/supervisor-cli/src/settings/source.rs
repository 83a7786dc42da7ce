//! Where a value comes from.

use std::fmt;
use std::path::PathBuf;

use serde::Serialize;

/// The layer of a value, and its place there. Later layers win over earlier ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "from", rename_all = "snake_case")]
pub(crate) enum Source {
    /// Nobody gave one.
    Default,
    /// The file with the settings.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<u64>,
    },
    /// A variable.
    Environment {
        /// Its name.
        name: String,
    },
    /// The command line.
    Flag {
        /// The flag as it is written.
        name: String,
    },
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Source::Default => f.write_str("default"),
            Source::File { path, line: Some(line) } => write!(f, "{}:{line}", path.display()),
            Source::File { path, line: None } => path.display().fmt(f),
            Source::Environment { name } => write!(f, "${name}"),
            Source::Flag { name } => f.write_str(name),
        }
    }
}
