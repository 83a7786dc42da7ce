//! The recording of a task, written on a thread of its own: neither a slow disk nor a full one holds a task up.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use supervisor_core::{At, Beginning, Code, Command, Epoch, Failure, GuardInput, Input, Net, Req};
use supervisor_transcript::{Header, Writer};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::endpoint::Endpoint;
use crate::limits::{RECORDING_BYTES, RECORDING_LINES};
use crate::wire::Conn;

/// Bytes after which the thread writes, also while more lines wait.
const WRITE_AT: usize = 256 * 1024;

/// What happened, with its text shared where it is the browser's.
pub(crate) enum Entry {
    Recv(Conn, Epoch, Utf8Bytes),
    Send(Conn, Utf8Bytes),
    Host(Req, Command),
    Net(Conn, Net),
    Tick,
}

impl Entry {
    fn weight(&self) -> usize {
        match self {
            Entry::Recv(_, _, text) | Entry::Send(_, text) => text.as_str().len(),
            Entry::Host(_, Command::Call { params, .. }) => params.len(),
            Entry::Host(_, Command::Eval { expression, .. }) => expression.len(),
            Entry::Host(..) | Entry::Net(..) | Entry::Tick => 0,
        }
    }
}

/// Takes what happened in the core's order. Dropping it ends the recording once everything is written.
pub(crate) struct Recorder {
    lines: SyncSender<Record>,
    shared: Arc<Shared>,
    written: Written,
}

/// Tells when nothing more will be written to a recording.
#[derive(Clone)]
pub(crate) struct Written(watch::Receiver<()>);

impl Written {
    pub(crate) async fn wait(mut self) {
        // Nothing is ever sent: this ends when the thread does.
        while self.0.changed().await.is_ok() {}
    }
}

/// One thing that happened.
struct Record {
    at: At,
    entry: Entry,
    /// How many before it were lost.
    lost: u64,
}

#[derive(Default)]
struct Shared {
    waiting_bytes: AtomicUsize,
    /// Those that no record has told of yet.
    lost: AtomicU64,
}

impl Recorder {
    /// Creates the file, readable by its owner alone, and writes the header.
    ///
    /// # Errors
    /// `invalid_argument` when the file cannot be created; an existing file is not overwritten.
    pub(crate) fn create(path: &Path, beginning: &Beginning, endpoint: &Endpoint) -> Result<Self, Failure> {
        let cannot = |error: std::io::Error| {
            let next = "give a path that does not exist yet, in a folder that can be written to";
            Failure::new(
                Code::InvalidArgument,
                format!("{} cannot be recorded to ({error}); {next}.", path.display()),
            )
        };
        let mut file = create_private(path).map_err(cannot)?;
        let mut text = Vec::new();
        let writer = Writer::begin(&Header::new(beginning.clone(), endpoint.to_string()), &mut text);
        file.write_all(&text).map_err(cannot)?;
        let (lines, waiting) = sync_channel(RECORDING_LINES);
        let shared = Arc::<Shared>::default();
        let (writing, written) = watch::channel(());
        let sink = Sink {
            file,
            path: path.to_owned(),
            writer,
            shared: Arc::clone(&shared),
            text: Vec::new(),
            last: At(0),
            _writing: writing,
        };
        std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || sink.run(&waiting))
            .map_err(cannot)?;
        Ok(Self { lines, shared, written: Written(written) })
    }

    /// Ends the recording, and gives what tells when all of it is in the file.
    pub(crate) fn finish(self) -> Written {
        self.written
    }

    /// Never waits: when the thread is too far behind, the line is counted as lost.
    pub(crate) fn record(&self, at: At, entry: Entry) {
        let weight = entry.weight();
        let lost = self.shared.lost.load(Ordering::Relaxed);
        let waiting = self.shared.waiting_bytes.fetch_add(weight, Ordering::Relaxed);
        let has_room = waiting + weight <= RECORDING_BYTES.max(weight);
        if has_room && self.lines.try_send(Record { at, entry, lost }).is_ok() {
            self.shared.lost.fetch_sub(lost, Ordering::Relaxed);
        } else {
            self.shared.waiting_bytes.fetch_sub(weight, Ordering::Relaxed);
            self.shared.lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

struct Sink {
    file: File,
    path: PathBuf,
    writer: Writer,
    shared: Arc<Shared>,
    text: Vec<u8>,
    last: At,
    /// Dropped at the end.
    _writing: watch::Sender<()>,
}

impl Sink {
    fn run(mut self, waiting: &Receiver<Record>) {
        let written = self.write_all(waiting);
        if let Err(error) = written {
            tracing::error!(path = %self.path.display(), %error, "the recording ends here: it cannot be written");
        }
    }

    /// Until the task is over.
    fn write_all(&mut self, waiting: &Receiver<Record>) -> std::io::Result<()> {
        while let Ok(first) = waiting.recv() {
            self.add(first);
            while self.text.len() < WRITE_AT
                && let Ok(next) = waiting.try_recv()
            {
                self.add(next);
            }
            self.file.write_all(&self.text)?;
            self.text.clear();
        }
        self.note_loss(self.last, self.shared.lost.load(Ordering::Relaxed));
        self.file.write_all(&self.text)
    }

    fn add(&mut self, record: Record) {
        self.shared.waiting_bytes.fetch_sub(record.entry.weight(), Ordering::Relaxed);
        self.last = record.at;
        self.note_loss(record.at, record.lost);
        self.write(record.at, &record.entry);
    }

    fn note_loss(&mut self, at: At, lines: u64) {
        if lines > 0 {
            self.writer.lost(at, lines, &mut self.text);
        }
    }

    fn write(&mut self, at: At, entry: &Entry) {
        let input = match entry {
            Entry::Send(Conn::Main, text) => return self.writer.sent(at, text.as_str(), &mut self.text),
            Entry::Send(Conn::Guard, text) => {
                return self.writer.sent_by_guard(at, text.as_str(), &mut self.text);
            }
            Entry::Recv(Conn::Main, epoch, text) => Input::Received { epoch: *epoch, text: text.as_str() },
            Entry::Recv(Conn::Guard, epoch, text) => {
                Input::Guard(GuardInput::Received { epoch: *epoch, text: text.as_str() })
            }
            Entry::Host(req, command) => Input::Host { req: *req, command: command.clone() },
            Entry::Net(Conn::Main, net) => Input::Net(net.clone()),
            Entry::Net(Conn::Guard, net) => Input::Guard(GuardInput::Net(net.clone())),
            Entry::Tick => Input::Tick,
        };
        self.writer.input(at, &input, &mut self.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A recorder whose thread has not begun yet.
    fn stalled(path: &Path) -> (Recorder, Sink, Receiver<Record>) {
        let (lines, waiting) = sync_channel(RECORDING_LINES);
        let shared = Arc::<Shared>::default();
        let mut text = Vec::new();
        let writer = Writer::begin(&Header::new(Beginning::default(), ""), &mut text);
        let file = create_private(path).unwrap();
        let (_writing, written) = watch::channel(());
        let sink = Sink {
            file,
            path: path.to_owned(),
            writer,
            shared: Arc::clone(&shared),
            text,
            last: At(0),
            _writing,
        };
        (Recorder { lines, shared, written: Written(written) }, sink, waiting)
    }

    fn written(lines: impl IntoIterator<Item = Entry>, then: impl IntoIterator<Item = Entry>) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.cdp.jsonl");
        let (recorder, mut sink, waiting) = stalled(&path);
        lines.into_iter().for_each(|entry| recorder.record(At(1), entry));
        while let Ok(line) = waiting.try_recv() {
            sink.add(line);
        }
        then.into_iter().for_each(|entry| recorder.record(At(2), entry));
        drop(recorder);
        sink.run(&waiting);
        std::fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn lines_beyond_the_bound_are_counted_where_they_are_missing() {
        let text = written((0..RECORDING_LINES + 7).map(|_| Entry::Tick), [Entry::Tick]);
        let lost = r#"{"t":0.000002,"dir":"lost","lines":7}"#;
        assert_eq!(text.lines().nth(RECORDING_LINES + 1), Some(lost));
        assert_eq!(text.lines().count(), 1 + RECORDING_LINES + 2);
        let replayed = supervisor_transcript::drive(text.as_bytes()).unwrap();
        assert_eq!(replayed.counts.lost_lines, 7);
    }

    #[test]
    fn bytes_beyond_the_bound_are_lost_too_but_one_large_message_is_not() {
        let large = Utf8Bytes::from("x".repeat(RECORDING_BYTES + 1));
        let one = Entry::Recv(Conn::Main, Epoch(0), large.clone());
        let text = written([one, Entry::Send(Conn::Main, large)], []);
        assert!(text.contains(r#""dir":"lost","lines":1}"#));
        assert_eq!(text.matches(r#""dir":"recv""#).count(), 1);
        assert_eq!(text.matches(r#""dir":"send""#).count(), 0);
    }
}
