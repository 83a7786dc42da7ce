//! The browser as a whole: its parts, and how messages leave it.

use serde_json::Value;

use crate::config::Config;
use crate::dialog::Dialogs;
use crate::document::{Context, Document, OPAQUE};
use crate::frame::{Frame, Frames};
use crate::ids::{Counter, FrameNo, LoaderNo, ProcessNo, SessionNo, Wire};
use crate::json;
use crate::page::Page;
use crate::process::{Key, Processes};
use crate::queue::{Queues, SourceId};
use crate::session::{Session, Sessions};
use crate::shape;
use crate::tally::{Mark, Sent, Tally};

/// A fake browser with one client, which may have two connections. It begins with one blank page.
#[derive(Debug, Clone)]
pub struct Browser {
    pub(crate) config: Config,
    pub(crate) targets: Counter,
    pub(crate) loaders: Counter,
    pub(crate) families: Counter,
    /// Numbers the URLs of pages, so that no two are the same.
    pub(crate) urls: Counter,
    pub(crate) processes: Processes,
    /// In the order in which they were opened.
    pub(crate) pages: Vec<Page>,
    pub(crate) frames: Frames,
    pub(crate) sessions: Sessions,
    pub(crate) dialogs: Dialogs,
    pub(crate) queues: Queues,
    /// The connection whose command is carried out.
    pub(crate) serving: Wire,
    /// The client wants to hear of pages.
    pub(crate) discover: bool,
    /// Pages are attached; `true` when popups are paused.
    pub(crate) auto_attach: Option<bool>,
    pub(crate) tally: Tally,
    pub(crate) sent: Sent,
    pub(crate) dead: bool,
}

impl Browser {
    /// A browser with one blank page and no client yet.
    #[must_use]
    pub fn new(config: Config) -> Self {
        let mut browser = Self {
            config,
            targets: Counter::default(),
            loaders: Counter::default(),
            families: Counter::default(),
            urls: Counter::default(),
            processes: Processes::default(),
            pages: Vec::new(),
            frames: Frames::default(),
            sessions: Sessions::default(),
            dialogs: Dialogs::default(),
            queues: Queues::default(),
            serving: Wire::Main,
            discover: false,
            auto_attach: None,
            tally: Tally::default(),
            sent: Sent::default(),
            dead: false,
        };
        browser.open_blank_page();
        browser
    }

    /// The sources that may speak next, in a fixed order; empty when all has been said.
    #[must_use]
    pub fn ready(&self) -> Vec<SourceId> {
        self.queues.ready()
    }

    /// Takes the next message of a source; `None` when it may not speak now.
    pub fn emit(&mut self, source: SourceId) -> Option<String> {
        let (text, mark) = self.queues.emit(source)?;
        if let Some(mark) = mark {
            self.sent.note(mark, &mut self.tally);
        }
        Some(text)
    }

    /// What has happened so far, in numbers.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Whether a command killed it: its socket is closed, nothing more comes.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.dead
    }

    /// Starts it again after its death: one blank page, no client.
    pub fn restart(&mut self) {
        self.forget_both();
        self.pages.clear();
        self.frames = Frames::default();
        self.dialogs = Dialogs::default();
        self.dead = false;
        self.open_blank_page();
    }

    pub(crate) fn die(&mut self) {
        self.tally.deaths += 1;
        self.forget_both();
        self.dead = true;
    }

    fn forget_both(&mut self) {
        self.forget(Wire::Main);
        self.forget(Wire::Guard);
    }

    pub(crate) fn forget(&mut self, wire: Wire) {
        self.sessions.clear(wire);
        self.queues.clear(wire);
        if wire == Wire::Main {
            self.discover = false;
            self.auto_attach = None;
        }
    }

    /// Opens a tab on `about:blank`, and announces it.
    pub(crate) fn open_blank_page(&mut self) -> FrameNo {
        let family = self.families.next();
        let process = self.processes.get(Key::Alone(family));
        let main = self.new_page(None, family, process);
        if let Some(frame) = self.frames.get_mut(main) {
            frame.document.url = "about:blank".to_owned();
        }
        self.new_context(main);
        self.announce_page(main, false);
        main
    }

    pub(crate) fn new_page(&mut self, opener: Option<FrameNo>, family: u32, process: ProcessNo) -> FrameNo {
        let main = FrameNo(self.targets.next());
        let document = Document::empty(LoaderNo(self.loaders.next()));
        self.frames.insert(new_frame(main, main, None, process, document));
        let opener_page = opener.and_then(|opener| self.frames.get(opener)).map(|frame| frame.page);
        let (dialog, cached, first_dialog) = (None, None, None);
        self.pages.push(Page {
            main,
            opener,
            opener_page,
            family,
            dialog,
            poisoned: false,
            cached,
            first_dialog,
        });
        main
    }

    /// A frame below another one, in its process, with an empty document.
    pub(crate) fn new_child(&mut self, parent: FrameNo) -> Option<FrameNo> {
        let (page, process) = self.frames.get(parent).map(|frame| (frame.page, frame.process))?;
        let no = FrameNo(self.targets.next());
        let document = Document::empty(LoaderNo(self.loaders.next()));
        self.frames.insert(new_frame(no, page, Some(parent), process, document));
        Some(no)
    }

    pub(crate) fn page(&self, main: FrameNo) -> Option<&Page> {
        self.pages.iter().find(|page| page.main == main)
    }

    pub(crate) fn page_mut(&mut self, main: FrameNo) -> Option<&mut Page> {
        self.pages.iter_mut().find(|page| page.main == main)
    }

    /// The page that a frame is part of.
    pub(crate) fn page_of(&self, frame: FrameNo) -> Option<FrameNo> {
        self.frames.get(frame).map(|frame| frame.page)
    }

    /// The document of a frame gets an execution context in the process that it is in.
    pub(crate) fn new_context(&mut self, frame: FrameNo) {
        let Some(it) = self.frames.get_mut(frame) else { return };
        let id = self.processes.next_context(it.process);
        it.document.context = Some(Context { id, process: it.process });
        self.run_scripts(frame);
    }

    /// An event of the browser process; its number can be a fence.
    pub(crate) fn speak(&mut self, session: Option<SessionNo>, method: &str, params: Value) -> u64 {
        let wire = session.map_or(Wire::Main, |session| session.wire);
        self.queues.speak(wire, json::event(session, method, params))
    }

    /// An event of the browser process on those of the sessions on this frame that want to hear of pages.
    pub(crate) fn speak_page(&mut self, root: FrameNo, method: &str, params: &Value) -> u64 {
        for session in self.sessions.on(root) {
            if self.sessions.get(session).is_some_and(|session| session.page_handler) {
                self.speak(Some(session), method, params.clone());
            }
        }
        self.queues.last()
    }

    /// An event of a renderer, on the sessions on this frame that enabled `Page`.
    pub(crate) fn pipe_page(&mut self, root: FrameNo, method: &str, params: &Value, mark: Option<Mark>) {
        self.pipe_if(root, method, params, mark, |session| session.page_agent);
    }

    /// An event of a renderer, on the sessions on this frame that enabled `Runtime`.
    pub(crate) fn pipe_runtime(&mut self, root: FrameNo, method: &str, params: &Value) {
        self.pipe_if(root, method, params, None, |session| session.runtime_agent);
    }

    fn pipe_if(
        &mut self,
        root: FrameNo,
        method: &str,
        params: &Value,
        mark: Option<Mark>,
        wanted: impl Fn(&Session) -> bool,
    ) {
        for session in self.sessions.on(root) {
            if self.sessions.get(session).is_some_and(&wanted) {
                self.queues.pipe(session, json::event(Some(session), method, params.clone()), mark);
            }
        }
    }

    /// `Runtime.executionContextCreated` for the document of a frame.
    pub(crate) fn context_event(&self, frame: FrameNo) -> Option<Value> {
        let document = &self.frames.get(frame)?.document;
        let context = document.context?;
        Some(shape::context(context.id, context.unique(), frame, &document.origin))
    }
}

fn new_frame(
    no: FrameNo,
    page: FrameNo,
    parent: Option<FrameNo>,
    process: ProcessNo,
    mut document: Document,
) -> Frame {
    document.origin = OPAQUE.to_owned();
    let name = parent.map(|_| format!("name-{}", no.0)).unwrap_or_default();
    Frame { no, page, parent, children: Vec::new(), name, process, document, pending: None }
}
