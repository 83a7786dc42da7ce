//! What a host chooses for a task.

use std::time::Duration;

use cdp_wire::{BrowserContextId, TargetId};
use serde::{Deserialize, Serialize};

/// The choices of one task. All of them can be changed while it runs, except the scope, which rebinds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Options {
    /// Who answers dialogs.
    pub dialog_policy: DialogPolicy,
    /// After how many seconds the watchdog dismisses a dialog under [`DialogPolicy::MustRespond`].
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub dialog_timeout: Duration,
    /// The deadline of a call that names none, in seconds.
    #[serde(with = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub call_timeout: Duration,
    /// Which part of the browser the task may see.
    pub scope: Scope,
    /// How long a lost connection is tried again.
    pub reconnect: Reconnect,
    /// Whether dialogs go by the bridge.
    pub bridge: Bridge,
    /// The host that the bridge's script asks: one that nobody else can have.
    pub bridge_host: String,
    /// Whether a second connection listens, so that open dialogs can still be answered when the first is lost.
    pub guard: bool,
}

/// The host of the bridge, unless another one is chosen: no name below `.invalid` is ever given out.
const BRIDGE_HOST: &str = "vibeos-dialog-bridge.invalid";

impl Options {
    /// Whether the choices can be kept.
    ///
    /// # Errors
    /// What is wrong, and what was expected.
    pub fn check(&self) -> Result<(), String> {
        let host = &self.bridge_host;
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte);
        if !host.is_empty() && host.len() <= 253 && host.bytes().all(is_name) {
            return Ok(());
        }
        let got = crate::shown::cut(host, 253);
        Err(format!(
            "expected bridge_host to be a host name in lower case such as {BRIDGE_HOST}, got `{got}`"
        ))
    }
}

impl Default for Options {
    fn default() -> Self {
        Self {
            dialog_policy: DialogPolicy::default(),
            dialog_timeout: Duration::from_secs(300),
            call_timeout: Duration::from_secs(30),
            scope: Scope::default(),
            reconnect: Reconnect::default(),
            bridge: Bridge::default(),
            bridge_host: BRIDGE_HOST.to_owned(),
            guard: false,
        }
    }
}

/// Who answers dialogs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DialogPolicy {
    /// The host does; after the timeout the watchdog dismisses.
    #[default]
    MustRespond,
    /// Each dialog is recorded and dismissed at once.
    AutoDismiss,
    /// Each dialog is recorded and accepted at once; a prompt gets its default text.
    AutoAccept,
}

/// Whether dialogs go by the bridge: a script in the pages, for backends that close native dialogs themselves.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Bridge {
    /// Once the backend is seen to close dialogs itself.
    #[default]
    Auto,
    /// From the start.
    On,
    /// Never.
    Off,
}

/// Which pages a task supervises.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Scope {
    /// All pages of the browser.
    #[default]
    Browser,
    /// The pages of one browser context.
    BrowserContextId(BrowserContextId),
    /// One page and the popups it opens.
    TargetId(TargetId),
}

/// The budget of reconnecting. Whichever of the two is spent first ends the task as failed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Reconnect {
    /// Attempts after one loss.
    pub tries: u32,
    /// Seconds after the loss.
    #[serde(with = "seconds", rename = "seconds")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub within: Duration,
}

impl Default for Reconnect {
    fn default() -> Self {
        Self { tries: 10, within: Duration::from_secs(120) }
    }
}

/// Durations as seconds with a fraction, as settings write them.
pub(crate) mod seconds {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(value.as_secs_f64())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        Duration::try_from_secs_f64(f64::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}
