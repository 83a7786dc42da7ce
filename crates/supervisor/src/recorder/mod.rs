//! The recording of a task, written on a thread of its own: neither a slow disk nor a full one holds a task up.

mod folder;
mod options;
mod parts;
mod progress;
mod sink;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};

use supervisor_core::{At, Beginning, Checkpoint, Code, Command, Epoch, Failure, Net, Req};
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::endpoint::Endpoint;
use crate::limits::{RECORDING_BYTES, RECORDING_LINES};
use crate::wire::Conn;

pub use options::Recording;
pub use parts::{read_recording, recording_parts};
pub use progress::RecordingProgress;
pub(crate) use progress::Shared;
use sink::Sink;

/// What happened, with its text shared where it is the browser's.
pub(crate) enum Entry {
    Recv(Conn, Epoch, Utf8Bytes),
    Send(Conn, Utf8Bytes),
    Host(Req, Command),
    Net(Conn, Net),
    Tick,
    /// What the machine knows: the next part of the recording begins with it.
    Checkpoint(Box<Checkpoint>),
}

impl Entry {
    fn weight(&self) -> usize {
        match self {
            Entry::Recv(_, _, text) | Entry::Send(_, text) => text.as_str().len(),
            Entry::Host(_, Command::Call { params, .. }) => params.len(),
            Entry::Host(_, Command::Eval { expression, .. }) => expression.len(),
            Entry::Host(..) | Entry::Net(..) | Entry::Tick | Entry::Checkpoint(_) => 0,
        }
    }
}

/// Takes what happened in the core's order. Dropping it ends the recording once everything is written.
pub(crate) struct Recorder {
    lines: SyncSender<Record>,
    shared: Arc<Shared>,
    written: Written,
}

/// One thing that happened.
struct Record {
    at: At,
    entry: Entry,
    /// How many before it were lost.
    lost: u64,
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

impl Recorder {
    /// Creates the file, readable by its owner alone, and writes the header.
    ///
    /// # Errors
    /// `invalid_argument` when the file cannot be created; an existing file is not overwritten unless that was asked for.
    pub(crate) fn create(
        recording: &Recording,
        beginning: &Beginning,
        endpoint: &Endpoint,
    ) -> Result<Self, Failure> {
        let shared = Arc::<Shared>::default();
        let (writing, written) = watch::channel(());
        let (lines, waiting) = sync_channel(RECORDING_LINES);
        let started = Sink::begin(recording, beginning, endpoint, Arc::clone(&shared)).and_then(|sink| {
            let thread = std::thread::Builder::new().name("recorder".into());
            thread.spawn(move || {
                sink.run(&waiting);
                drop(writing);
            })
        });
        match started {
            Ok(_) => Ok(Self { lines, shared, written: Written(written) }),
            Err(error) => Err(unusable(&recording.path, &error)),
        }
    }

    /// Never waits: when the thread is too far behind, the line is counted as lost.
    pub(crate) fn record(&self, at: At, entry: Entry) {
        let weight = entry.weight();
        let lost = self.shared.unsaid.get();
        let has_room = self.shared.waiting.take(weight, RECORDING_BYTES);
        if has_room && self.lines.try_send(Record { at, entry, lost }).is_ok() {
            self.shared.unsaid.sub(lost);
        } else {
            self.shared.waiting.give_back(weight);
            self.shared.lost.add(1);
            self.shared.unsaid.add(1);
        }
    }

    /// Whether the next part is to begin, with what the machine knows now. Asked once, it is no more wanted.
    pub(crate) fn takes_checkpoint(&self) -> bool {
        self.shared.wants_checkpoint.take()
    }

    /// How far the recording is.
    pub(crate) fn shared(&self) -> Arc<Shared> {
        Arc::clone(&self.shared)
    }

    /// Ends the recording, and gives what tells when all of it is in the file.
    pub(crate) fn finish(self) -> Written {
        self.written
    }
}

fn unusable(path: &std::path::Path, error: &std::io::Error) -> Failure {
    let next = match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            "give a path that does not exist yet, or ask for it to be overwritten"
        }
        _ => "give a path in a folder that can be written to",
    };
    let text = format!("{} cannot be recorded to ({error}); {next}.", path.display());
    Failure::new(Code::InvalidArgument, text)
}

/// The file that a recording in this folder gets, or the file itself.
fn file_of(recording: &Recording) -> PathBuf {
    match recording.path.is_dir() {
        true => folder::next(&recording.path, recording.max_bytes),
        false => recording.path.clone(),
    }
}

#[cfg(test)]
mod tests;
