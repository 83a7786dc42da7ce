//! The identifiers of the model: numbers inside, texts on the wire.
//!
//! They are given out by actions alone, never by the order in which a client is served, so that the same actions give
//! the same identifiers whatever is delivered when.

use std::fmt;

use serde::{Serialize, Serializer};
use serde_json::Value;

/// A frame. The id of an iframe's or page's target is its frame's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct FrameNo(pub(crate) u32);

/// One life of a frame's document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LoaderNo(pub(crate) u32);

/// A renderer process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ProcessNo(pub(crate) u32);

/// A dialog; the wire does not know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct DialogNo(pub(crate) u32);

/// A connection of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Wire {
    /// The one that does everything.
    Main,
    /// A second one beside it.
    Guard,
}

/// A flat session: its connection, the target's number, and which of its sessions there it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionNo {
    pub(crate) wire: Wire,
    pub(crate) target: u32,
    pub(crate) nth: u32,
}

const FRAME: &str = "FRAME";
const SESSION: &str = "SESSION";
const GUARD: &str = "GUARD";

impl FrameNo {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        text.strip_prefix(FRAME)?.parse().ok().map(Self)
    }
}

impl SessionNo {
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (wire, rest) = match text.strip_prefix(SESSION) {
            Some(rest) => (Wire::Main, rest),
            None => (Wire::Guard, text.strip_prefix(GUARD)?),
        };
        let (target, nth) = rest.split_once('.')?;
        Some(Self { wire, target: target.parse().ok()?, nth: nth.parse().ok()? })
    }
}

impl fmt::Display for FrameNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{FRAME}{}", self.0)
    }
}

impl fmt::Display for LoaderNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "LOADER{}", self.0)
    }
}

impl fmt::Display for SessionNo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.wire == Wire::Main { SESSION } else { GUARD };
        write!(f, "{name}{}.{}", self.target, self.nth)
    }
}

macro_rules! written_as_text {
    ($($name:ident),+) => {
        $(
            impl Serialize for $name {
                fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                    serializer.collect_str(self)
                }
            }

            impl From<$name> for Value {
                fn from(id: $name) -> Self {
                    Value::String(id.to_string())
                }
            }
        )+
    };
}

written_as_text!(FrameNo, LoaderNo, SessionNo);

/// Gives out numbers, each once.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counter(u32);

impl Counter {
    pub(crate) fn next(&mut self) -> u32 {
        self.0 += 1;
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_as_they_are_written() {
        for (wire, text) in [(Wire::Main, "SESSION7.2"), (Wire::Guard, "GUARD7.2")] {
            let session = SessionNo { wire, target: 7, nth: 2 };
            assert_eq!(session.to_string(), text);
            assert_eq!(SessionNo::parse(text), Some(session));
        }
        assert_eq!(FrameNo::parse("FRAME3"), Some(FrameNo(3)));
        assert_eq!((SessionNo::parse("SESSION7"), FrameNo::parse("3")), (None, None));
    }
}
