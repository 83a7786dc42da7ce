//! Which dialog keys answer.

use std::sync::Arc;

use supervisor::supervisor_core::dialog::ClosedBy;
use supervisor::{DialogId, DialogView, Snapshot};

use super::keys::Key;
use super::model::Model;
use crate::screen::{Kind, Line};

impl Model {
    /// The dialog that is chosen, while it is open.
    pub(super) fn chosen_dialog(&self) -> Option<&DialogView> {
        self.snapshot.pending_dialogs.iter().find(|dialog| Some(dialog.id) == self.chosen)
    }

    /// The choice stays with its dialog. When somebody else closes it, the next one is not chosen by itself: a key that was
    /// meant for the first must not answer the second.
    pub(super) fn look_at(&mut self, snapshot: Arc<Snapshot>) {
        let before = std::mem::replace(&mut self.snapshot, snapshot);
        self.stop_typing_into_nothing();
        let Some(chosen) = self.chosen.filter(|_| self.chosen_dialog().is_none()) else {
            return self.choose_first_of(&before);
        };
        let by = self.closed_by(chosen);
        if by == Some(ClosedBy::Agent) {
            self.chosen = self.snapshot.pending_dialogs.first().map(|dialog| dialog.id);
        } else {
            let by = by.map(|by| format!(" by {}", by.as_str())).unwrap_or_default();
            self.chosen = None;
            self.said = Some(Line::new(Kind::Note, format!("{chosen} was closed{by}")));
        }
    }

    fn closed_by(&self, id: DialogId) -> Option<ClosedBy> {
        self.snapshot.recent_dialogs.iter().find(|dialog| dialog.id == id)?.closed_by
    }

    fn choose_first_of(&mut self, before: &Snapshot) {
        if self.chosen.is_none() && before.pending_dialogs.is_empty() {
            self.chosen = self.snapshot.pending_dialogs.first().map(|dialog| dialog.id);
        }
    }

    fn stop_typing_into_nothing(&mut self) {
        let pending = &self.snapshot.pending_dialogs;
        let Some(gone) =
            self.typing.take_if(|typing| pending.iter().all(|dialog| dialog.id != typing.dialog))
        else {
            return;
        };
        let text = format!("{} has ended; what was typed was not sent", gone.dialog);
        self.said = Some(Line::new(Kind::Warn, text));
    }

    /// Moves the choice.
    pub(super) fn choose(&mut self, key: &Key, fit: usize) {
        let dialogs = &self.snapshot.pending_dialogs;
        let Some(last) = dialogs.len().checked_sub(1) else { return };
        let at = dialogs.iter().position(|dialog| Some(dialog.id) == self.chosen);
        let to = match at {
            Some(at) => moved(key, at, last, fit),
            None => moved(key, 0, last, fit).map(|_| 0),
        };
        if let Some(to) = to {
            self.chosen = Some(dialogs[to].id);
        }
    }
}

/// Where a key leads from a row; nothing for other keys.
pub(super) fn moved(key: &Key, from: usize, last: usize, page: usize) -> Option<usize> {
    Some(match key {
        Key::Up => from.saturating_sub(1),
        Key::Down => (from + 1).min(last),
        Key::PageUp => from.saturating_sub(page),
        Key::PageDown => (from + page).min(last),
        Key::Home => 0,
        Key::End => last,
        _ => return None,
    })
}
