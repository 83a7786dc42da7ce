//! What stands between a socket and its WebSocket: it reads much at once, and holds nothing while there is nothing.
//!
//! A WebSocket allocates its read buffer once and for good. A large one is most of an idle task's memory, a small one costs
//! a busy task a system call for every few messages. So the WebSocket has a small one, and this reads ahead for it into a
//! large one that is borrowed only while something is in it.

use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::head::Head;
use crate::limits::{READ_AHEAD, READ_AHEADS};
use crate::start::Stream;

/// A stream that is read ahead.
pub(crate) struct Tap {
    inner: Box<dyn Stream>,
    ahead: Option<Ahead>,
    /// While the answer to an upgrade is read.
    head: Option<Head>,
}

/// What was read and not yet asked for.
struct Ahead {
    buffer: Buffer,
    start: usize,
    end: usize,
}

type Buffer = Box<[u8]>;

impl Tap {
    #[cfg(test)]
    pub(crate) fn new(inner: Box<dyn Stream>) -> Self {
        Self { inner, ahead: None, head: None }
    }

    /// Of what is read first the answer to an upgrade is given alone.
    pub(crate) fn upgrading(inner: Box<dyn Stream>) -> Self {
        Self { inner, ahead: None, head: Some(Head::default()) }
    }

    /// Gives frames from now on, and says whether none were given yet.
    pub(crate) fn begin_frames(&mut self) -> bool {
        self.head.take().is_some_and(|head| head.has_ended())
    }

    /// Gives what was read ahead, and the buffer back once it is empty.
    fn give(&mut self, into: &mut ReadBuf<'_>) {
        let Some(ahead) = &mut self.ahead else { return };
        let count = into.remaining().min(ahead.end - ahead.start);
        let next = &ahead.buffer[ahead.start..ahead.start + count];
        let count = self.head.as_mut().map_or(count, |head| head.take(next));
        into.put_slice(&next[..count]);
        ahead.start += count;
        if ahead.start == ahead.end
            && let Some(ahead) = self.ahead.take()
        {
            give_back(ahead.buffer);
        }
    }

    /// The answer to an upgrade, too: what follows it may be given with it.
    fn read_directly(&mut self, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.head = None;
        Pin::new(&mut self.inner).poll_read(cx, into)
    }

    fn read_ahead(&mut self, mut buffer: Buffer, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut read = ReadBuf::new(&mut buffer);
        let polled = Pin::new(&mut self.inner).poll_read(cx, &mut read);
        match read.filled().len() {
            0 => give_back(buffer),
            end => self.ahead = Some(Ahead { buffer, start: 0, end }),
        }
        polled
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        if let Some(ahead) = self.ahead.take() {
            give_back(ahead.buffer);
        }
    }
}

impl AsyncRead for Tap {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ahead.is_none() {
            // Whoever has room for much needs nobody to read ahead; and where too many do, it is read as it is asked for.
            let buffer = if into.remaining() < READ_AHEAD { borrow() } else { None };
            let Some(buffer) = buffer else { return self.read_directly(cx, into) };
            ready!(self.read_ahead(buffer, cx))?;
        }
        self.give(into);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Tap {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }
}

/// The buffers of all sockets.
struct Pool {
    free: Vec<Buffer>,
    /// How many there are, those that are borrowed among them.
    made: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { free: Vec::new(), made: 0 });

fn borrow() -> Option<Buffer> {
    let mut pool = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    let free = pool.free.pop();
    if free.is_some() || pool.made == READ_AHEADS {
        return free;
    }
    pool.made += 1;
    drop(pool);
    Some(vec![0; READ_AHEAD].into_boxed_slice())
}

fn give_back(buffer: Buffer) {
    POOL.lock().unwrap_or_else(PoisonError::into_inner).free.push(buffer);
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    /// A stream and its other end.
    fn tapped() -> (Tap, tokio::io::DuplexStream) {
        let (ours, theirs) = tokio::io::duplex(4 * READ_AHEAD);
        (Tap::new(Box::new(ours)), theirs)
    }

    fn made() -> usize {
        POOL.lock().unwrap().made
    }

    #[tokio::test]
    async fn what_is_read_in_pieces_is_what_was_sent() {
        let (mut tap, mut peer) = tapped();
        let sent: Vec<u8> = (0..3 * READ_AHEAD + 7).map(|n| (n % 251) as u8).collect();
        peer.write_all(&sent).await.unwrap();
        drop(peer);
        let (mut read, mut piece) = (Vec::new(), vec![0; 2 * READ_AHEAD]);
        for size in [1, 100, 4_096, READ_AHEAD - 1, 2 * READ_AHEAD].into_iter().cycle() {
            let count = tap.read(&mut piece[..size]).await.unwrap();
            read.extend_from_slice(&piece[..count]);
            if count == 0 {
                break;
            }
        }
        assert!(read == sent, "{} of {} bytes", read.len(), sent.len());
        assert!(tap.ahead.is_none(), "at the end nothing is held");
    }

    /// The WebSocket then keeps what it read, and its larger buffer with it.
    #[tokio::test]
    async fn where_no_buffer_is_free_an_answer_is_given_with_what_follows() {
        let (ours, mut peer) = tokio::io::duplex(READ_AHEAD);
        let mut tap = Tap::upgrading(Box::new(ours));
        let sent = b"HTTP/1.1 101 Switching Protocols\r\n\r\nframes";
        peer.write_all(sent).await.unwrap();
        let mut bytes = vec![0; 4_096];
        let mut read = ReadBuf::new(&mut bytes);
        poll_fn(|cx| tap.read_directly(cx, &mut read)).await.unwrap();
        assert_eq!(read.filled(), sent);
        assert!(!tap.begin_frames());
    }

    #[tokio::test]
    async fn beyond_the_bound_sockets_are_read_as_they_are_asked() {
        let mut pairs: Vec<_> = (0..2 * READ_AHEADS).map(|_| tapped()).collect();
        for (tap, peer) in &mut pairs {
            peer.write_all(b"ab").await.unwrap();
            assert_eq!(tap.read_u8().await.unwrap(), b'a');
        }
        assert!(made() <= READ_AHEADS);
        assert!(pairs.iter().any(|(tap, _)| tap.ahead.is_none()), "there was none for all");
        for (tap, _) in &mut pairs {
            assert_eq!(tap.read_u8().await.unwrap(), b'b');
            assert!(tap.ahead.is_none());
        }
    }
}
