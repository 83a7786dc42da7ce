//! Asks an executable for its version, without trusting it to answer.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::wait;

/// A cold start from a slow disk takes a few seconds; a program that takes longer is not answering.
const LIMIT: Duration = Duration::from_secs(10);

/// A version is one line. A program that prints more than the pipe holds blocks, and is rejected at [`LIMIT`].
const MAX_BYTES: usize = 4096;

/// The first line that `path --version` prints, or why there is none.
pub(crate) fn ask(path: &Path) -> Result<String, String> {
    let mut child = spawn(path)?;
    let ended = wait::until(LIMIT, || !matches!(child.try_wait(), Ok(None)));
    // Also what the program left behind: a child that holds the pipe open would block the read.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let status = child.wait().map_err(|e| e.to_string())?;
    match (ended, status.success()) {
        (false, _) => Err(format!("--version did not answer within {} s", LIMIT.as_secs())),
        (true, false) => Err(format!("--version failed ({status})")),
        (true, true) => first_line(&read(child.stdout.take().ok_or("no standard output")?)?),
    }
}

fn spawn(path: &Path) -> Result<Child, String> {
    Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|e| e.to_string())
}

fn read(mut stdout: impl Read) -> Result<String, String> {
    let mut buffer = [0; MAX_BYTES];
    let length = stdout.read(&mut buffer).map_err(|e| e.to_string())?;
    Ok(String::from_utf8_lossy(&buffer[..length]).into_owned())
}

fn first_line(output: &str) -> Result<String, String> {
    let line = output.lines().map(str::trim).find(|line| !line.is_empty());
    match line {
        Some(line) if line.contains(|c: char| c.is_ascii_digit()) => Ok(line.to_owned()),
        Some(line) => Err(format!("--version printed no version but {line:?}")),
        None => Err("--version printed nothing".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_the_first_line_with_text() {
        let output = "\nChromium 156.0.8078.114 built on Debian\nmore\n";
        assert_eq!(first_line(output).unwrap(), "Chromium 156.0.8078.114 built on Debian");
    }

    #[test]
    fn a_stub_is_rejected_with_what_it_did() {
        assert!(ask(Path::new("/bin/false")).unwrap_err().contains("--version failed (exit status: 1)"));
        assert_eq!(first_line("").unwrap_err(), "--version printed nothing");
        assert!(first_line("please install the snap").unwrap_err().contains("please install the snap"));
    }

    #[test]
    fn what_is_no_program_is_rejected() {
        assert!(ask(Path::new("/nonexistent/chromium")).is_err());
    }

    #[test]
    fn what_comes_after_the_bound_is_not_read() {
        let after = |blank: usize| first_line(&read(format!("{}v1", "\n".repeat(blank)).as_bytes()).unwrap());
        assert_eq!(after(MAX_BYTES - 2).unwrap(), "v1");
        assert!(after(MAX_BYTES - 1).is_err());
    }
}
