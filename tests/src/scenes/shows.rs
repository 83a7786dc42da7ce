//! What a recording must hold, in a few words.

use serde::Deserialize;

/// A line of a recording as it is compared: its direction, and what it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// `recv Page.javascriptDialogOpening`, `host respond`, `net lost`; a reply is `recv` alone.
    pub head: String,
    /// All of it.
    pub text: String,
}

/// What is looked at. The rest may hold half characters, which no string of ours takes.
#[derive(Deserialize)]
struct Line {
    dir: String,
    #[serde(default)]
    msg: Message,
}

#[derive(Deserialize, Default)]
struct Message {
    method: Option<String>,
    command: Option<String>,
    net: Option<String>,
}

impl Shown {
    /// From a line of a recording; `None` for its header.
    #[must_use]
    pub fn of(line: &str) -> Option<Self> {
        let Line { dir, msg } = serde_json::from_str(line).ok()?;
        let what = msg.command.or(msg.net).or(msg.method).unwrap_or_default();
        Some(Self { head: format!("{dir} {what}").trim_end().to_owned(), text: line.to_owned() })
    }

    /// Whether it is this: a direction, what it is, and words that stand in the line.
    fn is(&self, wanted: &str) -> bool {
        let mut words = wanted.splitn(3, ' ');
        let (direction, what) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let head = [direction, what].join(" ");
        self.head == head.trim_end_matches([' ', '*'])
            && words.next().is_none_or(|text| self.text.contains(text))
    }
}

/// The first of these that the recording does not show after those before it. `recv Page.frameDetached swap` is a message of the
/// browser in which `swap` stands, `recv * Aborted` a reply.
#[must_use]
pub fn missing<'a>(wanted: &[&'a str], recording: &[u8]) -> Option<&'a str> {
    let text = String::from_utf8_lossy(recording);
    let mut lines = text.lines().filter_map(Shown::of);
    wanted.iter().find(|wanted| !lines.by_ref().any(|line| line.is(wanted))).copied()
}
