//! The `Log` domain: what the browser itself says about a page.

use serde::{Deserialize, Serialize};

use crate::Text;
use crate::command::Command;

/// `Log.entryAdded`
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct EntryAdded<'a> {
    /// The entry.
    #[serde(borrow)]
    pub entry: LogEntry<'a>,
}

/// `Log.LogEntry`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogEntry<'a> {
    /// `network`, `security`, `javascript`, …
    #[serde(borrow)]
    pub source: Text<'a>,
    /// `verbose`, `info`, `warning`, `error`.
    #[serde(borrow)]
    pub level: Text<'a>,
    /// What it says.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// The resource it is about.
    #[serde(borrow)]
    pub url: Option<Text<'a>>,
    /// The line in it, from 0.
    pub line_number: Option<i64>,
}

/// `Log.enable`
#[derive(Debug, Clone, Serialize)]
pub struct Enable {}

impl Command for Enable {
    const METHOD: &'static str = "Log.enable";
}
