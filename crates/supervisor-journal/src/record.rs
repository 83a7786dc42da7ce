//! What a store holds under a key: a block of events, as this version or an older one wrote it.
//!
//! ```text
//! version 1   the version, a CRC-32 of what follows, one event as JSON
//! version 2   the version, how many events; then each 4 bytes its length, 4 bytes a CRC-32 of it, and the event as JSON
//! version 3   packed/mod.rs
//! ```
//!
//! Fields are only ever added to events, so a newer program reads older records. A change that is more than that gets a new
//! version, and the older ones are read for ever. All numbers are big-endian.

use supervisor_core::Recorded;

use crate::packed::{self, VERSION};

/// Of the version and the number of events.
const HEAD: usize = 5;

/// What a record holds.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Read {
    pub(crate) events: Vec<Recorded>,
    pub(crate) unreadable: u64,
}

/// How many events a record holds, as it says itself.
pub(crate) fn count(bytes: &[u8]) -> u64 {
    match bytes {
        [2 | VERSION, a, b, c, d, ..] => u64::from(u32::from_be_bytes([*a, *b, *c, *d])),
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
        Some(2) if bytes.len() >= HEAD => version_2(&bytes[HEAD..], count(bytes)),
        Some(&VERSION) => packed::read(bytes),
        _ => Read { events: Vec::new(), unreadable: 1 },
    }
}

fn version_1(rest: &[u8]) -> Option<Recorded> {
    let (sum, json) = rest.split_at_checked(4)?;
    checked(u32::from_be_bytes(sum.try_into().ok()?), json)
}

/// Where a length is damaged, what follows cannot be found.
fn version_2(mut rest: &[u8], count: u64) -> Read {
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
    use crate::packed::Block;

    fn stopped(seq: u64) -> Recorded {
        Recorded { seq, at: At(7), event: Event::Stopped }
    }

    /// As version 1 wrote it: this must be read for ever.
    #[test]
    fn a_record_of_version_1() {
        let bytes = *b"\x01\x78\xb7\xad\x81{\"seq\":3,\"at\":7,\"event\":\"stopped\"}";
        assert_eq!(decode(&bytes), Read { events: vec![stopped(3)], unreadable: 0 });
        assert_eq!(count(&bytes), 1);
    }

    /// As version 2 wrote it.
    #[test]
    fn a_record_of_version_2() {
        let json = br#"{"seq":3,"at":7,"event":"stopped"}"#;
        let event = [b"\0\0\0\x22\x78\xb7\xad\x81".as_slice(), json].concat();
        let bytes = [b"\x02\0\0\0\x02".as_slice(), &event, &event].concat();
        assert_eq!(decode(&bytes), Read { events: vec![stopped(3), stopped(3)], unreadable: 0 });
        assert_eq!(count(&bytes), 2);
        for place in HEAD..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            let read = decode(&damaged);
            assert!(read.unreadable >= 1 && read.events.len() as u64 + read.unreadable == 2, "byte {place}");
        }
        for length in 0..bytes.len() {
            assert!(decode(&bytes[..length]).unreadable >= 1, "{length} bytes");
        }
    }

    /// As version 3 wrote it.
    #[test]
    fn a_record_of_version_3() {
        let first = b"\x08\x43seq\x03\x03\x42at\x03\x07\x45event\x47stopped\x09";
        let second = b"\x08\x80\x0a\x03\x04\x80\x10\x03\x07\x80\x15\x80\x1b\x09";
        let sum = crc32fast::hash(&[b"\0\0\0\x02".as_slice(), first, second].concat()).to_be_bytes();
        let bytes = [b"\x03\0\0\0\x02".as_slice(), &sum, first, second].concat();
        let events = vec![stopped(3), stopped(4)];
        assert_eq!(Block::of(&events)[0].bytes(), bytes);
        assert_eq!(decode(&bytes), Read { events, unreadable: 0 });
        assert_eq!(count(&bytes), 2);
    }

    #[test]
    fn a_record_of_a_later_version_is_not_guessed_at() {
        let mut bytes = Block::of(&[stopped(3)])[0].bytes().to_vec();
        bytes[0] = VERSION + 1;
        assert_eq!(decode(&bytes), Read { events: Vec::new(), unreadable: 1 });
    }
}
