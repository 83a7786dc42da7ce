//! Counts folded from inputs. They are deterministic, but not journalled, and no reason to publish a snapshot.

use serde::{Deserialize, Serialize};

/// What went by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Meters {
    /// Messages of the browser.
    pub messages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Events that nobody models.
    pub unknown_messages: u64,
    /// Messages that break the protocol: not JSON, of sessions that never were, replies to nothing.
    pub protocol_violations: u64,
    /// Events about frames that live elsewhere by now, and other late ones.
    pub late_messages: u64,
    /// Console calls that nobody keeps.
    pub console_calls: u64,
    /// Things that were not taken in because a bound was reached.
    pub dropped: u64,
    /// Requests to the bridge's host that were not the script's, or came where a dialog was open already.
    #[serde(skip_serializing_if = "is_none")]
    pub bridge_refused: u64,
    /// Messages on the guard connection.
    #[serde(skip_serializing_if = "is_none")]
    pub guard_messages: u64,
    /// Inputs that were lost because handling them failed inside: a fault of this program.
    pub faults: u64,
}

/// A count that is only shown when there is something to count.
#[allow(clippy::trivially_copy_pass_by_ref)] // serde hands over a reference
fn is_none(count: &u64) -> bool {
    *count == 0
}
