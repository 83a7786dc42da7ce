//! Events as they are written: in blocks, because a store's cost is by the key and by the byte.
//!
//! ```text
//! byte 0      the version, 3
//! bytes 1..5  how many events, big-endian
//! bytes 5..9  a CRC-32 of the count and of all that follows, big-endian
//! then each   the event as a value: what JSON would say, in fewer bytes
//!
//! 00 null   01 false   02 true   03 a whole number   04 one below zero, its bits turned over   05 a double, big-endian
//! 06 a text: its length, its bytes   07 a list … 09   08 a map: key, value, … 09
//! 40 to 7f    a text of 0 to 63 bytes   80 to ff  with the next byte, less 8000: the place of a text that was there before
//! ```
//!
//! Whole numbers and lengths have seven bits a byte, the lowest first. The events of a block have numbers without a gap.
//! Names and ids come again and again, so a text that was there is named by its place: an event takes some sixty bytes, and
//! is made in half of the time that JSON takes.

mod read;
mod write;

use supervisor_core::Recorded;

pub(crate) use read::read;
use write::Writer;

/// The version that is written.
pub const VERSION: u8 = 3;

/// How long a block grows before another one is begun. A store rewrites some sixteen blocks at once now and then, and puts
/// what is longer than 128 KiB into files of their own; much smaller ones cost a key for a few events.
const BLOCK: usize = 7 * 1024;

/// Of its version, the number of its events, and the sum.
const HEAD: usize = 9;

/// Some events of a run, one after the other, as they are written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    first: u64,
    bytes: Vec<u8>,
}

impl Block {
    /// These events, in as many blocks as they need.
    #[must_use]
    pub fn of(events: &[Recorded]) -> Vec<Self> {
        let mut packer = Packer::default();
        events.iter().for_each(|event| packer.push(event));
        packer.take()
    }

    /// The events in it.
    #[must_use]
    pub fn events(&self) -> Vec<Recorded> {
        read(&self.bytes).events
    }

    /// How many bytes it takes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.bytes.len()
    }

    /// The number of its first event.
    pub(crate) fn first(&self) -> u64 {
        self.first
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Makes blocks of events.
#[derive(Debug, Default)]
pub(crate) struct Packer {
    done: Vec<Block>,
    open: Option<Open>,
}

/// A block that grows.
#[derive(Debug)]
struct Open {
    first: u64,
    count: u32,
    writer: Writer,
}

impl Packer {
    pub(crate) fn push(&mut self, event: &Recorded) {
        if self.open.as_ref().is_some_and(|open| !open.takes(event)) {
            self.close();
        }
        self.open.get_or_insert_with(|| Open::at(event.seq)).push(event);
    }

    /// All until now, the open block with them.
    pub(crate) fn take(&mut self) -> Vec<Block> {
        self.close();
        std::mem::take(&mut self.done)
    }

    fn close(&mut self) {
        self.done.extend(self.open.take().filter(|open| open.count > 0).map(Open::close));
    }
}

impl Open {
    fn at(first: u64) -> Self {
        Self { first, count: 0, writer: Writer::new(vec![VERSION, 0, 0, 0, 0, 0, 0, 0, 0]) }
    }

    fn takes(&self, event: &Recorded) -> bool {
        self.writer.bytes.len() < BLOCK && event.seq == self.first + u64::from(self.count)
    }

    fn push(&mut self, event: &Recorded) {
        // Writing a plain value into memory cannot fail; if it did, the event would be missing in the run.
        self.count += u32::from(self.writer.push(event));
    }

    fn close(self) -> Block {
        let mut bytes = self.writer.bytes;
        bytes[1..5].copy_from_slice(&self.count.to_be_bytes());
        let sum = sum(&bytes).to_be_bytes();
        bytes[5..HEAD].copy_from_slice(&sum);
        Block { first: self.first, bytes }
    }
}

/// Of a whole block, but for the sum itself and the version.
fn sum(block: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&block[1..5]);
    hasher.update(&block[HEAD..]);
    hasher.finalize()
}

/// What a value begins with.
mod token {
    pub(super) const NULL: u8 = 0x00;
    pub(super) const FALSE: u8 = 0x01;
    pub(super) const TRUE: u8 = 0x02;
    pub(super) const WHOLE: u8 = 0x03;
    pub(super) const BELOW_ZERO: u8 = 0x04;
    pub(super) const DOUBLE: u8 = 0x05;
    pub(super) const LONG_TEXT: u8 = 0x06;
    pub(super) const LIST: u8 = 0x07;
    pub(super) const MAP: u8 = 0x08;
    pub(super) const END: u8 = 0x09;
    pub(super) const SHORT_TEXT: u8 = 0x40;
    pub(super) const KNOWN_TEXT: u8 = 0x80;

    /// What a short text's length is below.
    pub(super) const SHORT: usize = 0x40;

    /// What the place of a text that is named again is below.
    pub(super) const NEAR: usize = 0x8000;
}

#[cfg(test)]
mod tests {
    use supervisor_core::{At, Event};

    use super::*;

    fn event(seq: u64, text: &str) -> Recorded {
        Recorded { seq, at: At(7), event: Event::BrowserIdentified { product: text.into() } }
    }

    #[test]
    fn events_are_read_as_they_were_written() {
        let text = "x".repeat(BLOCK / 3);
        let events: Vec<Recorded> =
            (1..=20).map(|seq| event(seq, &text[..text.len() / seq as usize])).collect();
        let blocks = Block::of(&events);
        assert!(blocks.len() > 1 && blocks.len() < events.len(), "{}", blocks.len());
        assert!(blocks.iter().all(|block| block.bytes.len() <= BLOCK + text.len() + 200));
        assert!(blocks.iter().all(|block| block.first == block.events()[0].seq));
        let read: Vec<Recorded> = blocks.iter().flat_map(Block::events).collect();
        assert_eq!(read, events);
        assert!(Block::of(&[]).is_empty());
    }

    #[test]
    fn a_gap_begins_a_new_block() {
        let events = [event(1, "a"), event(2, "b"), event(4, "d"), event(4, "again")];
        let firsts: Vec<u64> = Block::of(&events).iter().map(Block::first).collect();
        assert_eq!(firsts, [1, 4, 4]);
    }

    #[test]
    fn what_was_said_before_is_named_by_its_place() {
        let events: Vec<Recorded> = (1..=50).map(|seq| event(seq, "the same text again and again")).collect();
        let blocks = Block::of(&events);
        assert!(blocks[0].bytes.len() < 50 * 20, "{}", blocks[0].bytes.len());
        assert_eq!(blocks[0].events(), events);
    }

    #[test]
    fn a_damaged_block_is_not_believed_and_its_events_counted() {
        let bytes = Block::of(&[event(1, "a"), event(2, "b"), event(3, "c")]).remove(0).bytes;
        for place in HEAD..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let read = read(&damaged);
            assert_eq!((read.events.len(), read.unreadable), (0, 3), "byte {place}");
        }
        for length in 0..bytes.len() {
            assert!(read(&bytes[..length]).unreadable >= 1, "{length} bytes");
        }
    }

    /// Bytes that are no block but have a right sum: nothing is made of them that was not said, and nothing fails.
    #[test]
    fn nonsense_with_a_right_sum_is_counted() {
        let good = Block::of(&[event(1, "a"), event(2, "b"), event(3, "c")]).remove(0).bytes;
        for place in HEAD..good.len() {
            for byte in 0..=u8::MAX {
                let mut damaged = good.clone();
                damaged[place] = byte;
                let sum = sum(&damaged).to_be_bytes();
                damaged[5..HEAD].copy_from_slice(&sum);
                let read = read(&damaged);
                assert_eq!(read.events.len() as u64 + read.unreadable, 3, "byte {place}");
            }
        }
    }
}
