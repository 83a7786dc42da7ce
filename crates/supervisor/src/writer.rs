//! The task that writes a socket: what is urgent comes before host calls, and one message at most stands before it.

use futures_util::SinkExt;
use futures_util::stream::SplitSink;
use supervisor_core::Lane;
use tokio::sync::mpsc;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use crate::dial::Socket;
use crate::limits::{HOST_LANE, PING_EVERY, URGENT_LANE};

/// What goes out.
enum Outgoing {
    Text(Utf8Bytes),
    /// Nothing more comes: close.
    Close,
}

/// The way into the writer. The task's actor puts messages in itself: no hop in between.
#[derive(Clone)]
pub(crate) struct Lanes {
    urgent: mpsc::Sender<Outgoing>,
    host: mpsc::Sender<Outgoing>,
}

/// The browser takes nothing: the lane is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneFull;

impl Lanes {
    /// # Errors
    /// [`LaneFull`]. A writer that is gone is no error: the reader reports the loss.
    pub(crate) fn send(&self, lane: Lane, text: Utf8Bytes) -> Result<(), LaneFull> {
        let lane = match lane {
            Lane::Urgent => &self.urgent,
            Lane::Host => &self.host,
        };
        match lane.try_send(Outgoing::Text(text)) {
            Err(mpsc::error::TrySendError::Full(_)) => Err(LaneFull),
            Ok(()) | Err(mpsc::error::TrySendError::Closed(_)) => Ok(()),
        }
    }

    /// After what is in the urgent lane, closes. Says whether that will happen.
    pub(crate) fn close(&self) -> bool {
        self.urgent.try_send(Outgoing::Close).is_ok()
    }
}

pub(crate) struct Writer {
    sink: SplitSink<Socket, Message>,
    urgent: mpsc::Receiver<Outgoing>,
    host: mpsc::Receiver<Outgoing>,
    ping: Interval,
}

/// Whether to go on.
type Goes = Result<bool, tokio_tungstenite::tungstenite::Error>;

impl Writer {
    pub(crate) fn new(sink: SplitSink<Socket, Message>) -> (Self, Lanes) {
        let (urgent_in, urgent) = mpsc::channel(URGENT_LANE);
        let (host_in, host) = mpsc::channel(HOST_LANE);
        let mut ping = interval(PING_EVERY);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        ping.reset();
        (Self { sink, urgent, host, ping }, Lanes { urgent: urgent_in, host: host_in })
    }

    /// Ends with the reason when the socket fails, with `None` when it was told to close.
    pub(crate) async fn run(mut self) -> Option<String> {
        loop {
            match self.one_turn().await {
                Ok(true) => {}
                Ok(false) => {
                    let _ = self.sink.close().await;
                    return None;
                }
                Err(error) => return Some(format!("the socket cannot be written to ({error})")),
            }
        }
    }

    async fn one_turn(&mut self) -> Goes {
        tokio::select! {
            biased;
            urgent = self.urgent.recv() => self.burst(urgent).await,
            host = self.host.recv() => self.single(host).await,
            _ = self.ping.tick() => self.sink.send(Message::Ping(bytes::Bytes::new())).await.map(|()| true),
        }
    }

    /// Everything urgent that is there, with one flush.
    async fn burst(&mut self, first: Option<Outgoing>) -> Goes {
        let mut next = first;
        loop {
            match next {
                Some(Outgoing::Text(text)) => self.sink.feed(Message::Text(text)).await?,
                Some(Outgoing::Close) | None => return self.sink.flush().await.map(|()| false),
            }
            match self.urgent.try_recv() {
                Ok(more) => next = Some(more),
                Err(_) => return self.sink.flush().await.map(|()| true),
            }
        }
    }

    async fn single(&mut self, message: Option<Outgoing>) -> Goes {
        match message {
            Some(Outgoing::Text(text)) => self.sink.send(Message::Text(text)).await.map(|()| true),
            Some(Outgoing::Close) | None => Ok(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::StreamExt;
    use tokio::time::Instant;

    use super::*;
    use crate::rig::sockets;

    async fn next(browser: &mut Socket) -> Message {
        browser.next().await.unwrap().unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_urgent_overtakes_host_calls() {
        let (sink, _stream, mut browser) = sockets().await;
        let (writer, lanes) = Writer::new(sink);
        for (lane, text) in
            [(Lane::Host, "h1"), (Lane::Host, "h2"), (Lane::Urgent, "u1"), (Lane::Urgent, "u2")]
        {
            lanes.send(lane, text.into()).unwrap();
        }
        tokio::spawn(writer.run());
        for text in ["u1", "u2", "h1", "h2"] {
            assert_eq!(next(&mut browser).await, Message::text(text));
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_message_at_most_stands_before_an_answer() {
        let (sink, _stream, mut browser) = sockets().await;
        let (writer, lanes) = Writer::new(sink);
        tokio::spawn(writer.run());
        // More than the pipe holds: the first is being written while the others wait.
        let large = Utf8Bytes::from("x".repeat(64 * 1024));
        for _ in 0..10 {
            lanes.send(Lane::Host, large.clone()).unwrap();
        }
        tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        lanes.send(Lane::Urgent, "answer".into()).unwrap();
        assert_eq!(next(&mut browser).await.len(), large.as_str().len());
        assert_eq!(next(&mut browser).await, Message::text("answer"));
    }

    #[tokio::test(start_paused = true)]
    async fn closing_writes_what_is_urgent_and_no_more() {
        let (sink, _stream, mut browser) = sockets().await;
        let (writer, lanes) = Writer::new(sink);
        lanes.send(Lane::Host, "call".into()).unwrap();
        lanes.send(Lane::Urgent, "answer".into()).unwrap();
        assert!(lanes.close());
        let writing = tokio::spawn(writer.run());
        assert_eq!(next(&mut browser).await, Message::text("answer"));
        assert_eq!(next(&mut browser).await, Message::Close(None));
        assert_eq!(writing.await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn an_idle_socket_is_pinged() {
        let (sink, _stream, mut browser) = sockets().await;
        let (writer, _lanes) = Writer::new(sink);
        let begin = Instant::now();
        tokio::spawn(writer.run());
        assert_eq!(next(&mut browser).await, Message::Ping(bytes::Bytes::new()));
        assert_eq!(begin.elapsed().as_secs(), PING_EVERY.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn a_browser_that_takes_nothing_fills_the_lane() {
        let (sink, _stream, _browser) = sockets().await;
        let (_writer, lanes) = Writer::new(sink);
        for _ in 0..URGENT_LANE {
            lanes.send(Lane::Urgent, "x".into()).unwrap();
        }
        assert_eq!(lanes.send(Lane::Urgent, "x".into()), Err(LaneFull));
        assert_eq!(lanes.send(Lane::Host, "x".into()), Ok(()));
    }
}
