use std::path::PathBuf;

use thiserror::Error;

use crate::port::RunId;

/// Why the journal could not be used. The task it belongs to goes on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The folder cannot be used.
    #[error(
        "the journal folder {path} cannot be used ({source}); give another path, or switch the journal off"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Another process has the journal open.
    #[error(
        "the journal {0} is in use by another process; give each process a folder of its own, or wait until it ends"
    )]
    InUse(PathBuf),
    /// The store failed.
    #[error("the journal's store failed: {0}; it is set aside at the next start")]
    Store(String),
    /// There is no such run.
    #[error("there is no run {0} in the journal; list the runs to see which there are")]
    NoRun(RunId),
}

impl From<sled::Error> for JournalError {
    fn from(error: sled::Error) -> Self {
        JournalError::Store(error.to_string())
    }
}
