//! A browser's processes and its profile: made together, ended together.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::stderr::Stderr;
use crate::{LauncherError, guard, wait};

/// For a browser to end by itself after SIGTERM; it usually takes a tenth of that.
const POLITE: Duration = Duration::from_secs(3);

/// For the kernel to end killed processes and for their last bytes to be read. Long only on an overloaded machine.
const KILLED: Duration = Duration::from_secs(2);

/// For the profile to be deleted while a helper process may still write to it.
const DELETION: Duration = Duration::from_secs(2);

/// The guard, the browser and its helpers. Dropping it kills them at once and deletes the profile.
#[derive(Debug)]
pub(crate) struct Group {
    browser: Child,
    guard: Child,
    pub(crate) stderr: Stderr,
    pub(crate) profile: PathBuf,
    ended: bool,
}

impl Group {
    /// Makes a fresh profile and starts `program` on it, in a process group of its own: a Ctrl-C in the terminal
    /// reaches us, and not the browser before us.
    pub(crate) fn spawn(program: &Path, arguments: &[String]) -> Result<Group, LauncherError> {
        let profile = tempfile::Builder::new()
            .prefix("chromium-launcher-")
            .tempdir()
            .map_err(|source| LauncherError::NoProfile { source })?;
        let mut guard =
            guard::spawn(profile.path()).map_err(|source| spawn_error("/bin/sh".as_ref(), source))?;
        match spawn_browser(program, arguments, profile.path(), &guard) {
            Ok((browser, stderr)) => {
                Ok(Group { browser, guard, stderr, profile: profile.keep(), ended: false })
            }
            Err(source) => {
                kill(&guard, Signal::KILL);
                let _ = guard.wait();
                Err(spawn_error(program, source))
            }
        }
    }

    /// Process id of the browser's main process.
    pub(crate) fn pid(&self) -> u32 {
        self.browser.id()
    }

    /// How the browser ended, when it has.
    pub(crate) fn exit_status(&mut self) -> Option<ExitStatus> {
        self.browser.try_wait().ok().flatten()
    }

    /// SIGTERM, up to 3 s of patience, SIGKILL, then the profile. Blocks for at most 11 s; usually a fraction of one.
    pub(crate) fn stop(mut self) -> Result<(), LauncherError> {
        kill(&self.guard, Signal::TERM);
        wait::until(POLITE, || self.exit_status().is_some());
        self.end()
    }

    /// Safe to call more than once: only the first call does anything.
    fn end(&mut self) -> Result<(), LauncherError> {
        if std::mem::replace(&mut self.ended, true) {
            return Ok(());
        }
        kill(&self.guard, Signal::KILL);
        let gone = wait::until(KILLED, || self.exit_status().is_some());
        wait::until(KILLED, || !matches!(self.guard.try_wait(), Ok(None)));
        // Helpers are not our children, but all hold the pipe, which a dead one has let go of even while nobody has
        // reaped it (in a container without an init). Who is late still meets the retries of the deletion.
        wait::until(KILLED, || self.stderr.ended());
        delete(&self.profile)?;
        if gone { Ok(()) } else { Err(LauncherError::StillThere { pid: self.pid() }) }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            tracing::warn!(%error, "a browser was not cleaned up");
        }
    }
}

fn spawn_browser(
    program: &Path,
    arguments: &[String],
    profile: &Path,
    guard: &Child,
) -> io::Result<(Child, Stderr)> {
    let (reader, writer) = io::pipe()?;
    let stderr = Stderr::drain(reader)?;
    let browser = Command::new(program)
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(writer)
        .process_group(Pid::from_child(guard).as_raw_nonzero().get())
        .spawn()?;
    Ok((browser, stderr))
}

/// The guard has not been reaped where this is called, so the group's id is still its own.
fn kill(guard: &Child, signal: Signal) {
    // It fails only when every process of the group has gone.
    let _ = kill_process_group(Pid::from_child(guard), signal);
}

fn delete(profile: &Path) -> Result<(), LauncherError> {
    let mut last = Ok(());
    wait::until(DELETION, || {
        last = match std::fs::remove_dir_all(profile) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
        last.is_ok()
    });
    last.map_err(|source| LauncherError::ProfileLeft { path: profile.to_owned(), source })
}

fn spawn_error(path: &Path, source: io::Error) -> LauncherError {
    LauncherError::Spawn { path: path.to_owned(), source }
}
