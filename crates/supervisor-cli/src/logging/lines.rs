//! Lines of the log, on a thread of their own: whoever is to read them may not, and a write to a full pipe waits for ever.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Lines that may wait to be written. Some hundred bytes each; the rest is lost and counted.
const WAITING: usize = 1_024;

/// How long the last lines may take when the program ends.
const LAST: Duration = Duration::from_millis(200);

static LINES: OnceLock<Lines> = OnceLock::new();

/// The way to the thread.
struct Lines {
    way: SyncSender<Next>,
    lost: Arc<AtomicU64>,
}

enum Next {
    Line(Vec<u8>),
    /// Everything before it is written once this is dropped.
    End(#[expect(dead_code, reason = "it is waited for until it is dropped")] SyncSender<()>),
}

/// Starts the thread. `bound`: how long the file on standard error may become.
///
/// # Errors
/// Where the system gives no thread, or standard error is closed. Then nothing is logged.
pub(super) fn start(bound: Option<u64>) -> io::Result<()> {
    let mut out = Out::new(File::from(io::stderr().as_fd().try_clone_to_owned()?), bound)?;
    let (lines, come) = Lines::new();
    let lost = Arc::clone(&lines.lost);
    std::thread::Builder::new().name("log".into()).spawn(move || write_all(&come, &lost, &mut out))?;
    // It is set once only.
    let _ = LINES.set(lines);
    Ok(())
}

/// Waits for what was logged until now, for a moment.
pub(crate) fn finish() {
    let Some(lines) = LINES.get() else { return };
    let (end, written) = sync_channel(1);
    if lines.way.try_send(Next::End(end)).is_ok() {
        let _ = written.recv_timeout(LAST);
    }
}

/// What the log writes a line into.
pub(super) struct Line;

impl Write for Line {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(lines) = LINES.get() {
            lines.say(line);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn new() -> (Self, Receiver<Next>) {
        let (way, come) = sync_channel(WAITING);
        (Self { way, lost: Arc::default() }, come)
    }

    fn say(&self, line: &[u8]) {
        if self.way.try_send(Next::Line(line.to_vec())).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Until nobody can log any more. A line that cannot be written is nobody's: there is no other place to say so.
fn write_all(come: &Receiver<Next>, lost: &AtomicU64, out: &mut Out) {
    for next in come {
        let lost = lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            out.write(format!("{lost} lines of the log were lost: they were not read in time\n").as_bytes());
        }
        if let Next::Line(line) = next {
            out.write(&line);
        }
    }
}

/// Standard error, or the file that stands for it.
struct Out {
    file: File,
    length: u64,
    bound: u64,
}

impl Out {
    fn new(file: File, bound: Option<u64>) -> io::Result<Self> {
        let length = if bound.is_some() { file.metadata()?.len() } else { 0 };
        Ok(Self { file, length, bound: bound.unwrap_or(u64::MAX) })
    }

    /// A file that is full begins anew: what pages do must not fill a disk.
    fn write(&mut self, line: &[u8]) {
        self.length = self.length.saturating_add(line.len() as u64);
        if self.length > self.bound && self.file.set_len(0).is_ok() {
            self.length = line.len() as u64;
        }
        let _ = self.file.write_all(line);
    }
}

#[cfg(test)]
mod tests {
    use std::fs::OpenOptions;

    use super::*;

    /// What comes of these lines in a file that may become so long.
    fn written(lines: Lines, come: &Receiver<Next>, bound: Option<u64>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let file = OpenOptions::new().append(true).create(true).open(&path).unwrap();
        let lost = Arc::clone(&lines.lost);
        drop(lines);
        write_all(come, &lost, &mut Out::new(file, bound).unwrap());
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn nobody_waits_for_who_does_not_read_and_what_is_lost_is_counted() {
        let (lines, come) = Lines::new();
        for number in 0..WAITING + 5 {
            lines.say(format!("{number}\n").as_bytes());
        }
        let log = written(lines, &come, None);
        assert_eq!(log.lines().next(), Some("5 lines of the log were lost: they were not read in time"));
        assert_eq!(log.lines().count(), WAITING + 1);
        assert_eq!(log.lines().last(), Some((WAITING - 1).to_string().as_str()));
    }

    #[test]
    fn a_file_that_is_full_begins_anew() {
        let (lines, come) = Lines::new();
        (0..100).for_each(|number| lines.say(format!("line {number:04}\n").as_bytes()));
        let log = written(lines, &come, Some(95));
        assert_eq!(log.len(), 10, "nine lines fit, so the hundredth is the first again: {log}");
        assert_eq!(log, "line 0099\n");
    }
}
