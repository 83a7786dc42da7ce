//! Bytes to typed Chrome DevTools Protocol (CDP) messages and back.
//!
//! Two steps, so that what nobody needs is never parsed: [`decode`] reads the envelope and leaves `params`, `result` and
//! `error` as text; [`Event::known`] parses the parameters of the events that are modelled here, one file per CDP domain.
//! Everything is borrowed from the message. Any bytes give a value or a typed [`WireError`]; nothing panics.
//!
//! This crate is pure: no I/O, no clock, no randomness.
//!
//! ```
//! use cdp_wire::{decode, Known, Message};
//!
//! let text = r#"{"method":"Page.frameAttached","params":{"frameId":"B","parentFrameId":"A"},"sessionId":"S"}"#;
//! let Message::Event(event) = decode(text)? else { panic!("an event") };
//! let Some(Known::FrameAttached(attached)) = event.known()? else { panic!("a modelled event") };
//! assert_eq!(attached.parent_frame_id.as_str(), "A");
//! # Ok::<(), cdp_wire::WireError>(())
//! ```

pub mod base64;
pub mod browser;
mod command;
mod envelope;
mod error;
pub mod fetch;
mod ids;
pub mod inspector;
mod known;
pub mod log;
pub mod page;
pub mod peek;
mod plain;
pub mod protocol;
pub mod runtime;
pub mod target;
mod text;

pub use command::{Command, Empty, encode, encode_raw};
pub use envelope::{Event, Message, Reply, ReplyError, decode};
pub use error::WireError;
pub use ids::{
    BrowserContextId, CommandId, FetchRequestId, FrameId, LoaderId, SessionId, TargetId, UniqueContextId,
};
pub use known::Known;
pub use text::{Text, repair_lone_surrogates};

/// Parses the JSON text of one part of a message (parameters or result) into a type of this crate.
///
/// # Errors
/// [`WireError::Body`] when the text is not what the type needs; `what` names it in the error.
pub fn parse<'a, T: serde::Deserialize<'a>>(what: &'static str, json: &'a str) -> Result<T, WireError> {
    serde_json::from_str(json).map_err(|error| WireError::Body { what, reason: error.to_string() })
}
