//! What the demo says, as it happens.

use std::fmt::Display;
use std::io;
use std::time::{Duration, Instant};

use serde_json::json;
use supervisor::Snapshot;

use crate::screen::{Kind, Line, Screen};

/// Prints lines with the time since it was made.
#[derive(Debug)]
pub(super) struct Narrator {
    screen: Screen,
    json: bool,
    start: Instant,
}

impl Narrator {
    pub(super) fn new(json: bool) -> Self {
        Self { screen: Screen::new(), json, start: Instant::now() }
    }

    /// What comes next.
    pub(super) fn title(&self, text: &str) -> io::Result<()> {
        self.say(Kind::Title, text)
    }

    /// Something to know.
    pub(super) fn note(&self, text: &str) -> io::Result<()> {
        self.say(Kind::Note, text)
    }

    /// Something that is done.
    pub(super) fn act(&self, text: &str) -> io::Result<()> {
        self.say(Kind::Act, text)
    }

    /// A dialog that waits.
    pub(super) fn ask(&self, text: &str) -> io::Result<()> {
        self.say(Kind::Ask, text)
    }

    /// Something that is as it should be.
    pub(super) fn good(&self, text: &str) -> io::Result<()> {
        self.say(Kind::Good, text)
    }

    /// Something that is not.
    pub(super) fn bad(&self, text: &str) -> io::Result<()> {
        self.say(Kind::Bad, text)
    }

    fn say(&self, kind: Kind, text: &str) -> io::Result<()> {
        self.line(self.start.elapsed(), &Line::new(kind, text))
    }

    /// A line with a time of its own.
    pub(super) fn line(&self, at: Duration, line: &Line) -> io::Result<()> {
        if self.json {
            return self.screen.json(&json!({"at": at.as_secs_f64(), "kind": line.kind, "text": line.text}));
        }
        self.screen.line(at, line)
    }

    /// The snapshot, whole.
    pub(super) fn snapshot(&self, when: impl Display, snapshot: &Snapshot) -> io::Result<()> {
        if self.json {
            let at = self.start.elapsed().as_secs_f64();
            return self.screen.json(&json!({"at": at, "kind": "snapshot", "snapshot": snapshot}));
        }
        self.title(&format!("the snapshot, {when}"))?;
        self.screen.pretty(snapshot)
    }
}
