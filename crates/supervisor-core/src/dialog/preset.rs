//! Default texts of prompts, whole. Accepting sends them back, so they are kept as long as the page wrote them; an event
//! holds only what is shown, because events are kept by journals and by watchers that are behind.

use std::collections::BTreeMap;

use cdp_wire::TargetId;
use serde::{Deserialize, Serialize};

use crate::ids::DialogId;
use crate::limits::{MAX_BRIDGE_PRESETS, MAX_DEFAULT_PROMPT, MAX_SHOWN_TEXT};
use crate::shown::cut;

/// Whose default text it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Of {
    /// An open dialog's.
    Dialog(DialogId),
    /// That of a request of the bridge that is held, by its number.
    Held(u64),
    /// That of the dialog that the guard sees on a page.
    Guard(TargetId),
}

/// The texts that are longer than what is shown.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Presets {
    #[serde(with = "crate::pairs")]
    long: BTreeMap<Of, Whole>,
}

/// A text of a page; redaction knows it by the name of its field.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Whole {
    text: String,
}

impl Presets {
    /// Keeps a text in the place of an earlier one.
    pub(crate) fn keep(&mut self, of: Of, text: &str) {
        self.long.remove(&of);
        if text.len() > MAX_SHOWN_TEXT {
            self.long.insert(of, Whole { text: cut(text, MAX_DEFAULT_PROMPT).to_owned() });
        }
    }

    /// The whole text, if it is longer than what is shown.
    pub(crate) fn get(&self, of: &Of) -> Option<&str> {
        self.long.get(of).map(|whole| whole.text.as_str())
    }

    pub(crate) fn forget(&mut self, of: &Of) {
        self.long.remove(of);
    }

    /// Whether the bridge may ask with a text of this length.
    pub(crate) fn has_room_for(&self, bytes: usize) -> bool {
        let held: usize = self.long.values().map(|whole| whole.text.len()).sum();
        bytes <= MAX_SHOWN_TEXT || held.saturating_add(bytes) <= MAX_BRIDGE_PRESETS
    }

    /// The main connection is gone, and with it what was held.
    pub(crate) fn main_lost(&mut self) {
        self.long.retain(|of, _| !matches!(of, Of::Held(_)));
    }

    pub(crate) fn guard_lost(&mut self) {
        self.long.retain(|of, _| !matches!(of, Of::Guard(_)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_whole_is_not_kept_twice_and_what_is_too_long_is_cut() {
        let mut presets = Presets::default();
        let of = || Of::Dialog(DialogId(1));
        presets.keep(of(), &"x".repeat(MAX_SHOWN_TEXT));
        assert_eq!(presets.get(&of()), None);
        presets.keep(of(), &"x".repeat(MAX_DEFAULT_PROMPT + 1));
        assert_eq!(presets.get(&of()).map(str::len), Some(MAX_DEFAULT_PROMPT));
        presets.keep(of(), "short");
        assert_eq!(presets.get(&of()), None);
    }

    #[test]
    fn all_together_they_are_bounded() {
        let mut presets = Presets::default();
        let most = MAX_BRIDGE_PRESETS / MAX_DEFAULT_PROMPT;
        for number in 0..most as u64 {
            assert!(presets.has_room_for(MAX_DEFAULT_PROMPT), "{number}");
            presets.keep(Of::Held(number), &"x".repeat(MAX_DEFAULT_PROMPT));
        }
        assert!(!presets.has_room_for(MAX_DEFAULT_PROMPT) && presets.has_room_for(MAX_SHOWN_TEXT));
    }
}
