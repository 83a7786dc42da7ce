//! What the terminal sends, as keys that mean something here.

use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::layout::Size;
use tokio::sync::mpsc;

use super::model::Input;

/// A key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Key {
    /// Ctrl-C.
    Interrupt,
    /// A character.
    Char(char),
    /// Several at once.
    Paste(String),
    /// Enter.
    Enter,
    /// Esc.
    Escape,
    /// Erases the last character.
    Backspace,
    /// Ctrl-U: erases all.
    EraseAll,
    /// Tab.
    Tab,
    /// Shift-Tab.
    BackTab,
    /// Up.
    Up,
    /// Down.
    Down,
    /// A screenful up.
    PageUp,
    /// A screenful down.
    PageDown,
    /// To the beginning.
    Home,
    /// To the end.
    End,
}

/// Keys that wait while the screen is drawn. More are read later.
const WAITING: usize = 64;

/// How long the reader may outlive its listener.
const POLL: Duration = Duration::from_millis(100);

/// Reads the terminal on a thread of its own, until the receiver is dropped or the terminal is gone.
pub(super) fn listen() -> mpsc::Receiver<Input> {
    let (inputs, received) = mpsc::channel(WAITING);
    std::thread::spawn(move || while !inputs.is_closed() && read(&inputs).is_some() {});
    received
}

/// One look at the terminal; nothing when there is no point in another.
fn read(inputs: &mpsc::Sender<Input>) -> Option<()> {
    if !event::poll(POLL).ok()? {
        return Some(());
    }
    match meaning(event::read().ok()?) {
        Some(input) => inputs.blocking_send(input).ok(),
        None => Some(()),
    }
}

fn meaning(event: Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => meant(key).map(Input::Key),
        Event::Paste(text) => Some(Input::Key(Key::Paste(text))),
        Event::Resize(width, height) => Some(Input::Resized(Size { width, height })),
        _ => None,
    }
}

fn meant(key: KeyEvent) -> Option<Key> {
    if key.modifiers.contains(KeyModifiers::CONTROL) {
        return match key.code {
            KeyCode::Char('c') => Some(Key::Interrupt),
            KeyCode::Char('u') => Some(Key::EraseAll),
            KeyCode::Char('h') => Some(Key::Backspace),
            _ => None,
        };
    }
    Some(match key.code {
        KeyCode::Char(character) if !key.modifiers.contains(KeyModifiers::ALT) => Key::Char(character),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pressed(code: KeyCode, modifiers: KeyModifiers) -> Option<Key> {
        meant(KeyEvent::new(code, modifiers))
    }

    #[test]
    fn control_keys_are_no_characters() {
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Key::Interrupt));
        assert_eq!(pressed(KeyCode::Char('u'), KeyModifiers::CONTROL), Some(Key::EraseAll));
        assert_eq!(pressed(KeyCode::Char('a'), KeyModifiers::CONTROL), None);
        assert_eq!(pressed(KeyCode::Char('a'), KeyModifiers::ALT), None);
        assert_eq!(pressed(KeyCode::Char('A'), KeyModifiers::SHIFT), Some(Key::Char('A')));
    }

    #[test]
    fn a_key_that_is_let_go_means_nothing() {
        let up = KeyEvent::new_with_kind(KeyCode::Enter, KeyModifiers::NONE, KeyEventKind::Release);
        assert!(meaning(Event::Key(up)).is_none());
    }
}
