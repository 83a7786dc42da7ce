//! What the screen knows, and what a key or an event does to it: a function of what was there and of what happened.
//!
//! A key acts on what is on the screen: the snapshot changes only when it is about to be drawn, and an answer always names
//! its dialog.

use std::collections::BTreeSet;
use std::sync::Arc;

use ratatui::layout::{Rect, Size};
use supervisor::{Action, ConsoleView, DialogId, DialogType, Recorded, Snapshot};

use super::choosing::moved;
use super::keys::Key;
use super::layout::Places;
use super::log::Log;
use super::pane::Pane;
use super::rows;
use super::typing::Typing;
use crate::screen::{Kind, Line};

/// What happened.
#[derive(Debug)]
pub(super) enum Input {
    /// A key was pressed.
    Key(Key),
    /// The terminal has this size.
    Resized(Size),
    /// This is about to be drawn.
    Snapshot(Arc<Snapshot>),
    /// This is what the console holds.
    Console(ConsoleView),
    /// An event.
    Event(Arc<Recorded>),
    /// So many events were missed.
    Lagged(u64),
    /// What came of an answer, in words.
    Answered(DialogId, Result<String, String>),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Effect {
    /// End.
    Quit,
    /// Answer a dialog.
    Answer(DialogId, Action),
}

/// What the screen knows.
#[derive(Debug)]
pub(super) struct Model {
    /// The endpoint without its secrets.
    pub(super) endpoint: String,
    /// What is known of the browser.
    pub(super) snapshot: Arc<Snapshot>,
    /// What its console says.
    pub(super) console: ConsoleView,
    /// What happened.
    pub(super) log: Log,
    /// The pane that arrows move in.
    pub(super) focus: Pane,
    /// The dialog that keys answer.
    pub(super) chosen: Option<DialogId>,
    /// The text that is being typed.
    pub(super) typing: Option<Typing>,
    /// Whether letters mean nothing until another key is pressed: whoever wanted to type goes on typing.
    deaf: bool,
    /// Whether the keys are explained.
    pub(super) help: bool,
    /// What came of the last key.
    pub(super) said: Option<Line>,
    pub(super) size: Size,
    /// The first row that is seen of each pane.
    first: [usize; Pane::ALL.len()],
    /// Dialogs whose answer is on its way.
    answering: BTreeSet<DialogId>,
}

impl Model {
    /// What is there when the screen begins.
    pub(super) fn new(endpoint: String, snapshot: Arc<Snapshot>, console: ConsoleView, size: Size) -> Self {
        Self {
            endpoint,
            chosen: snapshot.pending_dialogs.first().map(|dialog| dialog.id),
            log: Log::new(&snapshot),
            snapshot,
            console,
            focus: Pane::Dialogs,
            typing: None,
            deaf: false,
            help: false,
            said: None,
            size,
            first: [0; Pane::ALL.len()],
            answering: BTreeSet::new(),
        }
    }

    /// Takes in what happened, and says what is to be done.
    pub(super) fn handle(&mut self, input: Input) -> Option<Effect> {
        match input {
            Input::Key(key) => return self.key(key),
            Input::Resized(size) => self.size = size,
            Input::Snapshot(snapshot) => self.look_at(snapshot),
            Input::Console(console) => self.console = console,
            Input::Event(recorded) => self.event(&recorded),
            Input::Lagged(missed) => self.log.lagged(missed, &self.snapshot),
            Input::Answered(id, outcome) => self.answered(id, outcome),
        }
        None
    }

    /// The first row of a pane that is seen, when so many of them fit.
    pub(super) fn first_row(&self, pane: Pane, rows: usize, fit: usize) -> usize {
        self.first[pane.index()].min(rows.saturating_sub(fit))
    }

    /// Whether its answer is on its way.
    pub(super) fn is_answering(&self, id: DialogId) -> bool {
        self.answering.contains(&id)
    }

    fn key(&mut self, key: Key) -> Option<Effect> {
        match key {
            Key::Interrupt => Some(Effect::Quit),
            key if self.help => {
                self.help = false;
                (key == Key::Char('q')).then_some(Effect::Quit)
            }
            key => match self.typing.take() {
                Some(typing) => self.type_into(typing, key),
                None => self.command(key),
            },
        }
    }

    fn command(&mut self, key: Key) -> Option<Effect> {
        self.deaf &= matches!(key, Key::Char(_) | Key::Paste(_) | Key::Backspace);
        match key {
            _ if self.deaf => {}
            Key::Char('q') => return Some(Effect::Quit),
            Key::Char('a') => return self.answer(Action::Accept { prompt_text: None }),
            Key::Char('d') => return self.answer(Action::Dismiss),
            Key::Char('t') => self.begin_typing(),
            Key::Char('?') => self.help = true,
            Key::Escape => self.said = None,
            Key::Tab => self.focus = self.focus.next(),
            Key::BackTab => self.focus = self.focus.before(),
            key => self.go(&key),
        }
        None
    }

    fn type_into(&mut self, mut typing: Typing, key: Key) -> Option<Effect> {
        match key {
            Key::Enter => {
                let Typing { dialog, text } = typing;
                return self.send(dialog, Action::Accept { prompt_text: Some(text) });
            }
            Key::Escape => {
                self.said = Some(Line::new(Kind::Note, "not answered"));
                return None;
            }
            Key::Char(character) => typing.add(character.encode_utf8(&mut [0; 4])),
            Key::Paste(text) => typing.add(&text),
            Key::Backspace => drop(typing.text.pop()),
            Key::EraseAll => typing.text.clear(),
            _ => {}
        }
        self.typing = Some(typing);
        None
    }

    fn begin_typing(&mut self) {
        match self.chosen_dialog().map(|dialog| (dialog.id, dialog.kind)) {
            Some((id, DialogType::Prompt)) => {
                self.said = None;
                self.typing = Some(Typing::new(id));
                return;
            }
            Some((id, _)) => {
                let text = format!("{id} is no prompt: it takes no text (Esc goes on)");
                self.said = Some(Line::new(Kind::Note, text));
            }
            None => self.nothing_chosen(),
        }
        self.deaf = true;
    }

    fn answer(&mut self, action: Action) -> Option<Effect> {
        match self.chosen_dialog().map(|dialog| dialog.id) {
            Some(id) => self.send(id, action),
            None => {
                self.nothing_chosen();
                None
            }
        }
    }

    fn send(&mut self, id: DialogId, action: Action) -> Option<Effect> {
        if !self.answering.insert(id) {
            self.said = Some(Line::new(Kind::Note, format!("{id}: an answer is on its way")));
            return None;
        }
        let verb = if action.accepts() { "accepting" } else { "dismissing" };
        self.said = Some(Line::new(Kind::Act, format!("{verb} {id}")));
        Some(Effect::Answer(id, action))
    }

    fn nothing_chosen(&mut self) {
        let text = match self.snapshot.pending_dialogs.is_empty() {
            true => "no dialog is open",
            false => "no dialog is chosen: choose one with the arrows",
        };
        self.said = Some(Line::new(Kind::Note, text));
    }

    fn answered(&mut self, id: DialogId, outcome: Result<String, String>) {
        self.answering.remove(&id);
        self.said = Some(match outcome {
            Ok(text) => Line::new(Kind::Good, text),
            Err(text) => Line::new(Kind::Bad, format!("{id}: {text}")),
        });
    }

    /// Whoever reads further down goes on reading the same lines.
    fn event(&mut self, recorded: &Recorded) {
        let added = self.log.add(recorded);
        let first = &mut self.first[Pane::Log.index()];
        if *first > 0 {
            *first += added;
        }
    }

    fn go(&mut self, key: &Key) {
        let fit = self.fit();
        if self.focus == Pane::Dialogs {
            return self.choose(key, fit);
        }
        let rows = rows::of(self, self.focus).len();
        let from = self.first_row(self.focus, rows, fit);
        if let Some(to) = moved(key, from, rows.saturating_sub(fit), fit) {
            self.first[self.focus.index()] = to;
        }
    }

    /// How many rows of the focus are seen.
    fn fit(&self) -> usize {
        let places = Places::of(Rect::from(((0, 0).into(), self.size)), self.focus);
        places.and_then(|places| places.rows(self.focus)).unwrap_or(1).max(1)
    }
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
