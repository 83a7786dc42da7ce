//! How events are written: in blocks, because a store's cost is by the key.
//!
//! ```text
//! byte 0      the version, 2
//! bytes 1..5  how many events, big-endian
//! then each   4 bytes its length, 4 bytes a CRC-32 of it, big-endian, and the event as JSON
//! ```
//!
//! The events of a block have numbers without a gap.
//!
//! Version 1 was one event a record: the version, the CRC-32 of what follows, the event as JSON.
//!
//! Fields are only ever added to events, so a newer program reads older records. A change that is more than that gets a new
//! version here, and the older ones are read for ever.

use supervisor_core::Recorded;

/// The version that is written.
pub const VERSION: u8 = 2;

/// How long a block grows before another one is begun. A store rewrites some sixteen blocks at once now and then, so that
/// larger ones cost it more; much smaller ones cost a key for a few events.
const BLOCK: usize = 16 * 1024;

/// Of its version and the number of its events.
const HEAD: usize = 5;

/// Some events of a run, one after the other.
pub(crate) struct Block {
    /// The number of its first event.
    pub(crate) first: u64,
    pub(crate) bytes: Vec<u8>,
}

/// What a record holds.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) events: Vec<Recorded>,
    pub(crate) unreadable: u64,
}

pub(crate) fn encode(events: &[Recorded]) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut rest = events;
    while let Some(first) = rest.first().map(|event| event.seq) {
        let mut bytes = vec![VERSION, 0, 0, 0, 0];
        let mut count = 0;
        while bytes.len() < BLOCK
            && let Some(event) = rest.get(count)
            && event.seq == first + count as u64
        {
            push(&mut bytes, event);
            count += 1;
        }
        bytes[1..HEAD].copy_from_slice(&u32::try_from(count).unwrap_or(u32::MAX).to_be_bytes());
        blocks.push(Block { first, bytes });
        rest = &rest[count..];
    }
    blocks
}

fn push(bytes: &mut Vec<u8>, event: &Recorded) {
    let at = bytes.len();
    bytes.extend([0; 8]);
    // Writing a plain value into memory cannot fail; if it did, the sum would not fit and the event be counted.
    let written = serde_json::to_writer(&mut *bytes, event).is_ok();
    let json = &bytes[at + 8..];
    let (length, sum) = (u32::try_from(json.len()).unwrap_or(u32::MAX), crc32fast::hash(json));
    bytes[at..at + 4].copy_from_slice(&length.to_be_bytes());
    bytes[at + 4..at + 8].copy_from_slice(&(sum ^ u32::from(!written)).to_be_bytes());
}

/// How many events a record holds, as it says itself.
pub(crate) fn count(bytes: &[u8]) -> u64 {
    match bytes {
        [VERSION, a, b, c, d, ..] => u64::from(u32::from_be_bytes([*a, *b, *c, *d])),
        _ => 1,
    }
}

/// Events that are damaged, or of an unknown version, are counted.
pub(crate) fn decode(bytes: &[u8]) -> Read {
    match bytes.first() {
        Some(1) => version_1(&bytes[1..]).map_or(Read { events: Vec::new(), unreadable: 1 }, |event| Read {
            events: vec![event],
            unreadable: 0,
        }),
        Some(&VERSION) if bytes.len() >= HEAD => block(&bytes[HEAD..], count(bytes)),
        _ => Read { events: Vec::new(), unreadable: 1 },
    }
}

fn version_1(rest: &[u8]) -> Option<Recorded> {
    let (sum, json) = rest.split_at_checked(4)?;
    checked(u32::from_be_bytes(sum.try_into().ok()?), json)
}

/// Where a length is damaged, what follows cannot be found.
fn block(mut rest: &[u8], count: u64) -> Read {
    let mut read = Read::default();
    let mut passed = 0;
    while passed < count
        && let Some((sum, json, after)) = next(rest)
    {
        read.events.extend(checked(sum, json));
        rest = after;
        passed += 1;
    }
    read.unreadable = count - read.events.len() as u64;
    read
}

/// The sum and the text of the next event, and what follows.
fn next(rest: &[u8]) -> Option<(u32, &[u8], &[u8])> {
    let (length, rest) = rest.split_at_checked(4)?;
    let (sum, rest) = rest.split_at_checked(4)?;
    let length = usize::try_from(u32::from_be_bytes(length.try_into().ok()?)).ok()?;
    let (json, rest) = rest.split_at_checked(length)?;
    Some((u32::from_be_bytes(sum.try_into().ok()?), json, rest))
}

fn checked(sum: u32, json: &[u8]) -> Option<Recorded> {
    (crc32fast::hash(json) == sum).then(|| serde_json::from_slice(json).ok())?
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
        let blocks = encode(&events);
        assert!(blocks.len() > 1 && blocks.len() < events.len(), "{}", blocks.len());
        assert!(blocks.iter().all(|block| block.bytes.len() <= BLOCK + text.len() + 200));
        let read: Vec<Read> = blocks.iter().map(|block| decode(&block.bytes)).collect();
        assert!(read.iter().all(|read| read.unreadable == 0));
        assert!(blocks.iter().zip(&read).all(|(block, read)| block.first == read.events[0].seq));
        assert!(blocks.iter().zip(&read).all(|(it, read)| count(&it.bytes) == read.events.len() as u64));
        let read: Vec<Recorded> = read.into_iter().flat_map(|read| read.events).collect();
        assert_eq!(read, events);
        assert!(encode(&[]).is_empty());
    }

    #[test]
    fn a_gap_begins_a_new_block() {
        let events = [event(1, "a"), event(2, "b"), event(4, "d"), event(4, "again")];
        let firsts: Vec<u64> = encode(&events).iter().map(|block| block.first).collect();
        assert_eq!(firsts, [1, 4, 4]);
    }

    #[test]
    fn a_damaged_event_is_not_believed_and_counted() {
        let events = [event(1, "a"), event(2, "b"), event(3, "c")];
        let block = &encode(&events)[0];
        for place in HEAD..block.bytes.len() {
            let mut damaged = block.bytes.clone();
            damaged[place] ^= 1;
            let read = decode(&damaged);
            assert!(read.unreadable >= 1, "byte {place}");
            assert_eq!(read.events.len() as u64 + read.unreadable, 3);
            assert!(read.events.iter().all(|read| events.contains(read)));
        }
        for length in 0..block.bytes.len() {
            assert!(decode(&block.bytes[..length]).unreadable >= 1, "{length} bytes");
        }
    }

    /// As version 1 wrote it: this must be read for ever.
    #[test]
    fn a_record_of_version_1() {
        let bytes = *b"\x01\x78\xb7\xad\x81{\"seq\":3,\"at\":7,\"event\":\"stopped\"}";
        let event = Recorded { seq: 3, at: At(7), event: Event::Stopped };
        assert_eq!(decode(&bytes), Read { events: vec![event], unreadable: 0 });
        assert_eq!(count(&bytes), 1);
    }

    /// As version 2 wrote it.
    #[test]
    fn a_record_of_version_2() {
        let json = br#"{"seq":3,"at":7,"event":"stopped"}"#;
        let bytes = [b"\x02\0\0\0\x01\0\0\0\x22\x78\xb7\xad\x81".as_slice(), json].concat();
        let event = Recorded { seq: 3, at: At(7), event: Event::Stopped };
        assert_eq!(decode(&bytes), Read { events: vec![event.clone()], unreadable: 0 });
        assert_eq!(encode(&[event])[0].bytes, bytes);
    }

    #[test]
    fn a_record_of_a_later_version_is_not_guessed_at() {
        let mut bytes = encode(&[event(3, "x")]).remove(0).bytes;
        bytes[0] = VERSION + 1;
        assert_eq!(decode(&bytes), Read { events: Vec::new(), unreadable: 1 });
    }
}
