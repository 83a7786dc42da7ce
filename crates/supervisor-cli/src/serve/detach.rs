//! `serve --detach`: the server as a process of its own, in the background.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde::{Deserialize, Serialize};

use super::Args;
use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::settings::Loaded;

/// A log that has grown so far begins anew; when the next server starts it is set aside, so that the one before stays readable.
pub(crate) const MAX_LOG: u64 = 4 * 1024 * 1024;

/// How much of a log is shown when a server does not start.
const SHOWN: u64 = 4 * 1024;

/// What a server in the background says when it can be used.
#[derive(Debug, Serialize, Deserialize)]
struct Ready {
    pid: u32,
    socket: PathBuf,
    #[serde(default)]
    log: PathBuf,
}

/// Starts the server, waits until it can be used, and leaves it.
pub(crate) fn run(args: &Args, loaded: &Loaded) -> Result<Exit, CliError> {
    let path = log_path(args, loaded)?;
    let cannot = |source| CliError::File { what: "write", path: path.clone(), source };
    let log = open_log(&path).map_err(cannot)?;
    let begin = log.metadata().map_err(cannot)?.len();
    let mut child = start(log).map_err(CliError::Runtime)?;
    match ready(&mut child) {
        Some(ready) => tell(args, Ready { log: path, ..ready }),
        None => {
            // Its output has ended, so it has, or will.
            let code = child.wait().ok().and_then(|status| status.code());
            Err(CliError::NotDetached { code, said: said(&path, begin), log: path })
        }
    }
}

fn log_path(args: &Args, loaded: &Loaded) -> Result<PathBuf, CliError> {
    let usual = || Some(loaded.around.state()?.join("serve.log"));
    args.log_file.clone().or_else(usual).ok_or(CliError::NoLog)
}

/// For its owner alone: it may tell of what pages say.
fn open_log(path: &Path) -> io::Result<File> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if path.metadata().is_ok_and(|meta| meta.len() > MAX_LOG) {
        std::fs::rename(path, path.with_extension("log.old"))?;
    }
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

fn start(log: File) -> io::Result<Child> {
    let instead = |word: OsString| if word == "--detach" { "--detached".into() } else { word };
    let mut words = Vec::new();
    let mut given = std::env::args_os().skip(1);
    while let Some(word) = given.next() {
        // Only the parent needs it.
        if word == "--log-file" {
            drop(given.next());
        } else if !word.to_string_lossy().starts_with("--log-file=") {
            words.push(instead(word));
        }
    }
    let mut command = Command::new(std::env::current_exe()?);
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(log).spawn()
}

fn ready(child: &mut Child) -> Option<Ready> {
    let mut line = String::new();
    BufReader::new(child.stdout.take()?).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

fn tell(args: &Args, ready: Ready) -> Result<Exit, CliError> {
    if args.json {
        Screen::new().json(&ready)?;
        return Ok(Exit::Done);
    }
    let Ready { pid, socket, log } = ready;
    let text = format!("serving at {}, process {pid}; it logs to {}", socket.display(), log.display());
    Screen::new().plain(&Line::new(Kind::Good, text))?;
    Ok(Exit::Done)
}

/// What a server that did not start has said.
fn said(log: &Path, begin: u64) -> String {
    let read = || -> io::Result<String> {
        let mut file = File::open(log)?;
        let end = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(begin.max(end.saturating_sub(SHOWN))))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}

/// A session of its own: it does not end with the terminal of whoever started it. A process that leads a group already has
/// no terminal to leave.
pub(super) fn leave_the_terminal() {
    let _ = rustix::process::setsid();
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_log_that_has_grown_is_set_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/serve.log");
        let log = open_log(&path).unwrap();
        log.set_len(MAX_LOG).unwrap();
        assert_eq!(open_log(&path).unwrap().metadata().unwrap().len(), MAX_LOG, "it goes on");
        log.set_len(MAX_LOG + 1).unwrap();
        assert_eq!(open_log(&path).unwrap().metadata().unwrap().len(), 0);
        assert_eq!(folder.path().join("new/serve.log.old").metadata().unwrap().len(), MAX_LOG + 1);
    }

    #[test]
    fn only_the_end_of_what_this_start_said_is_shown() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("serve.log");
        let mut log = open_log(&path).unwrap();
        let shown = usize::try_from(SHOWN).unwrap();
        write!(log, "before{}", "x".repeat(shown)).unwrap();
        assert_eq!(said(&path, 6), "x".repeat(shown));
        write!(log, "y").unwrap();
        assert_eq!(said(&path, 6), "x".repeat(shown - 1) + "y");
        assert_eq!(said(&folder.path().join("none"), 0), "");
    }
}
