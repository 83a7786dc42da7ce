//! What is really there, as far as a client with these sessions can know it.

use std::collections::{BTreeMap, BTreeSet};

use cdp_wire::{FrameId, SessionId, TargetId};

use crate::browser::Browser;
use crate::document::OPAQUE;
use crate::ids::{FrameNo, SessionNo, Wire};
use crate::session::Target;

/// The state of the browser. Pages and frames whose process has no session of the client are left out, and with them
/// all that is below: nobody could tell it of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Truth {
    /// Pages by their target.
    pub pages: BTreeMap<TargetId, PageTruth>,
    /// Frames of these pages.
    pub frames: BTreeMap<FrameId, FrameTruth>,
    /// Sessions of pages and iframes.
    pub sessions: BTreeSet<SessionId>,
    /// Sessions whose target waits to be resumed.
    pub paused: BTreeSet<SessionId>,
    /// Dialogs that are open.
    pub dialogs: Vec<DialogTruth>,
    /// Frames whose scripts wait for the client's answer.
    pub asking: BTreeSet<FrameId>,
}

/// A page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageTruth {
    /// Its URL.
    pub url: String,
    /// Its sessions, oldest first.
    pub sessions: Vec<SessionId>,
    /// Its renderer is dead.
    pub crashed: bool,
    /// Its main frame is on its way to another document.
    pub navigating: bool,
    /// An iframe was removed while its dialog was open: hardly any command leaves the browser alive.
    pub poisoned: bool,
}

impl PageTruth {
    /// Whether it can neither stay nor go: it is on its way, and to arrive would end the browser.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        self.poisoned && self.navigating
    }
}

/// A frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameTruth {
    /// Its page.
    pub page: TargetId,
    /// Its parent.
    pub parent: Option<FrameId>,
    /// Its document's URL with the fragment; empty before the first commit.
    pub url: String,
    /// Its document's origin; `null` for an opaque one.
    pub origin: String,
    /// Its name.
    pub name: String,
    /// It lives in another process than its parent.
    pub is_oopif: bool,
    /// The sessions of the process that it lives in.
    pub sessions: Vec<SessionId>,
    /// Its renderer is dead.
    pub crashed: bool,
    /// A session was there when that happened; one that came later is not told.
    pub crash_was_told: bool,
}

/// A dialog that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DialogTruth {
    /// The page.
    pub page: TargetId,
    /// The frame that raised it.
    pub frame: FrameId,
    /// Whether an answer would reach it.
    pub answerable: bool,
}

impl Browser {
    /// What is really there now.
    #[must_use]
    pub fn truth(&self) -> Truth {
        Truth {
            pages: self.pages.iter().filter_map(|page| self.page_truth(page.main)).collect(),
            frames: self.frames.iter().filter_map(|frame| self.frame_truth(frame.no)).collect(),
            sessions: self.frame_sessions(|_| true),
            paused: self.sessions.iter().filter(|(_, it)| it.waiting).map(|(no, _)| session_id(no)).collect(),
            dialogs: self.dialogs.open.values().map(dialog_truth).collect(),
            asking: self.dialogs.stopped.values().map(|stopped| frame_id(stopped.frame)).collect(),
        }
    }

    fn page_truth(&self, main: FrameNo) -> Option<(TargetId, PageTruth)> {
        let frame = self.frames.get(main)?;
        let sessions: Vec<SessionId> = self.sessions.on_main(main).into_iter().map(session_id).collect();
        let truth = PageTruth {
            url: frame.document.whole_url(),
            crashed: self.processes.is_dead(frame.process),
            navigating: frame.pending.is_some(),
            poisoned: self.page(main)?.poisoned,
            sessions,
        };
        (!truth.sessions.is_empty()).then(|| (target_id(main), truth))
    }

    fn frame_truth(&self, no: FrameNo) -> Option<(FrameId, FrameTruth)> {
        let frame = self.frames.get(no).filter(|_| self.is_visible(no))?;
        let origin = &frame.document.origin;
        let sessions = self.sessions.on_main(self.frames.local_root(no));
        let saw_crash = |no: &SessionNo| self.sessions.get(*no).is_some_and(|session| session.saw_crash);
        let truth = FrameTruth {
            crash_was_told: sessions.iter().any(saw_crash),
            page: target_id(frame.page),
            parent: frame.parent.map(frame_id),
            url: frame.document.whole_url(),
            origin: if origin == OPAQUE { "null".to_owned() } else { origin.clone() },
            name: frame.name.clone(),
            is_oopif: self.frames.is_remote(no),
            sessions: sessions.into_iter().map(session_id).collect(),
            crashed: self.processes.is_dead(frame.process),
        };
        Some((frame_id(no), truth))
    }

    fn is_visible(&self, no: FrameNo) -> bool {
        let mut current = Some(no);
        while let Some(frame) = current {
            if self.sessions.on_main(self.frames.local_root(frame)).is_empty() {
                return false;
            }
            current = self.frames.parent(frame);
        }
        true
    }

    fn frame_sessions(&self, wanted: impl Fn(SessionNo) -> bool) -> BTreeSet<SessionId> {
        let frames = self.sessions.iter().filter(|(_, it)| matches!(it.target, Target::Frame(_)));
        frames.map(|(no, _)| no).filter(|no| no.wire == Wire::Main && wanted(*no)).map(session_id).collect()
    }
}

fn dialog_truth(dialog: &crate::dialog::Dialog) -> DialogTruth {
    DialogTruth { page: target_id(dialog.page), frame: frame_id(dialog.frame), answerable: dialog.answerable }
}

fn target_id(no: FrameNo) -> TargetId {
    TargetId::from(no.to_string().as_str())
}

fn frame_id(no: FrameNo) -> FrameId {
    FrameId::from(no.to_string().as_str())
}

fn session_id(no: SessionNo) -> SessionId {
    SessionId::from(no.to_string().as_str())
}
