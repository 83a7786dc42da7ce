//! The queues in which messages wait, and the orders that even a browser keeps.
//!
//! The browser process has one queue for all it says. Each session has a pipe from its renderer. Between these the order
//! is chance, with two exceptions: a message may have to wait until the browser process has said something (a *fence*),
//! and what waits in the pipe of a session that ends is lost.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use crate::ids::{SessionNo, Wire};
use crate::tally::Mark;

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceId {
    /// The browser process.
    Browser,
    /// The browser process, on the guard's connection.
    Guard,
    /// The renderer of a session.
    Pipe(SessionNo),
}

impl SourceId {
    /// The connection on which it speaks.
    #[must_use]
    pub fn wire(self) -> Wire {
        match self {
            SourceId::Browser => Wire::Main,
            SourceId::Guard => Wire::Guard,
            SourceId::Pipe(session) => session.wire,
        }
    }
}

impl fmt::Display for SourceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SourceId::Browser => f.write_str("browser process"),
            SourceId::Guard => f.write_str("browser process to the guard"),
            SourceId::Pipe(session) => write!(f, "renderer of {session}"),
        }
    }
}

/// A message of the browser process.
#[derive(Debug, Clone, Default)]
struct Spoken {
    text: String,
    /// The pipes that end with it.
    ends: Vec<SessionNo>,
    /// The pipes that lose what was put into them before it.
    breaks: Vec<SessionNo>,
    mark: Option<Mark>,
}

/// A message of a renderer.
#[derive(Debug, Clone)]
struct Piped {
    text: String,
    /// How many messages the browser process must have sent before.
    after: u64,
    mark: Option<Mark>,
}

/// All queues, of either connection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queues {
    main: Lines,
    guard: Lines,
}

impl Queues {
    fn of(&mut self, wire: Wire) -> &mut Lines {
        match wire {
            Wire::Main => &mut self.main,
            Wire::Guard => &mut self.guard,
        }
    }

    /// Nothing waits any more on a connection.
    pub(crate) fn clear(&mut self, wire: Wire) {
        self.of(wire).clear();
    }

    /// Queues a message of the browser process; its number can be a fence.
    pub(crate) fn speak(&mut self, wire: Wire, text: String) -> u64 {
        self.of(wire).speak(text)
    }

    /// Queues the end of sessions of one connection: when it is sent, their pipes are cut.
    pub(crate) fn end(&mut self, wire: Wire, text: String, ends: Vec<SessionNo>, mark: Mark) -> u64 {
        self.of(wire).end(text, ends, mark)
    }

    /// Queues the end of a renderer: what its pipe holds then is lost, what is put in later is not.
    pub(crate) fn break_pipe(&mut self, text: String, session: SessionNo) -> u64 {
        self.of(session.wire).break_pipe(text, session)
    }

    /// Queues a message of a session's renderer.
    pub(crate) fn pipe(&mut self, session: SessionNo, text: String, mark: Option<Mark>) {
        self.of(session.wire).pipe(session, text, mark);
    }

    /// What is put into this pipe from now on waits until the browser process has sent its message of this number to the
    /// main connection, and to the guard's all that it has to say by now.
    pub(crate) fn fence(&mut self, session: SessionNo, number: u64) {
        let number = if session.wire == Wire::Main { number } else { self.guard.pushed };
        self.of(session.wire).fence(session, number);
    }

    /// The number of the last message of the browser process to the main connection.
    pub(crate) fn last(&self) -> u64 {
        self.main.pushed
    }

    /// Whether a session's renderer has something left to say.
    pub(crate) fn is_speaking(&self, session: SessionNo) -> bool {
        let lines = if session.wire == Wire::Main { &self.main } else { &self.guard };
        lines.is_speaking(session)
    }

    /// The sources that may speak next, in a fixed order.
    pub(crate) fn ready(&self) -> Vec<SourceId> {
        let main = self.main.ready(SourceId::Browser);
        main.chain(self.guard.ready(SourceId::Guard)).collect()
    }

    /// Takes the next message of a source.
    pub(crate) fn emit(&mut self, source: SourceId) -> Option<(String, Option<Mark>)> {
        self.of(source.wire()).emit(source)
    }
}

/// The queues of one connection.
#[derive(Debug, Clone, Default)]
struct Lines {
    browser: VecDeque<Spoken>,
    pipes: BTreeMap<SessionNo, VecDeque<Piped>>,
    fences: BTreeMap<SessionNo, u64>,
    pushed: u64,
    emitted: u64,
}

impl Lines {
    /// The numbers go on, because fences name them.
    fn clear(&mut self) {
        *self = Self { pushed: self.pushed, emitted: self.pushed, ..Self::default() };
    }

    fn speak(&mut self, text: String) -> u64 {
        self.push(Spoken { text, ..Spoken::default() })
    }

    fn end(&mut self, text: String, ends: Vec<SessionNo>, mark: Mark) -> u64 {
        self.push(Spoken { text, ends, mark: Some(mark), ..Spoken::default() })
    }

    fn break_pipe(&mut self, text: String, session: SessionNo) -> u64 {
        let number = self.push(Spoken { text, breaks: vec![session], ..Spoken::default() });
        self.fence(session, number);
        number
    }

    fn push(&mut self, spoken: Spoken) -> u64 {
        self.browser.push_back(spoken);
        self.pushed += 1;
        self.pushed
    }

    fn pipe(&mut self, session: SessionNo, text: String, mark: Option<Mark>) {
        let after = self.fences.get(&session).copied().unwrap_or(0);
        self.pipes.entry(session).or_default().push_back(Piped { text, after, mark });
    }

    fn fence(&mut self, session: SessionNo, number: u64) {
        let fence = self.fences.entry(session).or_default();
        *fence = number.max(*fence);
    }

    fn is_speaking(&self, session: SessionNo) -> bool {
        self.pipes.get(&session).is_some_and(|pipe| !pipe.is_empty())
    }

    fn ready(&self, browser: SourceId) -> impl Iterator<Item = SourceId> {
        let browser = (!self.browser.is_empty()).then_some(browser);
        let ready = |pipe: &VecDeque<Piped>| pipe.front().is_some_and(|first| first.after <= self.emitted);
        let pipes = self
            .pipes
            .iter()
            .filter(move |(_, pipe)| ready(pipe))
            .map(|(session, _)| SourceId::Pipe(*session));
        browser.into_iter().chain(pipes)
    }

    fn emit(&mut self, source: SourceId) -> Option<(String, Option<Mark>)> {
        match source {
            SourceId::Browser | SourceId::Guard => self.emit_spoken(),
            SourceId::Pipe(session) => self.emit_piped(session),
        }
    }

    fn emit_spoken(&mut self) -> Option<(String, Option<Mark>)> {
        let spoken = self.browser.pop_front()?;
        self.emitted += 1;
        for session in &spoken.ends {
            self.pipes.remove(session);
            self.fences.remove(session);
        }
        for session in &spoken.breaks {
            let emitted = self.emitted;
            self.pipes.entry(*session).or_default().retain(|piped| piped.after >= emitted);
        }
        Some((spoken.text, spoken.mark))
    }

    fn emit_piped(&mut self, session: SessionNo) -> Option<(String, Option<Mark>)> {
        let emitted = self.emitted;
        let pipe = self.pipes.get_mut(&session)?;
        let piped = pipe.pop_front_if(|first| first.after <= emitted)?;
        if pipe.is_empty() {
            self.pipes.remove(&session);
        }
        Some((piped.text, piped.mark))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: SessionNo = SessionNo { wire: Wire::Main, target: 1, nth: 1 };

    #[test]
    fn a_fenced_pipe_waits_for_the_browser_process() {
        let mut queues = Queues::default();
        queues.pipe(S, "before".into(), None);
        let number = queues.speak(Wire::Main, "spoken".into());
        queues.fence(S, number);
        queues.pipe(S, "after".into(), None);
        assert_eq!(queues.emit(SourceId::Pipe(S)).unwrap().0, "before");
        assert_eq!(queues.ready(), [SourceId::Browser]);
        assert!(queues.emit(SourceId::Pipe(S)).is_none());
        queues.emit(SourceId::Browser);
        assert_eq!(queues.ready(), [SourceId::Pipe(S)]);
    }

    #[test]
    fn what_waits_in_the_pipe_of_an_ended_session_is_lost() {
        let mut queues = Queues::default();
        queues.pipe(S, "late".into(), None);
        queues.end(Wire::Main, "detached".into(), vec![S], Mark::Detached(S));
        assert_eq!(queues.ready().len(), 2);
        queues.emit(SourceId::Browser);
        assert!(queues.ready().is_empty());
    }

    #[test]
    fn a_broken_pipe_loses_the_old_and_keeps_the_new() {
        let mut queues = Queues::default();
        queues.pipe(S, "old".into(), None);
        queues.break_pipe("crashed".into(), S);
        queues.pipe(S, "new".into(), None);
        queues.emit(SourceId::Browser);
        assert_eq!(queues.emit(SourceId::Pipe(S)).unwrap().0, "new");
    }
}
