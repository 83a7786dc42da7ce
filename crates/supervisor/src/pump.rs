//! The task of an open socket: it gives the machine what the browser says, and writes what the machine sends.
//!
//! One task does both, and the machine's turn is part of it: between a dialog and its answer nobody has to be woken. What is
//! urgent is written after the very message that it answers; a batch bounds what stands before others.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_util::{SinkExt, StreamExt};
use supervisor_core::{EndpointKind, Epoch, Net};
use tokio::task::yield_now;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval};
use tokio_tungstenite::tungstenite::error::{CapacityError, Error};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::dial::Socket;
use crate::lanes::Lanes;
use crate::limits::{BATCH_BYTES, BATCH_MESSAGES, BEAT, MAX_MESSAGE, PING_EVERY, READ_BUFFER, SILENCE};
use crate::shell::Turn;
use crate::slot::Slot;
use crate::task::TaskMessage;
use crate::wire::Conn;

/// An open socket and what it is for.
pub(crate) struct Pump {
    slot: Arc<Slot>,
    /// Which connection of the task, and which of its sockets.
    place: Place,
    socket: Socket,
    out: Out,
    beat: Interval,
    heard: Instant,
    pinged: Instant,
}

/// Whose socket it is, by its number.
type Place = (Conn, Epoch);

/// Why a socket is over.
type Reason = String;

/// Has this task polled again once nobody else is ready. Its waker would do that, too, but wake another thread each time to
/// take it over, batch after batch.
fn come_back(cx: &mut Context<'_>) {
    let later = pin!(yield_now());
    let _ = later.poll(cx);
}

/// How far reading came.
enum Read {
    /// There is nothing more at the moment.
    Dry,
    /// There may be more: others come first.
    Paused,
}

impl Pump {
    pub(crate) fn new(slot: Arc<Slot>, place: Place, socket: Socket, lanes: Lanes) -> Self {
        let mut beat = interval(BEAT);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let out = Out { lanes, ping: false, unflushed: false };
        Self { slot, place, socket, out, beat, heard: Instant::now(), pinged: Instant::now() }
    }

    /// Works until the socket ends, and says so after the last message; says nothing when it was told to close.
    pub(crate) async fn run(&mut self, endpoint: EndpointKind, name: Option<String>) {
        self.begin(endpoint, name);
        let reason = poll_fn(|cx| self.poll(cx)).await;
        let (conn, epoch) = self.place;
        match self.out.lanes.is_closing() {
            true => self.close().await,
            false => self.slot.tell(TaskMessage::Net(conn, Net::Lost { epoch, reason })),
        }
    }

    /// The machine hears of the socket before anything that arrives on it.
    fn begin(&self, endpoint: EndpointKind, name: Option<String>) {
        let mut turn = Turn::begin(&self.slot);
        if let Some(browser) = name.filter(|_| self.place.0 == Conn::Main) {
            turn.net(Conn::Main, Net::Named { epoch: self.place.1, browser });
        }
        turn.connected(self.place, endpoint, self.out.lanes.clone());
        self.end(turn.end());
    }

    /// Ready when the socket is over, or is to be closed and everything urgent is written.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        self.out.lanes.awake();
        loop {
            let written = self.out.write(&mut self.socket, cx);
            match written {
                Poll::Ready(Err(error)) => return Poll::Ready(write_failed(&error)),
                Poll::Ready(Ok(())) if self.out.lanes.is_closing() => return Poll::Ready(Reason::new()),
                _ => {}
            }
            match self.read(cx) {
                Err(reason) => return Poll::Ready(reason),
                Ok(Read::Paused) => {
                    come_back(cx);
                    return Poll::Pending;
                }
                Ok(Read::Dry) => {}
            }
            if let Poll::Ready(reason) = self.beat(cx) {
                return Poll::Ready(reason);
            }
            // Where the browser takes nothing, the socket wakes us once it does.
            let is_idle = self.out.lanes.sleep(cx.waker()) && !self.out.ping;
            if is_idle || written.is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// A batch: some messages, each with what it leads to.
    fn read(&mut self, cx: &mut Context<'_>) -> Result<Read, Reason> {
        if self.slot.is_wanted() {
            return Ok(Read::Paused);
        }
        let Poll::Ready(first) = self.socket.poll_next_unpin(cx) else { return Ok(Read::Dry) };
        self.heard = Instant::now();
        let mut turn = Turn::begin(&self.slot);
        let read = batch(&mut turn, self.place, &mut self.socket, &mut self.out, first, cx);
        let goes_on = turn.end();
        self.end(goes_on);
        read
    }

    /// The task's actor is the one that gives up.
    fn end(&self, goes_on: bool) {
        if !goes_on {
            self.slot.tell(TaskMessage::Wake);
        }
    }

    /// Pings, and looks whether the browser still gives a sign of life.
    fn beat(&mut self, cx: &mut Context<'_>) -> Poll<Reason> {
        while self.beat.poll_tick(cx).is_ready() {
            if self.heard.elapsed() >= SILENCE {
                let silence = SILENCE.as_secs();
                return Poll::Ready(format!("nothing arrived for {silence} s, not even a pong"));
            }
            // A beat comes a little early or late. Exactly compared, each second ping would come a whole beat later.
            self.out.ping |= self.pinged.elapsed() + BEAT / 2 >= PING_EVERY;
        }
        if self.out.ping {
            self.pinged = Instant::now();
        }
        Poll::Pending
    }

    /// Closes cleanly: what the browser still says is read to its end, and thrown away.
    async fn close(&mut self) {
        let _ = SinkExt::close(&mut self.socket).await;
        while let Some(Ok(message)) = self.socket.next().await {
            if message.is_close() {
                break;
            }
        }
    }
}

/// Reads on for as long as there is something and the batch is not full.
fn batch(
    turn: &mut Turn<'_>,
    place: Place,
    socket: &mut Socket,
    out: &mut Out,
    first: Received,
    cx: &mut Context<'_>,
) -> Result<Read, Reason> {
    let (mut received, mut messages, mut bytes) = (first, 0, 0);
    loop {
        let message = received.ok_or_else(closed)?.map_err(|error| reason(&error))?;
        messages += 1;
        bytes += message.len();
        hear(turn, place, &message)?;
        if turn.has_sent() {
            if let Poll::Ready(Err(error)) = out.write(socket, cx) {
                return Err(write_failed(&error));
            }
            // Those who only watch come after the answer.
            turn.settle();
        }
        // A short message leaves its place in the read buffer before the next one is read. A long one is kept until then:
        // the buffer that was made for it cannot be used again, and the next one is small.
        let _long = Some(message).filter(|message| message.len() > READ_BUFFER);
        if messages >= BATCH_MESSAGES || bytes >= BATCH_BYTES {
            return Ok(Read::Paused);
        }
        match socket.poll_next_unpin(cx) {
            Poll::Ready(next) => received = next,
            Poll::Pending => return Ok(Read::Dry),
        }
    }
}

/// What a socket gives: a message, an error, or its end.
type Received = Option<Result<Message, Error>>;

/// What is to be written.
struct Out {
    lanes: Lanes,
    ping: bool,
    unflushed: bool,
}

impl Out {
    /// Everything urgent with one flush; then host calls one by one, so that one at most stands before what is urgent.
    fn write(&mut self, socket: &mut Socket, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        loop {
            ready!(socket.poll_ready_unpin(cx))?;
            let next = match std::mem::take(&mut self.ping) {
                true => Some(Message::Ping(Bytes::new())),
                false => self.lanes.next(!self.unflushed).map(Message::Text),
            };
            match next {
                Some(message) => {
                    socket.start_send_unpin(message)?;
                    self.unflushed = true;
                }
                None if self.unflushed => {
                    ready!(socket.poll_flush_unpin(cx))?;
                    self.unflushed = false;
                }
                None => return Poll::Ready(Ok(())),
            }
        }
    }
}

/// Pings and pongs are signs of life and nothing else.
fn hear(turn: &mut Turn<'_>, (conn, epoch): Place, message: &Message) -> Result<(), Reason> {
    match message {
        Message::Text(text) => turn.received(conn, epoch, text),
        Message::Binary(bytes) => turn.net(conn, Net::Garbage { epoch, bytes: bytes.len() }),
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => {}
        Message::Close(Some(close)) => {
            return Err(format!("{} (code {})", closed(), u16::from(close.code)));
        }
        Message::Close(None) => return Err(closed()),
    }
    Ok(())
}

fn closed() -> Reason {
    "the browser closed the connection".to_owned()
}

fn reason(error: &Error) -> Reason {
    match error {
        Error::Capacity(CapacityError::MessageTooLong { size, .. }) => {
            format!("a message of {size} bytes is longer than the {MAX_MESSAGE} that are accepted")
        }
        Error::ConnectionClosed | Error::AlreadyClosed => closed(),
        other => format!("the socket failed ({other})"),
    }
}

fn write_failed(error: &Error) -> Reason {
    format!("the socket cannot be written to ({error})")
}

#[cfg(test)]
mod tests;
