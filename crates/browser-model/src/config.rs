//! What differs between builds of a browser.

/// Where builds of Chromium differ. Every combination is a browser that exists or existed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Config {
    /// The browser shows dialogs itself (new headless, headful). Without, an unanswered dialog is cancelled when its
    /// last client leaves, and of two dialogs the second takes the first one's place (headless shell).
    pub has_browser_handler: bool,
    /// `targetInfo.parentFrameId` is there for iframe targets (since about Chromium 141).
    pub parent_frame_ids: bool,
    /// The root of an out-of-process iframe's own tree names its parent.
    pub root_parent_ids: bool,
    /// Dialog events name the frame.
    pub dialog_frame_ids: bool,
    /// `frameDetached(swap)` is sent when a frame starts for another process, and not when it arrives there.
    pub swap_first: bool,
    /// A paused target answers its set-up before it is resumed.
    pub paused_answers: bool,
    /// `executionContextsCleared` is sent twice for one new document.
    pub clears_twice: bool,
    /// Of a removed subtree every frame of the process is reported, and not only its root.
    pub reports_descendants: bool,
    /// `frameStartedNavigating` is sent; older builds have `frameStartedLoading` only.
    pub starts_navigating: bool,
    /// The navigation of one subframe closes the dialog of another frame.
    pub subframe_closes_dialog: bool,
    /// What was asked while a renderer was dead fails when it is back; otherwise it is carried out then.
    pub crash_fails_commands: bool,
}

impl Default for Config {
    /// As measured on Chromium 156, new headless.
    fn default() -> Self {
        Self {
            has_browser_handler: true,
            parent_frame_ids: true,
            root_parent_ids: true,
            dialog_frame_ids: true,
            swap_first: false,
            paused_answers: true,
            clears_twice: true,
            reports_descendants: false,
            starts_navigating: true,
            subframe_closes_dialog: false,
            crash_fails_commands: false,
        }
    }
}

impl Config {
    /// A configuration out of a number: each bit turns one difference from the default on. The three that name a frame
    /// are never all off together: without any of them nobody can place an iframe that was there before.
    #[must_use]
    pub fn from_bits(bits: u16) -> Self {
        let differs = |bit: u16| bits & (1 << bit) != 0;
        Self {
            has_browser_handler: !differs(0),
            parent_frame_ids: !differs(1),
            root_parent_ids: differs(1) || !differs(2),
            dialog_frame_ids: !differs(3),
            swap_first: differs(4),
            paused_answers: !differs(5),
            clears_twice: !differs(6),
            reports_descendants: differs(7),
            starts_navigating: !differs(8),
            subframe_closes_dialog: differs(9),
            crash_fails_commands: differs(10),
        }
    }
}
