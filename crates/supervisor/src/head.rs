//! Where the answer to an upgrade ends, and frames begin.
//!
//! A WebSocket keeps the buffer that it read the answer into, for good, if there may be more in it. Whoever gives it the
//! answer and not a byte more can have a smaller one made.

/// How the answer begins that frames follow. Any other is the last that is said, and its body is to be read with it.
const SWITCHING: &[u8] = b"HTTP/1.1 101";

/// Ends the head of an answer.
const END: &[u8] = b"\r\n\r\n";

/// How far the answer was given.
#[derive(Debug, Default)]
pub(crate) struct Head {
    seen: usize,
    matched: usize,
    is_other: bool,
}

impl Head {
    /// How many of the next bytes may be given: those of the answer, or all where it is no such answer.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> usize {
        if self.has_ended() {
            // Whoever asks for more does not end the answer where this does.
            *self = Self { is_other: true, ..Self::default() };
        }
        for (count, byte) in (1..).zip(bytes) {
            let is_bare = *byte == b'\n' && END.get(self.matched) != Some(byte);
            self.is_other |= is_bare || SWITCHING.get(self.seen).is_some_and(|expected| expected != byte);
            if self.is_other {
                return bytes.len();
            }
            self.seen += 1;
            self.matched =
                if *byte == END[self.matched] { self.matched + 1 } else { usize::from(*byte == END[0]) };
            if self.has_ended() {
                return count;
            }
        }
        bytes.len()
    }

    /// Whether the answer was given to its end, and nothing behind it.
    pub(crate) fn has_ended(&self) -> bool {
        self.matched == END.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANSWER: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\r\n\r\n";

    #[test]
    fn the_answer_ends_where_frames_begin_however_it_is_cut() {
        let whole = [ANSWER, b"\x81\x02{}"].concat();
        for cut in 0..ANSWER.len() {
            let mut head = Head::default();
            assert_eq!(head.take(&whole[..cut]), cut);
            assert!(!head.has_ended());
            assert_eq!(cut + head.take(&whole[cut..]), ANSWER.len());
            assert!(head.has_ended());
        }
    }

    #[test]
    fn any_other_answer_is_given_with_its_body() {
        let texts = [
            "HTTP/1.1 500 No\r\n\r\nNo such target",
            "HTTP/1.0 101 Old\r\n\r\nframes",
            "\r\nHTTP/1.1 101",
            "HTTP/1.1 101 Bare\nUpgrade: websocket\n\nframes\r\n\r\n",
            "HTTP/1.1 101 Half bare\r\nUpgrade: websocket\r\n\nframes\r\n\r\n",
        ];
        for text in texts {
            let mut head = Head::default();
            assert_eq!(head.take(text.as_bytes()), text.len());
            assert!(!head.has_ended());
        }
    }

    #[test]
    fn who_asks_on_behind_the_end_gets_all() {
        let mut head = Head::default();
        assert_eq!(head.take(ANSWER), ANSWER.len());
        assert_eq!(head.take(b"more\r\n\r\n"), 8);
        assert!(!head.has_ended());
    }
}
