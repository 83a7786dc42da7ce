//! Standard output: short lines for people, or one JSON object a line.

use std::ffi::OsString;
use std::io::{self, IsTerminal as _, Write as _};
use std::time::Duration;

use serde::Serialize;

use crate::escape;

/// What a line is about; printed as a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// What comes next.
    Title,
    /// Something to know.
    Note,
    /// Something is done.
    Act,
    /// A dialog waits.
    Ask,
    /// Something went as it should.
    Good,
    /// Something did not.
    Bad,
    /// Something appeared.
    Came,
    /// Something went away.
    Gone,
    /// A page complains.
    Warn,
    /// What was asked for, as it is.
    Plain,
}

impl Kind {
    /// How it is printed.
    pub(crate) fn symbol(self) -> char {
        match self {
            Kind::Title => '■',
            Kind::Note => '·',
            Kind::Act => '→',
            Kind::Ask => '?',
            Kind::Good => '✓',
            Kind::Bad => '✗',
            Kind::Came => '+',
            Kind::Gone => '-',
            Kind::Warn => '!',
            Kind::Plain => ' ',
        }
    }

    /// The number of its SGR colour (ECMA-48 8.3.117), if it has one.
    fn colour(self) -> Option<u8> {
        match self {
            Kind::Title => Some(1),
            Kind::Ask | Kind::Warn => Some(33),
            Kind::Good => Some(32),
            Kind::Bad => Some(31),
            Kind::Act => Some(36),
            Kind::Note | Kind::Came | Kind::Gone | Kind::Plain => None,
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Line {
    /// What it is about.
    pub(crate) kind: Kind,
    /// What it says. It may hold texts of pages.
    pub(crate) text: String,
}

impl Line {
    /// A line.
    pub(crate) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into() }
    }
}

/// Prints, whole lines at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    colour: bool,
}

impl Screen {
    /// Standard output.
    pub(crate) fn new() -> Self {
        Self { colour: may_colour(io::stdout().is_terminal()) }
    }

    /// Prints a line with its time.
    pub(crate) fn line(self, at: Duration, line: &Line) -> io::Result<()> {
        print(&laid_out(at, line, self.colour))
    }

    /// Prints a line without a time.
    pub(crate) fn plain(self, line: &Line) -> io::Result<()> {
        print(&said(line, self.colour))
    }

    /// Prints a line on standard error, beside what was asked for.
    pub(crate) fn aside(self, line: &Line) -> io::Result<()> {
        let colour = may_colour(io::stderr().is_terminal());
        writeln!(io::stderr().lock(), "{}", said(line, colour))
    }

    /// Prints lines of our own.
    pub(crate) fn text(self, text: &str) -> io::Result<()> {
        print(&escape::lines(text.trim_end_matches('\n')))
    }

    /// Prints a value as JSON in one line.
    pub(crate) fn json(self, value: &impl Serialize) -> io::Result<()> {
        print(&escape::json(&serde_json::to_string(value)?))
    }

    /// Prints a value as JSON laid out for reading.
    pub(crate) fn pretty(self, value: &impl Serialize) -> io::Result<()> {
        print(&escape::json_lines(&serde_json::to_string_pretty(value)?))
    }
}

/// Colours are for terminals, and only where nobody objects (<https://no-color.org>).
pub(crate) fn may_colour(terminal: bool) -> bool {
    terminal && wants_colour(std::env::var_os("NO_COLOR"), std::env::var_os("TERM"))
}

fn wants_colour(no_color: Option<OsString>, term: Option<OsString>) -> bool {
    let objection = no_color.is_some_and(|value| !value.is_empty());
    !objection && term.is_none_or(|term| term != "dumb")
}

fn laid_out(at: Duration, line: &Line, colour: bool) -> String {
    format!("{:8.3} {}", at.as_secs_f64(), said(line, colour))
}

fn said(line: &Line, colour: bool) -> String {
    let (symbol, text) = (line.kind.symbol(), escape::line(&line.text));
    if line.kind == Kind::Plain {
        return text.into_owned();
    }
    match line.kind.colour().filter(|_| colour) {
        Some(code) if line.kind == Kind::Title => format!("\u{1b}[{code}m{symbol} {text}\u{1b}[0m"),
        Some(code) => format!("\u{1b}[{code}m{symbol}\u{1b}[0m {text}"),
        None => format!("{symbol} {text}"),
    }
}

fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_time_a_symbol_and_words() {
        let line = Line::new(Kind::Good, "answered");
        let at = Duration::from_millis(1_234);
        assert_eq!(laid_out(at, &line, false), "   1.234 ✓ answered");
        assert_eq!(laid_out(at, &line, true), "   1.234 \u{1b}[32m✓\u{1b}[0m answered");
    }

    #[test]
    fn whoever_objects_gets_no_colour() {
        let wants = |no_color: Option<&str>, term: Option<&str>| {
            wants_colour(no_color.map(OsString::from), term.map(OsString::from))
        };
        assert!(wants(None, Some("xterm")) && wants(Some(""), None));
        assert!(!wants(Some("1"), Some("xterm")) && !wants(None, Some("dumb")));
    }

    #[test]
    fn what_a_page_says_does_not_reach_the_terminal_as_it_is() {
        let line = Line::new(Kind::Ask, "d-1 \u{1b}[2J\n   0.000 ✓ all is well");
        assert_eq!(
            laid_out(Duration::ZERO, &line, false),
            "   0.000 ? d-1 \\u{1b}[2J\\n   0.000 ✓ all is well"
        );
    }
}
