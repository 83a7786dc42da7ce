//! Runs the command, and writes down what it said.

use std::fmt::Write as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

/// Decides only how fast a broken test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with nothing in it but what the tests put there, and what was seen in it.
pub(crate) struct Seen {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) text: String,
    /// A server in the background.
    server: Option<Pid>,
}

impl Seen {
    pub(crate) fn new(head: &str) -> Self {
        Self { folder: tempfile::tempdir().unwrap(), text: head.to_owned(), server: None }
    }

    pub(crate) fn title(&mut self, title: &str) {
        let _ = write!(self.text, "\n## {title}\n");
    }

    /// What has to be known about what follows.
    pub(crate) fn says(&mut self, text: &str) {
        let _ = write!(self.text, "\n{text}\n");
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
        command.args(args).current_dir(&self.folder).stdin(Stdio::null()).env_clear();
        command.env("HOME", self.folder.path()).env("XDG_RUNTIME_DIR", self.folder.path());
        command.env("CDP_SUPERVISOR_JOURNAL_ENABLED", "false").env("CDP_SUPERVISOR_LOG_LEVEL", "off");
        let kept = |name: &std::ffi::OsString| name == "PATH" || name == "CHROME";
        command.envs(std::env::vars_os().filter(|(name, _)| kept(name)));
        command
    }

    /// Runs it, and writes down what it said.
    #[track_caller]
    pub(crate) fn fails(&mut self, args: &[&str], code: i32) {
        let output = self.command(args).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
        assert!(output.stdout.is_empty(), "{args:?}: standard output is for what was asked for");
        assert!(!said.contains("secret"), "{args:?}: {said}");
        let words: Vec<_> = args.iter().map(|word| quoted(word)).collect();
        let said = said.replace(&*self.folder.path().to_string_lossy(), "~");
        let _ =
            write!(self.text, "\n```console\n$ cdp-supervisor {}\n{said}# {code}\n```\n", words.join(" "));
    }

    /// Does something that succeeds.
    #[track_caller]
    pub(crate) fn does(&self, args: &[&str]) -> String {
        let output = self.command(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// The same, for what prints JSON.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> Value {
        serde_json::from_str(&self.does(args)).unwrap()
    }

    /// Asks until the answer is so.
    #[track_caller]
    pub(crate) fn until(&self, args: &[&str], is_so: impl Fn(&Value) -> bool) {
        let begin = Instant::now();
        loop {
            let answer = self.json(args);
            if is_so(&answer) {
                return;
            }
            assert!(begin.elapsed() < PATIENCE, "{args:?}: {answer}");
        }
    }

    /// Makes a call that a dialog holds.
    #[track_caller]
    pub(crate) fn is_held(&self, args: &[&str]) {
        let output = self.command(args).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.starts_with("error: dialog_opened: "), "{args:?}: {output:?}");
    }

    /// Starts a server with a browser.
    pub(crate) fn serve(&mut self) {
        let ready = self.json(&["serve", "--launch", "--detach", "--log-file", "log", "--json"]);
        self.server = Pid::from_raw(i32::try_from(ready["pid"].as_i64().unwrap()).unwrap());
    }

    /// Where its browser is.
    pub(crate) fn endpoint(&self) -> String {
        self.json(&["status", "--json"])["tasks"][0]["endpoint"].as_str().unwrap().to_owned()
    }

    /// Ends the server, and waits until it is gone.
    pub(crate) fn end(&mut self) {
        let Some(server) = self.server.take() else { return };
        let _ = kill_process(server, Signal::TERM);
        let begin = Instant::now();
        while test_kill_process(server).is_ok() && begin.elapsed() < PATIENCE {
            std::thread::yield_now();
        }
    }
}

/// Also when a test fails.
impl Drop for Seen {
    fn drop(&mut self) {
        self.end();
    }
}

fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@".contains(c);
    match word.contains('\'') {
        _ if word.chars().all(is_plain) => word.to_owned(),
        true => format!("\"{word}\""),
        false => format!("'{word}'"),
    }
}
