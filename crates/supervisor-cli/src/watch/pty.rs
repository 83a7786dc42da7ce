//! A terminal of a test's own: a pseudo-terminal with a program on it.

#![allow(dead_code)] // Two test binaries use it, each a part.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Termios, Winsize, tcgetattr, tcsetwinsize};

/// Decides only how fast a broken test fails.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a program takes a terminal by, and gives it back by: the second screen, and the cursor.
pub(crate) const ENTER: &str = "\x1b[?1049h";
pub(crate) const LEAVE: &str = "\x1b[?1049l";
pub(crate) const SHOW_CURSOR: &str = "\x1b[?25h";
pub(crate) const LEAVE_PASTE: &str = "\x1b[?2004l";

/// A terminal with a program.
pub(crate) struct Terminal {
    keys: File,
    program: Child,
    /// The program's side, kept open so that its modes can be read afterwards.
    side: File,
    before: Termios,
    shown: Arc<Shown>,
    reader: JoinHandle<()>,
}

/// Everything that reached the terminal.
#[derive(Default)]
struct Shown {
    text: Mutex<String>,
    changed: Condvar,
    /// Whether the terminal is let go after the next part.
    is_last: AtomicBool,
}

/// What became of it.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    /// Everything that reached the terminal.
    pub(crate) shown: String,
    /// Whether keys, echo and line ends work as before.
    pub(crate) has_its_modes: bool,
}

impl Terminal {
    /// Runs it with the terminal as its own, which is so large.
    pub(crate) fn run(program: &mut Command, columns: u16, rows: u16) -> Self {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let side: File =
            rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
                .unwrap()
                .into();
        tcsetwinsize(&side, size(columns, rows)).unwrap();
        let before = tcgetattr(&side).unwrap();
        let program = as_its_own(program, &side).spawn().unwrap();
        let keys: File = keys.into();
        let shown = Arc::<Shown>::default();
        let reader = std::thread::spawn(read(keys.try_clone().unwrap(), Arc::clone(&shown)));
        Self { keys, program, side, before, shown, reader }
    }

    /// Waits until this was shown since it was `from` bytes, and gives where it ends.
    #[track_caller]
    pub(crate) fn until(&self, part: &str, from: usize) -> usize {
        let shown = self.shown.text.lock().unwrap();
        let misses = |shown: &mut String| !shown[from..].contains(part);
        let (shown, waited) = self.shown.changed.wait_timeout_while(shown, PATIENCE, misses).unwrap();
        assert!(!waited.timed_out(), "{part:?} was not shown: {shown:?}");
        from + shown[from..].find(part).unwrap() + part.len()
    }

    /// How much was shown, in bytes.
    pub(crate) fn position(&self) -> usize {
        self.shown.text.lock().unwrap().len()
    }

    /// What was shown since it was `from` bytes.
    pub(crate) fn since(&self, from: usize) -> String {
        self.shown.text.lock().unwrap()[from..].to_owned()
    }

    /// Gives it another size, which its program is told.
    pub(crate) fn resize(&self, columns: u16, rows: u16) {
        tcsetwinsize(&self.keys, size(columns, rows)).unwrap();
    }

    pub(crate) fn press(&self, keys: &str) {
        (&self.keys).write_all(keys.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.program), signal).unwrap();
    }

    /// Closes the terminal under its program, and waits until that has ended; gives its exit code.
    pub(crate) fn vanish(mut self) -> Option<i32> {
        self.shown.is_last.store(true, Ordering::SeqCst);
        // What is drawn then is what the reader lets the terminal go after.
        self.resize(100, 30);
        self.reader.join().unwrap();
        drop((self.keys, self.side));
        self.program.wait().unwrap().code()
    }

    /// Waits until the program has ended.
    pub(crate) fn end(mut self) -> Ended {
        let status = self.program.wait().unwrap();
        let after = tcgetattr(&self.side).unwrap();
        // The reader ends when nobody has the program's side any more.
        drop(self.side);
        self.reader.join().unwrap();
        let (before, shown) = (&self.before, self.shown.text.lock().unwrap().clone());
        let has_its_modes = after.local_modes == before.local_modes
            && after.input_modes == before.input_modes
            && after.output_modes == before.output_modes;
        Ended { code: status.code(), signal: status.signal(), shown, has_its_modes }
    }
}

impl Ended {
    /// The terminal was taken, and is as it was.
    #[track_caller]
    pub(crate) fn assert_given_back(&self) {
        assert!(self.shown.contains(ENTER), "it was never taken: {:?}", self.shown);
        let last = self.shown.rfind(ENTER).unwrap();
        for sequence in [LEAVE, SHOW_CURSOR, LEAVE_PASTE] {
            assert!(self.shown[last..].contains(sequence), "{sequence:?} is missing: {:?}", self.shown);
        }
        assert!(self.has_its_modes, "the terminal's modes are others than before");
    }

    /// What is said on the screen that people know, once the other one is left.
    pub(crate) fn said_afterwards(&self) -> &str {
        self.shown.rsplit(SHOW_CURSOR).next().unwrap_or_default()
    }
}

/// The program in a session of its own, which the terminal controls.
fn as_its_own(program: &Command, side: &File) -> Command {
    let mut command = Command::new("setsid");
    command.arg("--ctty").arg(program.get_program()).args(program.get_args());
    for (name, value) in program.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("TERM", "xterm-256color");
    let side = || side.try_clone().unwrap();
    command.stdin(side()).stdout(side()).stderr(side());
    command
}

fn size(columns: u16, rows: u16) -> Winsize {
    Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }
}

fn read(mut from: File, to: Arc<Shown>) -> impl FnOnce() {
    move || {
        let (mut buffer, mut rest) = ([0; 4096], Vec::new());
        // Reading fails when nobody has the other side any more.
        while let Ok(length @ 1..) = from.read(&mut buffer) {
            rest.extend_from_slice(&buffer[..length]);
            let whole = match std::str::from_utf8(&rest) {
                Ok(text) => text.len(),
                Err(error) => error.valid_up_to(),
            };
            let text: Vec<_> = rest.drain(..whole).collect();
            to.text.lock().unwrap().push_str(&String::from_utf8_lossy(&text));
            to.changed.notify_all();
            if to.is_last.load(Ordering::SeqCst) {
                return;
            }
        }
    }
}
