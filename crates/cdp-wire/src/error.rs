use thiserror::Error;

/// Why a message could not be understood. The message is lost, the connection is not.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum WireError {
    /// The text is not one JSON object with the envelope's fields.
    #[error("expected a CDP message (one JSON object), got something else: {reason}")]
    Envelope {
        /// What the JSON parser found, with its place.
        reason: String,
    },
    /// An object with neither `id` nor `method`.
    #[error("expected a CDP message with an `id` (a reply) or a `method` (an event), got neither")]
    Neither,
    /// A reply with neither `result` nor `error`.
    #[error("reply {id} has neither `result` nor `error`")]
    NoOutcome {
        /// The reply's id.
        id: u64,
    },
    /// The parameters or the result of a modelled message do not have the shape the protocol gives them.
    #[error("{what} does not have the protocol's shape: {reason}")]
    Body {
        /// The method or the type.
        what: &'static str,
        /// What the JSON parser found, with its place.
        reason: String,
    },
}
