//! The recording of a task, written on a thread of its own: neither a slow disk nor a full one holds a task up.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use supervisor_core::{At, Beginning, Code, Command, Epoch, Failure, Input, Net, Req};
use supervisor_transcript::{Header, Writer};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::endpoint::Endpoint;
use crate::limits::{RECORDING_BYTES, RECORDING_LINES};

/// Bytes after which the thread writes, also while more lines wait.
const WRITE_AT: usize = 256 * 1024;

/// What happened, with its text shared where it is the browser's.
pub(crate) enum Entry {
    Recv(Epoch, Utf8Bytes),
    Send(Utf8Bytes),
    Host(Req, Command),
    Net(Net),
    Tick,
}

impl Entry {
    fn weight(&self) -> usize {
        match self {
            Entry::Recv(_, text) | Entry::Send(text) => text.as_str().len(),
            Entry::Host(_, Command::Call { params, .. }) => params.len(),
            Entry::Host(_, Command::Eval { expression, .. }) => expression.len(),
            Entry::Host(..) | Entry::Net(_) | Entry::Tick => 0,
        }
    }
}

/// Takes what happened in the core's order. Dropping it ends the recording once everything is written.
pub(crate) struct Recorder {
    lines: SyncSender<(At, Entry)>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    waiting_bytes: AtomicUsize,
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
        let sink =
            Sink { file, path: path.to_owned(), writer, shared: Arc::clone(&shared), text: Vec::new() };
        std::thread::Builder::new()
            .name("recorder".into())
            .spawn(move || sink.run(&waiting))
            .map_err(cannot)?;
        Ok(Self { lines, shared })
    }

    /// Never waits: when the thread is too far behind, the line is counted as lost.
    pub(crate) fn record(&self, at: At, entry: Entry) {
        let weight = entry.weight();
        let waiting = self.shared.waiting_bytes.fetch_add(weight, Ordering::Relaxed);
        if waiting + weight > RECORDING_BYTES.max(weight) || self.lines.try_send((at, entry)).is_err() {
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
}

impl Sink {
    fn run(mut self, waiting: &Receiver<(At, Entry)>) {
        while let Ok(first) = waiting.recv() {
            self.add(first);
            while self.text.len() < WRITE_AT
                && let Ok(next) = waiting.try_recv()
            {
                self.add(next);
            }
            if let Err(error) = self.file.write_all(&self.text) {
                tracing::error!(path = %self.path.display(), %error, "the recording ends here: it cannot be written");
                return;
            }
            self.text.clear();
        }
    }

    fn add(&mut self, (at, entry): (At, Entry)) {
        self.shared.waiting_bytes.fetch_sub(entry.weight(), Ordering::Relaxed);
        let lost = self.shared.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let line = format!(
                "{{\"t\":{}.{:06},\"dir\":\"lost\",\"lines\":{lost}}}\n",
                at.0 / 1_000_000,
                at.0 % 1_000_000
            );
            self.text.extend_from_slice(line.as_bytes());
        }
        self.write(at, &entry);
    }

    fn write(&mut self, at: At, entry: &Entry) {
        let input = match entry {
            Entry::Send(text) => return self.writer.sent(at, text.as_str(), &mut self.text),
            Entry::Recv(epoch, text) => Input::Received { epoch: *epoch, text: text.as_str() },
            Entry::Host(req, command) => Input::Host { req: *req, command: command.clone() },
            Entry::Net(net) => Input::Net(net.clone()),
            Entry::Tick => Input::Tick,
        };
        self.writer.input(at, &input, &mut self.text);
    }
}
