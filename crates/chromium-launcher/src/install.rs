//! Installs a Chromium with the system's package manager, where this process may.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Command, ExitStatus, Stdio};

use rustix::process::geteuid;

use crate::os::Os;
use crate::{Browser, LauncherError, find_named};

/// Another package manager may be at work on a machine that has just booted: wait for it rather than fail.
const LOCK: &str = "DPkg::Lock::Timeout=300";

const STEPS: [&[&str]; 2] =
    [&["-o", LOCK, "update"], &["-o", LOCK, "install", "-y", "--no-install-recommends", "chromium"]];

/// Lines of a failed command that its error repeats: apt tells the reason in its last few.
const LAST_LINES: usize = 10;

/// Whether [`install`] would try: root on a Debian or Ubuntu.
pub fn may_install() -> bool {
    geteuid().is_root() && Os::current().has_apt()
}

/// The one command that installs a Chromium here, or what to do where no command is known.
pub fn install_hint() -> String {
    hint(Os::current(), geteuid().is_root())
}

/// Installs the package `chromium` with `apt-get`, giving `progress` each line that it prints.
///
/// Blocks for as long as that takes (often a minute). Call it only when the user asked for it.
///
/// # Errors
/// `MayNotInstall` unless [`may_install`]; `InstallerFailed` and `InstallRefused` when `apt-get` fails; `Unusable`
/// when the installed browser does not run.
pub fn install(mut progress: impl FnMut(&str)) -> Result<Browser, LauncherError> {
    if !may_install() {
        return Err(LauncherError::MayNotInstall { hint: install_hint() });
    }
    for arguments in STEPS {
        run("apt-get", arguments, &mut progress)?;
    }
    find_named("chromium")
}

fn run(program: &str, arguments: &[&str], progress: &mut dyn FnMut(&str)) -> Result<(), LauncherError> {
    let command = format!("{program} {}", arguments.join(" "));
    progress(&command);
    match stream(program, arguments, progress) {
        Ok((status, _)) if status.success() => Ok(()),
        Ok((status, output)) => Err(LauncherError::InstallRefused { command, status, output }),
        Err(source) => Err(LauncherError::InstallerFailed { command, source }),
    }
}

/// Runs one command, its standard output and error as one stream of lines; gives its status and its last lines.
fn stream(
    program: &str,
    arguments: &[&str],
    progress: &mut dyn FnMut(&str),
) -> io::Result<(ExitStatus, String)> {
    let (reader, writer) = io::pipe()?;
    // The builder owns our copies of the pipe's writing end: it must be gone before we read to the end.
    let mut child = Command::new(program)
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .stdout(writer.try_clone()?)
        .stderr(writer)
        .spawn()?;
    let output = last_lines(reader, progress);
    Ok((child.wait()?, output))
}

fn last_lines(reader: impl Read, progress: &mut dyn FnMut(&str)) -> String {
    let mut last = VecDeque::with_capacity(LAST_LINES);
    for line in BufReader::new(reader).split(b'\n').map_while(Result::ok) {
        let line = String::from_utf8_lossy(&line).trim_end().to_owned();
        progress(&line);
        if last.len() == LAST_LINES {
            last.pop_front();
        }
        last.push_back(line);
    }
    Vec::from(last).join("\n")
}

fn hint(os: Os, root: bool) -> String {
    match os.command() {
        Some(command) if root || os == Os::Mac => command.to_owned(),
        Some(command) => format!("sudo {command}"),
        None => "install Chromium or Google Chrome, then set CHROME to its path".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_is_one_command_for_this_user() {
        assert_eq!(hint(Os::Debian, false), "sudo apt-get install -y --no-install-recommends chromium");
        assert_eq!(hint(Os::Debian, true), "apt-get install -y --no-install-recommends chromium");
        assert_eq!(hint(Os::Mac, false), "brew install --cask google-chrome");
        assert!(hint(Os::Unknown, true).contains("CHROME"));
    }

    #[test]
    fn each_line_is_progress_and_the_last_are_kept() {
        let text: String = (0..30).map(|n| format!("line {n}\r\n")).collect();
        let mut seen = 0;
        let kept = last_lines(text.as_bytes(), &mut |_| seen += 1);
        assert_eq!(seen, 30);
        assert_eq!(kept.lines().count(), LAST_LINES);
        assert!(kept.starts_with("line 20\n") && kept.ends_with("line 29"), "{kept}");
    }

    #[test]
    fn a_command_that_fails_tells_its_reason() {
        let error = run("sh", &["-c", "echo out; echo reason >&2; exit 3"], &mut |_| {}).unwrap_err();
        assert!(matches!(error, LauncherError::InstallRefused { .. }), "{error:?}");
        assert!(error.to_string().ends_with("failed (exit status: 3): out\nreason"), "{error}");
    }

    #[test]
    fn a_command_that_is_not_there_is_told() {
        let error = run("no-such-installer", &[], &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("cannot run no-such-installer"), "{error}");
    }
}
