//! The text that is typed for a prompt.

use supervisor::DialogId;

/// More characters than anybody types; a paste beyond it is cut.
pub(super) const MAX_TYPED: usize = 4_096;

/// A text on its way into a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Typing {
    /// The prompt.
    pub(super) dialog: DialogId,
    /// What was typed so far.
    pub(super) text: String,
}

impl Typing {
    /// Nothing typed yet.
    pub(super) fn new(dialog: DialogId) -> Self {
        Self { dialog, text: String::new() }
    }

    /// Adds what fits.
    pub(super) fn add(&mut self, text: &str) {
        let room = MAX_TYPED.saturating_sub(self.text.chars().count());
        self.text.extend(text.chars().take(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_cut() {
        let mut typing = Typing::new(DialogId(1));
        typing.add(&"é".repeat(MAX_TYPED - 1));
        typing.add("ab");
        typing.add("c");
        assert_eq!(typing.text.chars().count(), MAX_TYPED);
        assert!(typing.text.ends_with("éa"));
    }
}
