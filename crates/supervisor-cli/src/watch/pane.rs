//! The parts of the screen.

/// One part of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pane {
    /// Dialogs that wait for an answer.
    Dialogs,
    /// Pages, and the frames of the active one.
    Pages,
    /// Dialogs that ended.
    Recent,
    /// Errors and warnings of the console.
    Console,
    /// Calls and events.
    Log,
}

impl Pane {
    /// All of them, in the order in which Tab goes through them.
    pub(super) const ALL: [Pane; 5] = [Pane::Dialogs, Pane::Pages, Pane::Recent, Pane::Console, Pane::Log];

    /// Its place in [`Pane::ALL`].
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Where Tab goes.
    pub(super) fn next(self) -> Self {
        Self::ALL[(self.index() + 1) % Self::ALL.len()]
    }

    /// Where Shift-Tab goes.
    pub(super) fn before(self) -> Self {
        Self::ALL[(self.index() + Self::ALL.len() - 1) % Self::ALL.len()]
    }

    /// What stands above it.
    pub(super) fn title(self) -> &'static str {
        match self {
            Pane::Dialogs => "Dialogs that wait",
            Pane::Pages => "Pages and frames",
            Pane::Recent => "Dialogs that ended, newest first",
            Pane::Console => "Console, newest first",
            Pane::Log => "Calls and events, newest first",
        }
    }

    /// What it says when there is nothing.
    pub(super) fn nothing(self) -> &'static str {
        match self {
            Pane::Dialogs => "no dialog is open",
            Pane::Pages => "no page",
            Pane::Recent => "none yet",
            Pane::Console => "no errors, no warnings",
            Pane::Log => "nothing yet",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tab_goes_round_and_back() {
        for (index, pane) in Pane::ALL.into_iter().enumerate() {
            assert_eq!((pane.index(), pane.next().before()), (index, pane));
        }
        assert_eq!(Pane::Log.next(), Pane::Dialogs);
    }
}
