//! The task that reads a socket: messages in batches, in order, no faster than they are handled.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::stream::SplitStream;
use futures_util::{FutureExt, StreamExt};
use supervisor_core::{Epoch, Net};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};
use tokio_tungstenite::tungstenite::error::{CapacityError, Error};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::dial::Socket;
use crate::limits::{BATCH_BYTES, BATCH_CREDITS, BATCH_MESSAGES, MAX_MESSAGE, SILENCE};
use crate::slot::Slot;
use crate::task::TaskMessage;

/// What the browser sent, in the socket's order.
pub(crate) struct Batch {
    pub(crate) epoch: Epoch,
    pub(crate) frames: Vec<Frame>,
    /// Dropped when the batch was handled: then the reader may read another.
    pub(crate) credit: OwnedSemaphorePermit,
}

/// One message.
pub(crate) enum Frame {
    Text(Utf8Bytes),
    /// No text; its length.
    Garbage(usize),
}

impl Frame {
    fn len(&self) -> usize {
        match self {
            Frame::Text(text) => text.as_str().len(),
            Frame::Garbage(bytes) => *bytes,
        }
    }
}

pub(crate) struct Reader {
    slot: Arc<Slot>,
    epoch: Epoch,
    stream: SplitStream<Socket>,
    credits: Arc<Semaphore>,
    /// Set once we hung up: what still arrives is read, so that the close is clean, and thrown away.
    hung_up: Arc<AtomicBool>,
    writer_failed: mpsc::Receiver<String>,
    look: Interval,
    heard: Instant,
}

impl Reader {
    pub(crate) fn new(
        slot: Arc<Slot>,
        epoch: Epoch,
        stream: SplitStream<Socket>,
        hung_up: Arc<AtomicBool>,
        writer_failed: mpsc::Receiver<String>,
    ) -> Self {
        let credits = Arc::new(Semaphore::new(BATCH_CREDITS));
        let mut look = interval(SILENCE / 6);
        look.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self { slot, epoch, stream, credits, hung_up, writer_failed, look, heard: Instant::now() }
    }

    /// Reads until the socket ends, and says so after the last message.
    pub(crate) async fn run(mut self) {
        let reason = loop {
            let Ok(credit) = Arc::clone(&self.credits).acquire_owned().await else { return };
            match self.batch().await {
                Ok(frames) => self.hand_over(frames, credit),
                Err((frames, reason)) => {
                    self.hand_over(frames, credit);
                    break reason;
                }
            }
        };
        if !self.hung_up.load(Ordering::Acquire) {
            self.slot.tell(TaskMessage::Net(Net::Lost { epoch: self.epoch, reason }));
        }
    }

    fn hand_over(&self, frames: Vec<Frame>, credit: OwnedSemaphorePermit) {
        if !frames.is_empty() && !self.hung_up.load(Ordering::Acquire) {
            self.slot.tell(TaskMessage::Batch(Batch { epoch: self.epoch, frames, credit }));
        }
    }

    /// The next message, and what came with it. When the socket ended: what came before, and why it did.
    async fn batch(&mut self) -> Result<Vec<Frame>, (Vec<Frame>, String)> {
        let mut frames = Vec::new();
        let mut bytes = 0;
        let mut message = Some(self.next().await);
        while let Some(received) = message {
            match received.and_then(frame) {
                Ok(Some(frame)) => {
                    bytes += frame.len();
                    frames.push(frame);
                }
                Ok(None) => {}
                Err(reason) => return Err((frames, reason)),
            }
            let room = frames.len() < BATCH_MESSAGES && bytes < BATCH_BYTES;
            message = if room { self.stream.next().now_or_never().map(read) } else { None };
        }
        self.heard = Instant::now();
        Ok(frames)
    }

    /// Waits for a message: for as long as the socket gives a sign of life.
    async fn next(&mut self) -> Result<Message, String> {
        loop {
            tokio::select! {
                biased;
                message = self.stream.next() => return read(message),
                // A writer that was told to close only ends: what the browser still says is read to its end.
                Some(reason) = self.writer_failed.recv() => return Err(reason),
                _ = self.look.tick() => {
                    if self.heard.elapsed() >= SILENCE {
                        return Err(format!("nothing arrived for {} s, not even a pong", SILENCE.as_secs()));
                    }
                }
            }
        }
    }
}

fn read(message: Option<Result<Message, Error>>) -> Result<Message, String> {
    match message {
        Some(Ok(message)) => Ok(message),
        Some(Err(error)) => Err(reason(&error)),
        None => Err("the browser closed the connection".to_owned()),
    }
}

fn reason(error: &Error) -> String {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { size, .. }) => {
            format!("a message of {size} bytes is longer than the {MAX_MESSAGE} that are accepted")
        }
        Error::ConnectionClosed | Error::AlreadyClosed => "the browser closed the connection".to_owned(),
        other => format!("the socket failed ({other})"),
    }
}

/// `None` for pings and pongs: signs of life and nothing else.
fn frame(message: Message) -> Result<Option<Frame>, String> {
    match message {
        Message::Text(text) => Ok(Some(Frame::Text(text))),
        Message::Binary(bytes) => Ok(Some(Frame::Garbage(bytes.len()))),
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => Ok(None),
        Message::Close(Some(close)) => {
            Err(format!("the browser closed the connection (code {})", u16::from(close.code)))
        }
        Message::Close(None) => Err("the browser closed the connection".to_owned()),
    }
}
