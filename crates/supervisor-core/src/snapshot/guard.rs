//! The guard connection, as hosts read of it.

use serde::{Deserialize, Serialize};

use crate::guard::{Guard, Stands, Why};

/// Whether a second connection keeps open dialogs answerable when the first is lost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GuardView {
    /// Whether there is one.
    pub state: GuardState,
    /// Why there is none though one was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Why>,
    /// The same in words, where there is more to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Whether there is a guard connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GuardState {
    /// None was asked for.
    #[default]
    Off,
    /// It listens on the same pages.
    On,
    /// It was asked for, and is not there.
    Unavailable,
}

impl GuardView {
    pub(crate) fn of(guard: &Guard) -> Self {
        let (state, reason) = match guard.stands {
            Stands::Off => (GuardState::Off, None),
            Stands::On => (GuardState::On, None),
            Stands::Unavailable(why) => (GuardState::Unavailable, Some(why)),
        };
        Self { state, reason, message: guard.message.clone() }
    }
}
