//! Flat sessions: what is attached to what, and what it has asked for.

use std::collections::BTreeMap;

use crate::bridge::Asking;
use crate::command::Command;
use crate::ids::{DialogNo, FrameNo, SessionNo, Wire};

/// What a session is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// A page or an out-of-process iframe, by the frame at its root.
    Frame(FrameNo),
    /// A worker of this frame's document.
    Worker(FrameNo),
}

/// One session.
#[derive(Debug, Clone)]
pub(crate) struct Session {
    pub(crate) target: Target,
    /// Where it was announced; none for the root.
    pub(crate) parent: Option<SessionNo>,
    /// The target waits to be resumed.
    pub(crate) waiting: bool,
    /// The frame is still on its way to the process that this session is for.
    pub(crate) early: bool,
    /// It was there when the renderer died, and was told.
    pub(crate) saw_crash: bool,
    /// `Page` is enabled in the browser process: dialogs, and navigations that start.
    pub(crate) page_handler: bool,
    /// `Page` is enabled in the renderer: frames.
    pub(crate) page_agent: bool,
    /// `Runtime` is enabled.
    pub(crate) runtime_agent: bool,
    /// Related targets are attached; `true` when they are paused.
    pub(crate) auto_attach: Option<bool>,
    /// What the renderer has not dealt with yet, in order.
    pub(crate) held: Vec<Held>,
    /// Evaluations whose promise nobody settles.
    pub(crate) promises: Vec<u64>,
    /// The addresses of requests that stop for it.
    pub(crate) intercepts: Vec<String>,
    /// The script that it has run in new documents.
    pub(crate) script: Option<Asking>,
}

/// What waits for a renderer.
#[derive(Debug, Clone)]
pub(crate) enum Held {
    /// A command that it has not seen.
    Command(Command),
    /// A reply that it gives when the dialog has closed.
    Reply {
        /// The dialog that its script opened.
        dialog: DialogNo,
        /// The reply.
        text: String,
    },
}

impl Session {
    pub(crate) fn new(target: Target, parent: Option<SessionNo>, waiting: bool) -> Self {
        Self {
            target,
            parent,
            waiting,
            early: false,
            saw_crash: false,
            page_handler: false,
            page_agent: false,
            runtime_agent: false,
            auto_attach: None,
            held: Vec::new(),
            promises: Vec::new(),
            intercepts: Vec::new(),
            script: None,
        }
    }
}

/// All sessions.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sessions {
    by_no: BTreeMap<SessionNo, Session>,
    /// How many sessions each target has had on each connection.
    given: BTreeMap<(Wire, u32), u32>,
}

impl Sessions {
    pub(crate) fn get(&self, no: SessionNo) -> Option<&Session> {
        self.by_no.get(&no)
    }

    pub(crate) fn get_mut(&mut self, no: SessionNo) -> Option<&mut Session> {
        self.by_no.get_mut(&no)
    }

    /// All of them, in the order of their targets.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (SessionNo, &Session)> {
        self.by_no.iter().map(|(no, session)| (*no, session))
    }

    /// Takes in a session of the target with this number.
    pub(crate) fn insert(&mut self, wire: Wire, target: u32, session: Session) -> SessionNo {
        let nth = self.given.entry((wire, target)).or_default();
        *nth += 1;
        let no = SessionNo { wire, target, nth: *nth };
        self.by_no.insert(no, session);
        no
    }

    /// The sessions of a frame's target, those that came too early left out.
    pub(crate) fn on(&self, frame: FrameNo) -> Vec<SessionNo> {
        self.iter()
            .filter(|(_, it)| it.target == Target::Frame(frame) && !it.early)
            .map(|(no, _)| no)
            .collect()
    }

    /// Those of them that are the main connection's.
    pub(crate) fn on_main(&self, frame: FrameNo) -> Vec<SessionNo> {
        self.on(frame).into_iter().filter(|no| no.wire == Wire::Main).collect()
    }

    /// The sessions of a frame's target, those that came too early too.
    pub(crate) fn all_on(&self, frame: FrameNo) -> Vec<SessionNo> {
        self.iter().filter(|(_, it)| it.target == Target::Frame(frame)).map(|(no, _)| no).collect()
    }

    /// The session and all that were announced below it, itself first.
    pub(crate) fn with_descendants(&self, no: SessionNo) -> Vec<SessionNo> {
        let mut found = vec![no];
        let mut next = 0;
        while let Some(parent) = found.get(next).copied() {
            found.extend(self.iter().filter(|(_, it)| it.parent == Some(parent)).map(|(child, _)| child));
            next += 1;
        }
        found
    }

    pub(crate) fn remove(&mut self, no: SessionNo) -> Option<Session> {
        self.by_no.remove(&no)
    }

    /// A connection is gone.
    pub(crate) fn clear(&mut self, wire: Wire) {
        self.by_no.retain(|no, _| no.wire != wire);
    }
}
