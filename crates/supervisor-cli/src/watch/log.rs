//! The last calls and events, in words.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use supervisor::supervisor_core::call::CallEnd;
use supervisor::{CallId, Event, Recorded, Snapshot};

use crate::screen::{Kind, Line};
use crate::teller::{Teller, short};

/// Enough to scroll through some minutes; the journal has the rest.
pub(super) const MAX_LINES: usize = 500;

/// One thing that happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Logged {
    /// When, since the task began.
    pub(super) at: Duration,
    /// What.
    pub(super) line: Line,
}

/// What happened, oldest first.
#[derive(Debug, Default)]
pub(super) struct Log {
    lines: VecDeque<Logged>,
    teller: Teller,
    /// What each call is, until it ends.
    calls: BTreeMap<CallId, String>,
    /// The time of the last event.
    at: Duration,
}

impl Log {
    /// What is there when the log begins is on the screen already; the teller has to know it all the same.
    pub(super) fn new(snapshot: &Snapshot) -> Self {
        let mut log = Self::default();
        log.teller.present(snapshot);
        log
    }

    /// The lines, newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Logged> {
        self.lines.iter().rev()
    }

    /// Takes an event in; says how many lines it gave.
    pub(super) fn add(&mut self, recorded: &Recorded) -> usize {
        self.at = Duration::from_micros(recorded.at.0);
        let lines = self.told(&recorded.event);
        let count = lines.len();
        lines.into_iter().for_each(|line| self.push(line));
        count
    }

    /// Events were missed: what is known of calls may be wrong.
    pub(super) fn lagged(&mut self, missed: u64, snapshot: &Snapshot) {
        self.calls.clear();
        self.teller.present(snapshot);
        self.push(Line::new(Kind::Warn, format!("{missed} events were missed")));
    }

    fn told(&mut self, event: &Event) -> Vec<Line> {
        match event {
            // They have a place of their own on the screen.
            Event::ConsoleGathered { .. } => Vec::new(),
            Event::CallStarted { call, method, frame, .. } => {
                let at = frame.as_ref().map(|frame| format!(" in frame {}", short(frame.as_str())));
                let what = format!("call {call} {method}{}", at.unwrap_or_default());
                let line = Line::new(Kind::Act, what.clone());
                self.calls.insert(*call, what);
                vec![line]
            }
            Event::CallEnded { call, end } => {
                let what = self.calls.remove(call).unwrap_or_else(|| format!("call {call}"));
                vec![ended(&what, end)]
            }
            event => self.teller.tell(event),
        }
    }

    fn push(&mut self, line: Line) {
        if self.lines.len() == MAX_LINES {
            self.lines.pop_front();
        }
        self.lines.push_back(Logged { at: self.at, line });
    }
}

fn ended(what: &str, end: &CallEnd) -> Line {
    match end {
        CallEnd::Answered => Line::new(Kind::Good, format!("{what}: answered")),
        CallEnd::Failed(code) => Line::new(Kind::Bad, format!("{what}: {code}")),
        CallEnd::Forgotten => Line::new(Kind::Note, format!("{what}: its caller left")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn recorded(event: Value) -> Recorded {
        let mut recorded = json!({"seq": 1, "at": 1_500_000});
        recorded.as_object_mut().unwrap().append(&mut event.as_object().unwrap().clone());
        serde_json::from_value(recorded).unwrap()
    }

    fn said(log: &Log) -> Vec<String> {
        log.newest_first().map(|logged| logged.line.text.clone()).collect()
    }

    #[test]
    fn a_call_is_named_when_it_ends() {
        let mut log = Log::default();
        let started = json!({"event": "call_started", "req": 1, "call": "c-1", "route": "S", "frame": "0123456789",
            "method": "Runtime.evaluate", "eval": true, "deadline": 9});
        assert_eq!(log.add(&recorded(started)), 1);
        log.add(&recorded(json!({"event": "call_ended", "call": "c-1", "end": {"failed": "timeout"}})));
        log.add(&recorded(json!({"event": "call_ended", "call": "c-1", "end": "answered"})));
        let name = "call c-1 Runtime.evaluate in frame 01234567";
        assert_eq!(said(&log), ["call c-1: answered", &format!("{name}: timeout"), name]);
    }

    #[test]
    fn the_oldest_line_makes_room() {
        let mut log = Log::default();
        for number in 0..=MAX_LINES {
            log.add(&recorded(json!({"event": "browser_identified", "product": format!("b{number}")})));
        }
        assert_eq!(log.newest_first().count(), MAX_LINES);
        assert_eq!(log.newest_first().last().unwrap().line.text, "the browser is b1");
    }
}
