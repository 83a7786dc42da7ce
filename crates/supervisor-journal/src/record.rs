//! How an event is written: a version, a sum, and JSON.
//!
//! ```text
//! byte 0      the version
//! bytes 1..5  CRC-32 of what follows, big-endian
//! bytes 5..   the event as JSON
//! ```
//!
//! Fields are only ever added to events, so a newer program reads older records. A change that is more than that gets a new
//! version and a line in [`upcast`].

use supervisor_core::Recorded;

/// The version that is written.
pub const VERSION: u8 = 1;

pub(crate) fn encode(event: &Recorded) -> Vec<u8> {
    let mut bytes = vec![VERSION, 0, 0, 0, 0];
    // Writing a plain value into memory cannot fail; if it did, the sum would not fit and the record be counted.
    let written = serde_json::to_writer(&mut bytes, event).is_ok();
    let sum = crc32fast::hash(&bytes[5..]) ^ u32::from(!written);
    bytes[1..5].copy_from_slice(&sum.to_be_bytes());
    bytes
}

/// `None` for a record that is damaged or of an unknown version.
pub(crate) fn decode(bytes: &[u8]) -> Option<Recorded> {
    let (version, rest) = bytes.split_first()?;
    let (sum, json) = rest.split_at_checked(4)?;
    let sum = u32::from_be_bytes(sum.try_into().ok()?);
    (crc32fast::hash(json) == sum).then(|| upcast(*version, json))?
}

/// Reads the JSON of any version as the present event.
fn upcast(version: u8, json: &[u8]) -> Option<Recorded> {
    match version {
        VERSION => serde_json::from_slice(json).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use supervisor_core::{At, Event};

    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written_and_a_damaged_one_is_not_believed() {
        let event = Recorded { seq: 3, at: At(7), event: Event::Stopped };
        let bytes = encode(&event);
        assert_eq!(decode(&bytes), Some(event));
        for place in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[place] ^= 1;
            assert_eq!(decode(&damaged), None, "byte {place}");
        }
        assert!((0..5).all(|length| decode(&bytes[..length]).is_none()));
    }

    /// As version 1 wrote it: this must be read for ever.
    #[test]
    fn a_record_of_version_1() {
        let bytes = *b"\x01\x78\xb7\xad\x81{\"seq\":3,\"at\":7,\"event\":\"stopped\"}";
        assert_eq!(decode(&bytes), Some(Recorded { seq: 3, at: At(7), event: Event::Stopped }));
    }

    #[test]
    fn a_record_of_a_later_version_is_not_guessed_at() {
        let mut bytes = encode(&Recorded { seq: 3, at: At(7), event: Event::Stopped });
        bytes[0] = VERSION + 1;
        assert_eq!(decode(&bytes), None);
    }
}
