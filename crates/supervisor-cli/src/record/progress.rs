//! How far a recording is, on standard error: one line that is refreshed on a terminal, a line now and then elsewhere.

use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use supervisor::{RecordingProgress, Snapshot, Task};

use super::{LINE_EVERY, REFRESH_EVERY, recording};
use crate::escape;

/// Shows it.
pub(super) struct Progress {
    is_terminal: bool,
    shown: String,
}

impl Progress {
    /// Says that it begins, and where.
    pub(super) fn begin(task: &Task) -> Self {
        let progress = Self { is_terminal: io::stderr().is_terminal(), shown: String::new() };
        let snapshot = task.snapshot();
        let browser = snapshot.status.browser.as_deref().unwrap_or("a browser");
        let file = recording(task).path;
        let text =
            format!("recording {browser} at {} to {}; Ctrl-C ends it", task.endpoint(), file.display());
        let _ = writeln!(io::stderr(), "{}", escape::line(&text));
        progress
    }

    /// How often it is shown.
    pub(super) fn every(&self) -> Duration {
        if self.is_terminal { REFRESH_EVERY } else { LINE_EVERY }
    }

    /// Shows it. Nobody who reads is no reason to end.
    pub(super) fn show(&mut self, task: &Task) {
        let text = escape::line(&sentence(&recording(task), &task.snapshot())).into_owned();
        if text == self.shown {
            return;
        }
        let mut out = io::stderr().lock();
        let _ = match self.is_terminal {
            // To the start of the line; what was longer before is erased.
            true => write!(out, "\r{text}\x1b[K").and_then(|()| out.flush()),
            false => writeln!(out, "{text}"),
        };
        self.shown = text;
    }

    /// Leaves the line of a terminal.
    pub(super) fn end(&self) {
        if self.is_terminal && !self.shown.is_empty() {
            let _ = writeln!(io::stderr());
        }
    }
}

/// `1204 messages, 1.8 MB, 2 dialogs (1 open)`, and what is missing.
pub(super) fn sentence(progress: &RecordingProgress, snapshot: &Snapshot) -> String {
    let (messages, dialogs) = (progress.messages, snapshot.counts.dialogs_seen);
    let plural = if dialogs == 1 { "" } else { "s" };
    let mut text = format!("{messages} messages, {}, {dialogs} dialog{plural}", size(progress.bytes));
    let open = snapshot.pending_dialogs.len();
    if open > 0 {
        text += &format!(" ({open} open)");
    }
    if progress.dropped_parts > 0 {
        text += &format!("; {} old parts dropped", progress.dropped_parts);
    }
    if progress.lost_lines > 0 {
        text += &format!("; {} lines lost", progress.lost_lines);
    }
    text
}

fn size(bytes: u64) -> String {
    const KILOBYTE: f64 = 1024.0;
    let kilobytes = bytes as f64 / KILOBYTE;
    if kilobytes < 1_000.0 { format!("{kilobytes:.0} kB") } else { format!("{:.1} MB", kilobytes / KILOBYTE) }
}

#[cfg(test)]
mod tests {
    use supervisor::supervisor_core::{Beginning, Machine};

    use super::*;

    #[test]
    fn what_is_missing_is_said() {
        let snapshot = Machine::new(&Beginning::default()).snapshot();
        let mut progress = RecordingProgress::default();
        progress.messages = 1_204;
        progress.bytes = 5_300;
        assert_eq!(sentence(&progress, &snapshot), "1204 messages, 5 kB, 0 dialogs");
        progress.bytes = 9_000_000;
        progress.dropped_parts = 3;
        progress.lost_lines = 12;
        assert_eq!(
            sentence(&progress, &snapshot),
            "1204 messages, 8.6 MB, 0 dialogs; 3 old parts dropped; 12 lines lost"
        );
    }
}
