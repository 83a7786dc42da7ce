//! A browser's standard error: read for ever, so that the pipe never fills and blocks it; only the end is kept.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::endpoint::Endpoint;

/// What an error shows: a screenful, which holds the browser's own last words.
const TAIL_BYTES: usize = 4096;

/// A line is read in pieces of at most this, so that an endless line needs no endless memory.
const LINE_BYTES: u64 = 4096;

/// What the reading thread has seen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stderr(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
struct Seen {
    tail: Vec<u8>,
    endpoint: Option<Endpoint>,
    ended: bool,
}

impl Stderr {
    /// Starts to read. A thread of its own reads on whatever happens to the async runtime; it ends when the last
    /// process that holds the pipe has gone.
    pub(crate) fn drain(pipe: impl Read + Send + 'static) -> io::Result<Stderr> {
        let stderr = Stderr::default();
        let seen = stderr.clone();
        thread::Builder::new().name("chromium-stderr".to_owned()).spawn(move || seen.read(pipe))?;
        Ok(stderr)
    }

    /// The endpoint, once the browser has said it.
    pub(crate) fn endpoint(&self) -> Option<Endpoint> {
        self.seen().endpoint.clone()
    }

    /// Whether all that will ever come has been read.
    pub(crate) fn ended(&self) -> bool {
        self.seen().ended
    }

    /// The last 4 KiB, or a word for nothing.
    pub(crate) fn tail(&self) -> String {
        match String::from_utf8_lossy(&self.seen().tail).trim() {
            "" => "(nothing)".to_owned(),
            text => text.to_owned(),
        }
    }

    fn read(self, pipe: impl Read) {
        let mut reader = BufReader::new(pipe);
        let mut line = Vec::new();
        while reader.by_ref().take(LINE_BYTES).read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
            self.seen().add(&line);
            line.clear();
        }
        self.seen().ended = true;
    }

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn add(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        tracing::trace!(target: "chromium", "{}", text.trim_end());
        if self.endpoint.is_none() {
            self.endpoint = Endpoint::from_stderr(&text);
        }
        self.tail.extend_from_slice(line);
        let excess = self.tail.len().saturating_sub(TAIL_BYTES);
        self.tail.drain(..excess);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Stderr {
        let stderr = Stderr::default();
        stderr.clone().read(bytes);
        stderr
    }

    #[test]
    fn only_the_end_is_kept() {
        let text: String = (0..2000).map(|n| format!("line {n}\n")).collect();
        let stderr = read(text.as_bytes());
        assert!(stderr.ended());
        assert!(stderr.tail().len() <= TAIL_BYTES);
        assert!(stderr.tail().ends_with("line 1999"));
    }

    #[test]
    fn an_endless_line_is_bounded() {
        let stderr = read(&[b'x'; 100_000]);
        assert_eq!(stderr.tail().len(), TAIL_BYTES);
    }

    #[test]
    fn the_first_endpoint_counts() {
        let stderr = read(
            b"\nDevTools listening on ws://127.0.0.1:1/devtools/browser/a\n\
              DevTools listening on ws://127.0.0.1:2/devtools/browser/b\n",
        );
        assert_eq!(stderr.endpoint().unwrap().port, 1);
    }

    #[test]
    fn silence_is_said() {
        assert_eq!(read(b"").tail(), "(nothing)");
    }

    /// What is longer than a piece is two lines to whoever looks for the endpoint.
    #[test]
    fn a_line_is_read_whole_up_to_the_length_of_a_piece() {
        let says = "DevTools listening on ws://127.0.0.1:1/devtools/browser/a\n";
        let piece = usize::try_from(LINE_BYTES).unwrap();
        let after = |length: usize| read(format!("{}{says}", "x".repeat(length)).as_bytes()).endpoint();
        assert!(after(piece - says.len()).is_some());
        assert!(after(piece - 10).is_none(), "it is cut after ten characters");
        assert!(after(piece).is_some(), "it is the next piece");
    }
}
