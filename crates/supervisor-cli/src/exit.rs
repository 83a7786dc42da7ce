//! How the command ends.

use std::process::ExitCode;

use crate::signals::Signal;

/// The exit codes; `--help` explains them. Clap uses 2 for a wrong command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Refused or failed.
    Failed,
    /// The command line or the settings are wrong.
    Usage,
    /// There is no browser to work with.
    NoBrowser,
    /// There is no server to ask.
    NoServer,
    /// A signal ended it.
    Signal(Signal),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::Failed => ExitCode::from(1),
            Exit::Usage => ExitCode::from(2),
            Exit::NoBrowser | Exit::NoServer => ExitCode::from(3),
            // As shells report a process that a signal ended.
            Exit::Signal(signal) => ExitCode::from(128 + signal.number()),
        }
    }
}
