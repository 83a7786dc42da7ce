//! What can go wrong, and what to do next.

use std::fmt::{self, Display};
use std::io;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::Duration;

/// A failure to find, install, start or stop a Chromium.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LauncherError {
    /// Nothing that runs was found.
    #[error("no Chromium found{}; set CHROME to one, or run: {hint}", list(.rejected))]
    NotFound {
        /// Executables that were there but did not tell a version.
        rejected: Vec<Rejected>,
        /// The command that installs one here.
        hint: String,
    },
    /// The executable that was named (by `CHROME` or by the caller) cannot be used.
    #[error("the browser {} cannot be used: {why}; name another executable", .path.display())]
    Unusable {
        /// As it was named.
        path: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// This process may not install packages here: it is not root, or this is not a Debian or Ubuntu.
    #[error("cannot install a Chromium from here; run: {hint}")]
    MayNotInstall {
        /// The command to run by hand.
        hint: String,
    },
    /// The package manager could not be run.
    #[error("cannot run {command}: {source}")]
    InstallerFailed {
        /// The command line.
        command: String,
        /// Why not.
        source: io::Error,
    },
    /// The package manager ran and failed.
    #[error("{command} failed ({status}): {output}")]
    InstallRefused {
        /// The command line.
        command: String,
        /// How it ended.
        status: ExitStatus,
        /// Its last lines.
        output: String,
    },
    /// No profile folder could be made in the temporary directory.
    #[error("cannot make a profile folder in {}: {source}", std::env::temp_dir().display())]
    NoProfile {
        /// Why not.
        source: io::Error,
    },
    /// The operating system would not start a program.
    #[error("cannot start {}: {source}", .path.display())]
    Spawn {
        /// The browser, or the shell that guards it.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The browser ended before it opened its DevTools port.
    #[error("{} ended ({status}) before it opened its DevTools port; it said: {stderr}", .path.display())]
    EndedEarly {
        /// The browser.
        path: PathBuf,
        /// How it ended.
        status: ExitStatus,
        /// The end of its standard error.
        stderr: String,
    },
    /// The browser runs but opened no DevTools port in time; it has been killed.
    #[error("{} opened no DevTools port within {} s; it said: {stderr}", .path.display(), .limit.as_secs())]
    NoPort {
        /// The browser.
        path: PathBuf,
        /// How long we waited.
        limit: Duration,
        /// The end of its standard error.
        stderr: String,
    },
    /// The browser was killed but has not gone.
    #[error(
        "browser process {pid} is still there after SIGKILL; look at it with: ps -o pid,stat,args -p {pid}"
    )]
    StillThere {
        /// Its process id.
        pid: u32,
    },
    /// The browser has gone but its profile could not be deleted.
    #[error("cannot delete the profile {}: {source}; delete it by hand", .path.display())]
    ProfileLeft {
        /// The folder.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

/// An executable that has a browser's name but could not be used (Ubuntu ships such stubs).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejected {
    /// The executable.
    pub path: PathBuf,
    /// What it did instead of telling its version.
    pub why: String,
}

impl Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path.display(), self.why)
    }
}

fn list(rejected: &[Rejected]) -> String {
    if rejected.is_empty() {
        return String::new();
    }
    let all: Vec<String> = rejected.iter().map(Rejected::to_string).collect();
    format!(" that works ({})", all.join("; "))
}
