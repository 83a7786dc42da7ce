//! One connection: what the client asks is answered, and what a measurement wants is written.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use bench::frames::{self, Frame, push_text};
use bench::load;
use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, watch};
use tokio::time::timeout;

use crate::server::script::Script;

/// How long an answer may take before the run is given up.
const ANSWER: Duration = Duration::from_secs(120);

/// The way to one client.
pub(crate) struct Connection {
    write: Mutex<OwnedWriteHalf>,
    answers: Mutex<UnboundedReceiver<Instant>>,
    closed: watch::Receiver<bool>,
}

/// Reads what the client says until it leaves.
pub(crate) struct Reader {
    read: OwnedReadHalf,
    connection: Arc<Connection>,
    answered: UnboundedSender<Instant>,
    closed: watch::Sender<bool>,
    script: Script,
}

pub(crate) fn open(stream: TcpStream) -> (Reader, Arc<Connection>) {
    let (read, write) = stream.into_split();
    let (answered, answers) = unbounded_channel();
    let (closed, is_closed) = watch::channel(false);
    let connection =
        Arc::new(Connection { write: Mutex::new(write), answers: Mutex::new(answers), closed: is_closed });
    let reader =
        Reader { read, connection: Arc::clone(&connection), answered, closed, script: Script::default() };
    (reader, connection)
}

impl Connection {
    pub(crate) async fn write(&self, bytes: &[u8]) -> Result<()> {
        self.write.lock().await.write_all(bytes).await.context("the client is gone")
    }

    /// When the next answer to a dialog was read.
    pub(crate) async fn answer(&self) -> Result<Instant> {
        let answer = timeout(ANSWER, async { self.answers.lock().await.recv().await }).await;
        answer.context("the dialog was not answered")?.context("the client is gone")
    }

    /// The answer, if it is there already.
    pub(crate) async fn answered(&self) -> Option<Instant> {
        self.answers.lock().await.try_recv().ok()
    }

    /// Opens a dialog and waits for its answer.
    pub(crate) async fn dialog(&self, number: usize) -> Result<Duration> {
        let mut opening = Vec::new();
        push_text(&mut opening, &load::opening(number));
        let mut write = self.write.lock().await;
        let begin = Instant::now();
        write.write_all(&opening).await?;
        drop(write);
        Ok(self.answer().await?.duration_since(begin))
    }

    /// Leaves, as a browser that ends.
    pub(crate) async fn hang_up(&self) {
        let _ = self.write.lock().await.shutdown().await;
    }

    /// Waits until the client has left.
    pub(crate) async fn closed(&self) {
        let _ = self.closed.clone().wait_for(|closed| *closed).await;
    }
}

impl Reader {
    pub(crate) async fn run(mut self) {
        let mut buffer = Vec::with_capacity(4 * 1024);
        while let Ok(1..) = self.read.read_buf(&mut buffer).await {
            let at = Instant::now();
            let mut out = Vec::new();
            let mut goes_on = true;
            while let Some(frame) = frames::take(&mut buffer) {
                goes_on &= self.frame(at, &frame, &mut out);
            }
            if (!out.is_empty() && self.connection.write(&out).await.is_err()) || !goes_on {
                break;
            }
        }
        let _ = self.connection.write.lock().await.shutdown().await;
        let _ = self.closed.send(true);
    }

    /// Whether the client stays.
    fn frame(&mut self, at: Instant, frame: &Frame, out: &mut Vec<u8>) -> bool {
        match frame.opcode {
            frames::TEXT => self.command(at, &frame.payload, out),
            frames::PING => frames::push(out, frames::PONG, &frame.payload),
            frames::CLOSE => frames::push(out, frames::CLOSE, &frame.payload),
            _ => {}
        }
        frame.opcode != frames::CLOSE
    }

    fn command(&mut self, at: Instant, text: &[u8], out: &mut Vec<u8>) {
        let Ok(command) = serde_json::from_slice::<Value>(text) else { return };
        if command["method"] == "Page.handleJavaScriptDialog" {
            let _ = self.answered.send(at);
            push_text(out, &load::closed());
        }
        self.script.answer(&command).iter().for_each(|message| push_text(out, message));
    }
}
