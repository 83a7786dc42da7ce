//! Dialogs: who is told, who can answer, what they block.
//!
//! A page has one place for a dialog. A second one, of another process, takes the place of the first, and the browser
//! loses its way: with a dialog of its own it closes the first and forgets how to answer the second; without one it
//! forgets the first.

use std::collections::BTreeMap;

use cdp_wire::page::DialogType;
use serde_json::Value;

use crate::bridge::Stopped;
use crate::browser::Browser;
use crate::ids::{Counter, DialogNo, FrameNo, ProcessNo, SessionNo};
use crate::shape;

/// A dialog that is open.
#[derive(Debug, Clone)]
pub(crate) struct Dialog {
    pub(crate) page: FrameNo,
    pub(crate) frame: FrameNo,
    /// The renderer that waits for it.
    pub(crate) process: ProcessNo,
    /// The sessions that were told and can answer.
    pub(crate) told: Vec<SessionNo>,
    /// An answer still reaches it.
    pub(crate) answerable: bool,
    /// It took the place of another one, and the browser lost track of both.
    pub(crate) overlaps: bool,
    /// A client was told when it opened.
    pub(crate) was_told: bool,
}

impl Dialog {
    /// The browser knows of it, and has not lost its way, whether a client that could answer is still there or not.
    pub(crate) fn is_whole(&self) -> bool {
        self.was_told && !self.overlaps
    }
}

/// All dialogs that are open.
#[derive(Debug, Clone, Default)]
pub(crate) struct Dialogs {
    pub(crate) open: BTreeMap<DialogNo, Dialog>,
    /// The client is asked instead.
    pub(crate) stopped: BTreeMap<DialogNo, Stopped>,
    numbers: Counter,
}

impl Dialogs {
    pub(crate) fn get(&self, no: DialogNo) -> Option<&Dialog> {
        self.open.get(&no)
    }

    /// Whether a dialog holds this renderer.
    pub(crate) fn block(&self, process: ProcessNo) -> bool {
        self.open.values().any(|dialog| dialog.process == process)
            || self.stopped.values().any(|stopped| stopped.process == process)
    }

    /// Whether a script waits for this one.
    pub(crate) fn is_waited_for(&self, no: DialogNo) -> bool {
        self.open.contains_key(&no) || self.stopped.contains_key(&no)
    }

    pub(crate) fn stop(&mut self, stopped: Stopped) -> DialogNo {
        let no = DialogNo(self.numbers.next());
        self.stopped.insert(no, stopped);
        no
    }
}

/// Answers that tell how a dialog ends.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ending {
    pub(crate) accepted: bool,
    pub(crate) text: String,
}

impl Browser {
    /// A script opens a dialog: that of the client, or one of the page. `None` when the page can show none now.
    pub(crate) fn open_dialog(&mut self, frame: FrameNo, kind: DialogType) -> Option<DialogNo> {
        if kind != DialogType::Beforeunload
            && let Some(no) = self.ask_client(frame, kind)
        {
            return Some(no);
        }
        let no = DialogNo(self.dialogs.numbers.next());
        self.open_native(no, frame, kind)
    }

    /// A dialog of the page. `None` when it can show none now.
    pub(crate) fn open_native(&mut self, no: DialogNo, frame: FrameNo, kind: DialogType) -> Option<DialogNo> {
        let page = self.page_of(frame)?;
        let place = self.page(page)?;
        let before = place.dialog.filter(|no| self.dialogs.get(*no).is_some());
        let lost = self.dialogs.open.values().any(|it| it.page == page && !it.answerable);
        if place.poisoned || (lost && self.config.has_browser_handler) {
            return None;
        }
        let told = self.told(page);
        if told.is_empty() && !self.config.has_browser_handler {
            return None;
        }
        let process = self.frames.process(frame)?;
        let answerable = !told.is_empty();
        let (overlaps, was_told) = (false, answerable);
        let dialog = Dialog { page, frame, process, told: told.clone(), answerable, overlaps, was_told };
        self.dialogs.open.insert(no, dialog);
        self.tally.dialogs += 1;
        let opening = self.opening(frame, kind);
        for session in told {
            self.speak(Some(session), "Page.javascriptDialogOpening", opening.clone());
        }
        self.page_mut(page)?.dialog = Some(no);
        if let Some(before) = before {
            self.overlap(before, no);
        }
        Some(no)
    }

    fn told(&self, page: FrameNo) -> Vec<SessionNo> {
        let wants = |no: &SessionNo| self.sessions.get(*no).is_some_and(|session| session.page_handler);
        self.sessions.on(page).into_iter().filter(wants).collect()
    }

    fn overlap(&mut self, first: DialogNo, second: DialogNo) {
        self.tally.overlaps += 1;
        if !self.config.has_browser_handler {
            if let Some(first) = self.dialogs.open.get_mut(&first) {
                first.answerable = false;
            }
            return;
        }
        if let Some(second) = self.dialogs.open.get_mut(&second) {
            second.answerable = false;
            second.overlaps = true;
        }
        self.close_dialog(first, &Ending::default());
        self.release_all();
    }

    fn opening(&self, frame: FrameNo, kind: DialogType) -> Value {
        let url = self.frames.get(frame).map(|frame| frame.document.whole_url()).unwrap_or_default();
        let message = if kind == DialogType::Beforeunload { String::new() } else { format!("from {frame}") };
        let opening = shape::Dialog {
            kind,
            message: &message,
            default_prompt: if kind == DialogType::Prompt { "default" } else { "" },
            url: &url,
            has_browser_handler: self.config.has_browser_handler,
        };
        opening.opening(self.config.dialog_frame_ids.then_some(frame))
    }

    /// A dialog is over: all that can hear of it do, and its renderer goes on once [`Browser::release_all`] is called.
    pub(crate) fn close_dialog(&mut self, no: DialogNo, ending: &Ending) {
        let Some(dialog) = self.dialogs.open.remove(&no) else { return };
        let frame = self.config.dialog_frame_ids.then_some(dialog.frame);
        let params = shape::dialog_closed(ending.accepted, &ending.text, frame);
        for session in self.told(dialog.page) {
            self.speak(Some(session), "Page.javascriptDialogClosed", params.clone());
        }
        if let Some(page) = self.page_mut(dialog.page).filter(|page| page.dialog == Some(no)) {
            page.dialog = None;
        }
        self.fence_process(dialog.process);
        self.open_gate(no, ending.accepted);
    }

    /// A dialog vanishes and nobody hears of it.
    pub(crate) fn drop_dialog(&mut self, no: DialogNo) {
        let Some(dialog) = self.dialogs.open.remove(&no) else { return };
        if let Some(page) = self.page_mut(dialog.page).filter(|page| page.dialog == Some(no)) {
            page.dialog = None;
        }
        self.open_gate(no, false);
    }

    /// The dialog that an answer on this session would reach.
    pub(crate) fn answerable_on(&self, session: SessionNo, page: FrameNo) -> Option<DialogNo> {
        let no = self.page(page)?.dialog?;
        let dialog = self.dialogs.get(no)?;
        (dialog.answerable && dialog.told.contains(&session)).then_some(no)
    }

    /// A navigation of the page closes what is open on it.
    pub(crate) fn navigation_closes_dialog(&mut self, page: FrameNo) {
        let Some(no) = self.page(page).and_then(|page| page.dialog) else { return };
        self.close_dialog(no, &Ending::default());
    }

    /// The frame is gone. If its dialog was open, the page is in a state that a real browser does not survive for long.
    pub(crate) fn dialogs_lose_frame(&mut self, frame: FrameNo) {
        self.dialogs.stopped.retain(|_, stopped| stopped.frame != frame);
        let open = self.dialogs.open.iter().filter(|(_, it)| it.frame == frame);
        // A client that could have answered may be gone by now. What becomes of one that none ever saw, nobody has tried.
        let gone: Vec<(DialogNo, FrameNo, bool)> =
            open.map(|(no, it)| (*no, it.page, it.is_whole())).collect();
        for (no, page, is_deadly) in gone {
            self.drop_dialog(no);
            if is_deadly
                && self.config.has_browser_handler
                && let Some(page) = self.page_mut(page)
            {
                page.poisoned = true;
            }
        }
    }

    /// The document that waited for a dialog nobody can answer has gone, with its renderer.
    pub(crate) fn forget_lost_dialogs(&mut self, frame: FrameNo) {
        let lost = self.dialogs.open.iter().filter(|(_, it)| it.frame == frame && !it.answerable);
        for no in lost.map(|(no, _)| *no).collect::<Vec<_>>() {
            self.drop_dialog(no);
        }
    }

    /// Clients left. A dialog that no client can answer any more stays, or is cancelled where the browser has none of
    /// its own.
    pub(crate) fn dialogs_lose_clients(&mut self, gone: &[SessionNo]) {
        let mut orphans = Vec::new();
        for (no, dialog) in &mut self.dialogs.open {
            let had = !dialog.told.is_empty();
            dialog.told.retain(|session| !gone.contains(session));
            if had && dialog.told.is_empty() && dialog.answerable {
                dialog.answerable = false;
                orphans.push(*no);
            }
        }
        if !self.config.has_browser_handler {
            for no in orphans {
                self.drop_dialog(no);
            }
        }
    }
}
