//! The `Browser` domain.

use serde::{Deserialize, Serialize};

use crate::Text;
use crate::command::Command;

/// `Browser.getVersion`: answered by the browser process, whatever its pages do.
#[derive(Debug, Clone, Serialize)]
pub struct GetVersion {}

impl Command for GetVersion {
    const METHOD: &'static str = "Browser.getVersion";
}

/// The result of [`GetVersion`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Version<'a> {
    /// `1.3`
    #[serde(borrow, default)]
    pub protocol_version: Text<'a>,
    /// `Chrome/156.0.8078.73`
    #[serde(borrow)]
    pub product: Text<'a>,
    /// The user agent.
    #[serde(borrow, default)]
    pub user_agent: Text<'a>,
}
