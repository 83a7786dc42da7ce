//! Logs of other programs, made into transcripts that [`observe`](crate::observe) replays.

mod log;
mod playwright;
mod puppeteer;

use serde_json::value::RawValue;
use supervisor_core::{At, Epoch, Input};

use crate::error::{TranscriptError, beginning_of};
use crate::lines::Lines;
use crate::reader::Unknown;
use crate::writer::Writer;
use log::{Clock, without_colours};

/// What a log was made into.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Imported {
    /// Lines `send` and `recv`, without a header. Time zero is the first message.
    pub transcript: Vec<u8>,
    /// How many messages there were.
    pub messages: u64,
    /// Lines of the protocol log that are no message, such as those that the logger cut. Other lines are passed over.
    pub unknown: Unknown,
}

/// Reads what `DEBUG=pw:protocol` (Playwright) or `DEBUG=puppeteer:protocol:*` (Puppeteer; `NODE_DEBUG` for newer ones)
/// printed, other output among it.
///
/// A log that has no times gives a transcript in which time stands still.
///
/// # Errors
/// `NoLog` when there is no message in it.
pub fn import(log: &(impl AsRef<[u8]> + ?Sized)) -> Result<Imported, TranscriptError> {
    let mut importer = Importer::default();
    for (number, line) in Lines::new(log.as_ref()).enumerate() {
        importer.line(number + 1, &without_colours(&String::from_utf8_lossy(line)));
    }
    match importer.imported.messages {
        0 => Err(TranscriptError::NoLog { got: beginning_of(&String::from_utf8_lossy(log.as_ref())) }),
        _ => Ok(importer.imported),
    }
}

/// Which way a message went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Direction {
    Send,
    Recv,
}

/// A line of a protocol log: where it says so, and what it says then.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Said<'a> {
    pub(crate) direction: Direction,
    /// What stands before, such as a time.
    pub(crate) before: &'a str,
    pub(crate) rest: &'a str,
}

#[derive(Default)]
struct Importer {
    clock: Clock,
    /// The message that began on a line before.
    begun: Option<Direction>,
    imported: Imported,
}

impl Importer {
    fn line(&mut self, number: usize, line: &str) {
        match playwright::said(line).or_else(|| puppeteer::said(line)) {
            Some(said) => {
                self.clock.read(said.before, said.rest);
                self.said(number, said.direction, said.rest);
            }
            None => {
                if let Some((direction, text)) = self.begun.zip(puppeteer::quoted(line)) {
                    self.message(number, direction, &text);
                }
            }
        }
    }

    fn said(&mut self, number: usize, direction: Direction, rest: &str) {
        self.begun = Some(direction);
        match playwright::message(rest).map(str::to_owned).or_else(|| puppeteer::message(rest)) {
            Some(text) => self.message(number, direction, &text),
            None if puppeteer::is_bracket(rest) => {}
            None => {
                self.imported.unknown.add(number, format!("expected a message, got `{}`", beginning_of(rest)))
            }
        }
    }

    fn message(&mut self, number: usize, direction: Direction, text: &str) {
        self.begun = None;
        if let Err(error) = serde_json::from_str::<&RawValue>(text) {
            return self.imported.unknown.add(number, format!("the message is not whole: {error}"));
        }
        self.imported.messages += 1;
        let at = self.clock.at();
        let input = match direction {
            Direction::Send => Input::Observed { text },
            Direction::Recv => Input::Received { epoch: Epoch(0), text },
        };
        Writer::without_header().input(at, &input, &mut self.imported.transcript);
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self { first: None, now: At(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &str) -> Vec<String> {
        let imported = import(log).unwrap();
        String::from_utf8(imported.transcript).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_playwright_log_with_other_output_in_it() {
        let log = "2026-11-30T13:33:38.605Z pw:protocol SEND ► {\"id\":1,\"method\":\"Browser.getVersion\"}\n\
                   hello\n\
                   2026-11-30T13:33:39.100Z pw:api => browser.newPage started {\"id\":7}\n\
                   2026-11-30T13:33:39.336Z pw:protocol ◀ RECV {\"id\":1,\"result\":{}}\n";
        let expected = [
            r#"{"t":0.000000,"dir":"send","msg":{"id":1,"method":"Browser.getVersion"}}"#,
            r#"{"t":0.731000,"dir":"recv","msg":{"id":1,"result":{}}}"#,
        ];
        assert_eq!(lines(log), expected);
    }

    #[test]
    fn what_a_terminal_shows() {
        let log = "  \u{1b}[36;1mpw:protocol \u{1b}[0mSEND ► {\"id\":1,\"method\":\"A.b\"} \u{1b}[36m+0ms\u{1b}[0m\n\
                   \u{20} \u{1b}[36;1mpw:protocol \u{1b}[0m◀ RECV {\"id\":1,\"result\":{}} \u{1b}[36m+12ms\u{1b}[0m\n\
                   \u{20} puppeteer:protocol:RECV ◀ [\n\
                   \u{20} puppeteer:protocol:RECV ◀   '{\"method\":\"A.c\"}'\n\
                   \u{20} puppeteer:protocol:RECV ◀ ] +2s\n";
        assert_eq!(lines(log)[1], r#"{"t":0.012000,"dir":"recv","msg":{"id":1,"result":{}}}"#);
        assert_eq!(lines(log)[2], r#"{"t":0.012000,"dir":"recv","msg":{"method":"A.c"}}"#);
    }

    #[test]
    fn a_puppeteer_log_of_either_kind() {
        let log = "2026-11-30T13:34:51.471Z puppeteer:protocol:SEND ► [\n  '{\"id\":1,\"method\":\"A.b\"}'\n]\n\
                   2026-11-30T13:34:51.511Z puppeteer:protocol:RECV ◀ [ '{\"id\":1,\"result\":{\"a\":\"it\\'s \\\\n\"}}' ]\n\
                   PUPPETEER:PROTOCOL:SEND ► 1416: {\"id\":2,\"method\":\"A.b\"}\n";
        let expected = [
            r#"{"t":0.000000,"dir":"send","msg":{"id":1,"method":"A.b"}}"#,
            r#"{"t":0.040000,"dir":"recv","msg":{"id":1,"result":{"a":"it's \n"}}}"#,
            r#"{"t":0.040000,"dir":"send","msg":{"id":2,"method":"A.b"}}"#,
        ];
        assert_eq!(lines(log), expected);
    }

    #[test]
    fn a_message_that_the_logger_cut_is_counted() {
        let log = "2026-11-30T13:34:51.471Z puppeteer:protocol:RECV ◀ [\n  '{\"id\":1,\"result\":{\"a'... 20 more characters\n]\n\
                   2026-11-30T13:34:51.472Z pw:protocol SEND ► {\"id\":2,\"method\":\"A.b\"}\n";
        let imported = import(log).unwrap();
        assert_eq!((imported.messages, imported.unknown.count, imported.unknown.first[0].line), (1, 1, 2));
    }

    #[test]
    fn a_log_without_a_message_is_refused() {
        assert_eq!(import("hello\n"), Err(TranscriptError::NoLog { got: "hello\n".to_owned() }));
    }
}
