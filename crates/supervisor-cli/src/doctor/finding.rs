//! What was found.

use serde::Serialize;

use crate::screen::{Kind, Line};

/// Something that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    pub(super) level: Level,
    /// What it is about: `settings`, `browser`, `endpoint`, `folder`, `machine`.
    pub(super) about: &'static str,
    /// What is so.
    pub(super) what: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) next: Option<String>,
}

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Level {
    Ok,
    /// It may be in the way of something.
    Warn,
    /// It is in the way.
    Bad,
}

impl Finding {
    pub(super) fn ok(about: &'static str, what: impl Into<String>) -> Self {
        Self { level: Level::Ok, about, what: what.into(), next: None }
    }

    pub(super) fn warn(about: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { level: Level::Warn, about, what: what.into(), next: Some(next.into()) }
    }

    pub(super) fn bad(about: &'static str, what: impl Into<String>, next: impl Into<String>) -> Self {
        Self { level: Level::Bad, about, what: what.into(), next: Some(next.into()) }
    }

    /// For people.
    pub(super) fn lines(&self) -> Vec<Line> {
        let kind = match self.level {
            Level::Ok => Kind::Good,
            Level::Warn => Kind::Warn,
            Level::Bad => Kind::Bad,
        };
        let next = self.next.iter().map(|next| Line::new(Kind::Plain, format!("    next: {next}")));
        std::iter::once(Line::new(kind, format!("{}: {}", self.about, self.what))).chain(next).collect()
    }
}
