//! What happened so far, as numbers: to see that a test reached what it is meant to reach.

use std::collections::BTreeSet;

use crate::ids::{FrameNo, SessionNo};

/// How often what is hard has happened.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Frames that went to another process than their parent's.
    pub swaps: u32,
    /// Frames that came back to their parent's process.
    pub homecomings: u32,
    /// Out-of-process iframes inside out-of-process iframes.
    pub nested: u32,
    /// Renderers that died.
    pub crashes: u32,
    /// Targets that were gone before their client had resumed them.
    pub removed_while_attaching: u32,
    /// Sessions whose end was sent after the end, or the return, of their frame.
    pub late_detaches: u32,
    /// Documents that came back from the back/forward cache.
    pub restores: u32,
    /// Dialogs.
    pub dialogs: u32,
    /// Dialogs that the client was asked about instead of the browser.
    pub bridged: u32,
    /// Dialogs that opened over another one.
    pub overlaps: u32,
    /// Pages that another page opened.
    pub popups: u32,
    /// Times that all sessions were lost.
    pub drops: u32,
    /// Times that a command killed the browser.
    pub deaths: u32,
}

/// What a message means for the tally when it is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The frame's parent process says where the frame is now.
    FrameSettled(FrameNo),
    /// The session ended.
    Detached(SessionNo),
}

/// Frames whose own end or return was sent already.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sent {
    settled: BTreeSet<u32>,
}

impl Sent {
    /// Notes a message that was sent.
    pub(crate) fn note(&mut self, mark: Mark, tally: &mut Tally) {
        match mark {
            Mark::FrameSettled(frame) => {
                self.settled.insert(frame.0);
            }
            Mark::Detached(session) => tally.late_detaches += u32::from(self.settled.remove(&session.target)),
        }
    }

    /// The frame got a session: what was said before is of the past.
    pub(crate) fn attached(&mut self, frame: FrameNo) {
        self.settled.remove(&frame.0);
    }
}
