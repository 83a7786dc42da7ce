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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures_util::SinkExt;
    use tokio::time::{sleep, timeout};

    use super::*;
    use crate::rig::{Rig, reading};

    async fn batch(rig: &mut Rig) -> Batch {
        match rig.told.recv().await {
            Some(TaskMessage::Batch(batch)) => batch,
            Some(TaskMessage::Net(net)) => panic!("a batch, not {net:?}"),
            _ => panic!("a batch"),
        }
    }

    async fn lost(rig: &mut Rig) -> String {
        match rig.told.recv().await {
            Some(TaskMessage::Net(Net::Lost { epoch: Epoch(1), reason })) => reason,
            _ => panic!("the loss"),
        }
    }

    fn texts(batch: &Batch) -> Vec<String> {
        let text = |frame: &Frame| match frame {
            Frame::Text(text) => text.to_string(),
            Frame::Garbage(bytes) => format!("{bytes} bytes"),
        };
        batch.frames.iter().map(text).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn at_most_two_batches_are_not_handled() {
        let (mut rig, mut browser) = reading().await;
        let total = 10 * BATCH_MESSAGES;
        let writing = tokio::spawn(async move {
            for n in 0..total {
                browser.send(Message::text(n.to_string())).await.unwrap();
            }
            browser
        });
        let (first, second) = (batch(&mut rig).await, batch(&mut rig).await);
        // On paused time this second is over once nothing else can happen.
        let third = timeout(Duration::from_secs(1), rig.told.recv()).await;
        assert!(third.is_err(), "a third batch came before one was handled");
        let mut seen = [texts(&first), texts(&second)].concat();
        drop((first, second));
        while seen.len() < total {
            let next = batch(&mut rig).await;
            assert!(next.frames.len() <= BATCH_MESSAGES);
            seen.extend(texts(&next));
        }
        assert!(seen.iter().enumerate().all(|(n, text)| *text == n.to_string()), "the socket's order");
        drop(writing.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn a_batch_is_bounded_in_bytes() {
        let (mut rig, mut browser) = reading().await;
        let large = "x".repeat(BATCH_BYTES / 2 + 1);
        let writing = tokio::spawn(async move {
            for _ in 0..6 {
                browser.send(Message::text(large.clone())).await.unwrap();
            }
            browser
        });
        let mut seen = 0;
        while seen < 6 {
            let next = batch(&mut rig).await;
            assert!(next.frames.len() <= 2, "{}", next.frames.len());
            seen += next.frames.len();
        }
        drop(writing.await.unwrap());
    }

    #[tokio::test(start_paused = true)]
    async fn the_loss_comes_after_the_last_message() {
        let (mut rig, mut browser) = reading().await;
        browser.send(Message::text("last")).await.unwrap();
        browser.send(Message::binary(vec![0; 3])).await.unwrap();
        browser.close(None).await.unwrap();
        let mut seen = Vec::new();
        while seen.len() < 2 {
            seen.extend(texts(&batch(&mut rig).await));
        }
        assert_eq!(seen, ["last", "3 bytes"]);
        assert_eq!(lost(&mut rig).await, "the browser closed the connection");
    }

    #[tokio::test(start_paused = true)]
    async fn silence_is_a_loss_and_a_pong_is_none() {
        let (mut rig, mut browser) = reading().await;
        for _ in 0..10 {
            sleep(SILENCE * 2 / 3).await;
            browser.send(Message::Pong(bytes::Bytes::new())).await.unwrap();
        }
        assert!(rig.told.try_recv().is_err());
        let begin = Instant::now();
        assert!(lost(&mut rig).await.contains("not even a pong"));
        assert!((SILENCE..SILENCE * 4 / 3).contains(&begin.elapsed()), "{:?}", begin.elapsed());
    }

    #[test]
    fn a_message_that_is_too_long_says_how_long() {
        let error = CapacityError::MessageTooLong { size: 300, max_size: 200 };
        assert!(reason(&Error::Capacity(error)).starts_with("a message of 300 bytes is longer than"));
    }

    #[tokio::test(start_paused = true)]
    async fn a_writer_that_failed_is_a_loss() {
        let (mut rig, _browser) = reading().await;
        rig.writer_failed.send("it broke".to_owned()).await.unwrap();
        assert_eq!(lost(&mut rig).await, "it broke");
    }
}
