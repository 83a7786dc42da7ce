//! The recorder's thread: lines into files.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use supervisor_core::{At, Beginning, Checkpoint};
use supervisor_transcript::{Entry as Said, GuardEntry, Header, Line, Redactor, Writer};

use super::parts::Parts;
use super::{Entry, Record, Recording, Shared, file_of};
use crate::endpoint::Endpoint;
use crate::seed;
use crate::wire::Conn;

/// Bytes after which the thread writes, also while more lines wait.
const WRITE_AT: usize = 256 * 1024;

pub(super) struct Sink {
    parts: Parts,
    header: Header,
    writer: Writer,
    redactor: Option<Redactor>,
    shared: Arc<Shared>,
    /// Lines that are not in the file yet.
    text: Vec<u8>,
    last: At,
    /// Whether lines were lost that no checkpoint came after.
    has_gap: bool,
}

impl Sink {
    /// Creates the file and writes the header.
    pub(super) fn begin(
        recording: &Recording,
        beginning: &Beginning,
        endpoint: &Endpoint,
        shared: Arc<Shared>,
    ) -> io::Result<Self> {
        let mut header = Header::new(beginning.clone(), endpoint.to_string());
        header.why.clone_from(&recording.why);
        header.recorded_with.clone_from(&recording.recorded_with);
        let mut text = Vec::new();
        let writer = Writer::begin(&header, &mut text);
        let redactor = recording.redact.then(|| Redactor::keyed(&secret()));
        let parts = Parts::create(file_of(recording), recording.max_bytes, recording.overwrite)?;
        let _ = shared.path.set(parts.path().to_owned());
        let mut sink = Self { parts, header, writer, redactor, shared, text, last: At(0), has_gap: false };
        sink.flush()?;
        Ok(sink)
    }

    pub(super) fn run(mut self, waiting: &Receiver<Record>) {
        if let Err(error) = self.write_all(waiting) {
            let path = self.parts.path().display();
            tracing::error!(%path, %error, "the recording ends here: it cannot be written");
            let _ = self.shared.failure.set(error.to_string());
        }
    }

    /// Until the task is over.
    fn write_all(&mut self, waiting: &Receiver<Record>) -> io::Result<()> {
        while let Ok(first) = waiting.recv() {
            self.add(first)?;
            while self.text.len() < WRITE_AT
                && let Ok(next) = waiting.try_recv()
            {
                self.add(next)?;
            }
            self.rest()?;
        }
        self.note_loss(self.last, self.shared.unsaid.get())?;
        self.flush()
    }

    /// Nothing waits at this moment.
    pub(super) fn rest(&mut self) -> io::Result<()> {
        self.flush()?;
        if self.parts.is_full() {
            self.shared.wants_checkpoint.raise();
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.parts.write(&self.text)?;
        self.text.clear();
        self.shared.bytes.set(self.parts.bytes());
        Ok(())
    }

    pub(super) fn add(&mut self, record: Record) -> io::Result<()> {
        self.shared.waiting.give_back(record.entry.weight());
        self.last = record.at;
        self.note_loss(record.at, record.lost)?;
        match record.entry {
            Entry::Checkpoint(checkpoint) => self.checkpoint(record.at, &checkpoint),
            entry => self.line(record.at, entry),
        }
    }

    /// A checkpoint then tells what the lost lines changed.
    fn note_loss(&mut self, at: At, lines: u64) -> io::Result<()> {
        if lines > 0 {
            self.has_gap = true;
            self.shared.wants_checkpoint.raise();
            self.append(&Line { at, entry: Said::Lost { lines } })?;
        }
        Ok(())
    }

    fn line(&mut self, at: At, entry: Entry) -> io::Result<()> {
        let said = said(&entry);
        let is_message = matches!(
            said,
            Said::Recv { .. }
                | Said::Send { .. }
                | Said::Guard(GuardEntry::Recv { .. } | GuardEntry::Send { .. })
        );
        self.shared.messages.add(u64::from(is_message));
        let line = Line { at, entry: said }.without_secrets();
        let line = match &self.redactor {
            Some(redactor) => redactor.line(line),
            None => line,
        };
        self.append(&line)
    }

    /// A line for which there is no room, even when the parts before are dropped, is lost.
    fn append(&mut self, line: &Line<'_>) -> io::Result<()> {
        let before = self.text.len();
        self.writer.line(line, &mut self.text);
        let dropped = self.parts.make_room(self.text.len() as u64)?;
        self.note_dropped(dropped);
        if !self.parts.fits(self.text.len() as u64) {
            self.text.truncate(before);
            self.shared.lost.add(1);
            self.shared.unsaid.add(1);
        }
        Ok(())
    }

    /// The next part begins with it, if this one is full; or it tells what lost lines changed.
    fn checkpoint(&mut self, at: At, checkpoint: &Checkpoint) -> io::Result<()> {
        self.flush()?;
        let is_full = self.parts.is_full();
        if !is_full && !self.has_gap {
            return Ok(());
        }
        let mut known = Vec::new();
        if is_full {
            self.header.part += 1;
            self.writer.part(&self.header, &mut known);
        }
        self.write_checkpoint(at, checkpoint, &mut known);
        self.has_gap = false;
        let dropped = if is_full { self.parts.turn_over(&known)? } else { self.parts.insert(&known)? };
        self.note_dropped(dropped);
        Ok(())
    }

    fn note_dropped(&self, parts: u64) {
        self.shared.bytes.set(self.parts.bytes());
        self.shared.dropped_parts.add(parts);
        if parts > 0 {
            let path = self.parts.path().display();
            tracing::info!(%path, parts, "the recording is as large as it may be: its oldest part was dropped");
        }
    }

    fn write_checkpoint(&mut self, at: At, checkpoint: &Checkpoint, out: &mut Vec<u8>) {
        match &self.redactor {
            Some(redactor) => {
                let json = serde_json::to_string(checkpoint).unwrap_or_default();
                self.writer.checkpoint_json(at, &redactor.checkpoint(&json), out);
            }
            None => self.writer.checkpoint(at, checkpoint, out),
        }
    }
}

/// What happened, as a line says it.
fn said(entry: &Entry) -> Said<'_> {
    match entry {
        Entry::Recv(Conn::Main, epoch, text) => Said::Recv { epoch: *epoch, text: text.as_str().into() },
        Entry::Recv(Conn::Guard, epoch, text) => {
            Said::Guard(GuardEntry::Recv { epoch: *epoch, text: text.as_str().into() })
        }
        Entry::Send(Conn::Main, text) => Said::Send { text: text.as_str().into() },
        Entry::Send(Conn::Guard, text) => Said::Guard(GuardEntry::Send { text: text.as_str().into() }),
        Entry::Host(req, command) => Said::Host { req: *req, command: command.clone() },
        Entry::Net(Conn::Main, net) => Said::Net(net.clone()),
        Entry::Net(Conn::Guard, net) => Said::Guard(GuardEntry::Net(net.clone())),
        Entry::Tick | Entry::Checkpoint(_) => Said::Tick,
    }
}

/// Nobody else has it: the texts of a redacted recording cannot be tried.
fn secret() -> Vec<u8> {
    (0..4).flat_map(|_| seed::fresh().to_ne_bytes()).collect()
}
