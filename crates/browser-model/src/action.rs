//! What happens in the browser without the client: users, scripts, networks, other clients, bad luck.

use cdp_wire::TargetId;
use cdp_wire::page::DialogType;

use crate::browser::Browser;
use crate::dialog::Ending;
use crate::document::{Destination, OPAQUE, Renderer, site_page};
use crate::ids::{Counter, DialogNo, FrameNo, Wire};
use crate::navigate::How;
use crate::process::Key;
use crate::session::Target;

/// How many sites there are.
const SITES: u8 = 4;

/// Something that happens. Objects are named by small numbers, taken modulo how many there are, oldest first: so every
/// action means something, and a failing sequence shrinks well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// A tab is opened on `about:blank`.
    NewPage,
    /// A script adds an iframe.
    AddFrame {
        /// The frame of the script.
        parent: u8,
        /// What the iframe loads.
        to: Place,
    },
    /// A script removes an iframe.
    RemoveFrame {
        /// The iframe.
        frame: u8,
    },
    /// A frame is navigated.
    Navigate {
        /// The frame.
        frame: u8,
        /// Where to.
        to: Place,
        /// Whether it takes until [`Action::Finish`].
        slow: bool,
    },
    /// A page is navigated by its main frame.
    NavigatePage {
        /// The page.
        page: u8,
        /// Where to.
        to: Place,
        /// Whether its document is kept to come back to.
        cache: bool,
    },
    /// The fragment of a document's URL changes.
    SameDocument {
        /// The frame.
        frame: u8,
    },
    /// A navigation starts and comes to nothing.
    Abort {
        /// The frame.
        frame: u8,
        /// Whether it was a download.
        download: bool,
    },
    /// A slow navigation gets its answer.
    Finish {
        /// Which one.
        nth: u8,
    },
    /// A page goes back to the document that was kept.
    Back {
        /// The page.
        page: u8,
    },
    /// A page is loaded again, whether its renderer lives or not.
    Reload {
        /// The page.
        page: u8,
    },
    /// A renderer dies.
    Crash {
        /// One of its frames.
        frame: u8,
    },
    /// A script opens a dialog. `beforeunload` is that of the frame's page.
    OpenDialog {
        /// The frame of the script.
        frame: u8,
        /// The kind.
        kind: DialogType,
    },
    /// Another client, or a person, answers a dialog.
    CloseDialog {
        /// Which one.
        nth: u8,
        /// Accept or dismiss.
        accept: bool,
    },
    /// A script opens a window.
    Popup {
        /// The frame of the script.
        opener: u8,
        /// What it loads.
        to: Place,
        /// The dialog that its first script opens.
        dialog: Option<DialogType>,
    },
    /// A person closes a page.
    ClosePage {
        /// The page.
        page: u8,
    },
    /// A script starts a worker.
    StartWorker {
        /// The frame of the script.
        frame: u8,
        /// Whether it is a service worker.
        service: bool,
    },
    /// The browser takes a session away.
    Detach {
        /// Which one.
        session: u8,
    },
    /// The main connection breaks: all its sessions are gone, and what was on its way with them.
    DropSocket,
}

/// Where a document comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Place {
    /// A page of a site.
    Site(u8),
    /// `about:blank`, in the process of its parent.
    Blank,
    /// A `data:` URL, in the process of its parent, with an opaque origin.
    Data,
    /// `about:srcdoc`, in the process of its parent. A main frame has none and gets `about:blank`.
    Srcdoc,
    /// A sandboxed `about:srcdoc`, in a process of its own and never paused.
    Sandboxed,
}

/// Whether an action was possible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acted {
    /// It happened.
    Done,
    /// The browser is not in a state for it, and nothing happened.
    Impossible(&'static str),
}

/// What an action says when it names what is not there.
const NOTHING: Acted = Acted::Impossible("there is no such thing");

impl Browser {
    /// Makes something happen. What is said about it waits in the queues.
    pub fn act(&mut self, action: Action) -> Acted {
        if self.dead {
            return Acted::Impossible("the browser is dead");
        }
        self.carry_out(action).unwrap_or(NOTHING)
    }

    /// Gives every slow navigation its answer.
    pub fn finish_all(&mut self) {
        while self.act(Action::Finish { nth: 0 }) == Acted::Done {}
    }

    /// A page is left whatever it shows: it is navigated elsewhere, or closed where that does not free it.
    pub fn leave_page(&mut self, page: &TargetId) {
        let Some(main) = FrameNo::parse(page.as_str()).filter(|main| self.page(*main).is_some()) else {
            return;
        };
        let left = self.act_navigate(main, Place::Site(3), How::default());
        let is_free = !self.dialogs.open.values().any(|dialog| dialog.page == main);
        if left != Some(Acted::Done) || !is_free {
            self.close_page(main);
        }
    }

    fn carry_out(&mut self, action: Action) -> Option<Acted> {
        match action {
            Action::NewPage => {
                self.open_blank_page();
                Some(Acted::Done)
            }
            Action::AddFrame { parent, to } => self.act_add(self.nth_frame(parent)?, to),
            Action::RemoveFrame { frame } => self.act_remove(self.nth_iframe(frame)?),
            Action::Navigate { frame, to, slow } => {
                self.act_navigate(self.nth_frame(frame)?, to, How { slow, ..How::default() })
            }
            Action::NavigatePage { page, to, cache } => {
                self.act_navigate(self.nth_page(page)?, to, How { cache, ..How::default() })
            }
            Action::SameDocument { frame } => self.act_same_document(self.nth_frame(frame)?),
            Action::Abort { frame, download } => self.act_abort(self.nth_frame(frame)?, download),
            Action::Finish { nth } => self.act_finish(nth),
            Action::Back { page } => self.act_back(self.nth_page(page)?),
            Action::Reload { page } => self.act_reload(self.nth_page(page)?),
            Action::Crash { frame } => {
                let process = self.frames.process(self.nth_frame(frame)?)?;
                self.crash(process);
                Some(Acted::Done)
            }
            Action::OpenDialog { frame, kind } => self.act_dialog(self.nth_frame(frame)?, kind),
            Action::CloseDialog { nth, accept } => self.act_close_dialog(nth, accept),
            Action::Popup { opener, to, dialog } => self.act_popup(self.nth_frame(opener)?, to, dialog),
            Action::ClosePage { page } => {
                let page = self.nth_page(page)?;
                self.close_page(page);
                Some(Acted::Done)
            }
            Action::StartWorker { frame, service } => self.act_worker(self.nth_frame(frame)?, service),
            Action::Detach { session } => self.act_detach(session),
            Action::DropSocket => {
                self.act_drop();
                Some(Acted::Done)
            }
        }
    }

    fn act_add(&mut self, parent: FrameNo, to: Place) -> Option<Acted> {
        if !self.can_run(parent) {
            return Some(Acted::Impossible("no script of the frame can run"));
        }
        let no = self.new_child(parent)?;
        let root = self.frames.local_root(no);
        let params = serde_json::json!({ "frameId": no, "parentFrameId": parent });
        self.pipe_page(root, "Page.frameAttached", &params, None);
        let destination = self.destination(no, to)?;
        self.start_navigation(no, destination, How::default());
        Some(Acted::Done)
    }

    fn act_remove(&mut self, no: FrameNo) -> Option<Acted> {
        if !self.can_run(self.frames.parent(no)?) {
            return Some(Acted::Impossible("no script of its parent can run"));
        }
        self.remove_frame(no);
        Some(Acted::Done)
    }

    fn act_navigate(&mut self, no: FrameNo, to: Place, how: How) -> Option<Acted> {
        if let Some(why) = self.cannot_navigate(no) {
            return Some(Acted::Impossible(why));
        }
        let destination = self.destination(no, to)?;
        self.start_navigation(no, destination, how);
        Some(Acted::Done)
    }

    fn cannot_navigate(&self, no: FrameNo) -> Option<&'static str> {
        let page = self.page_of(no)?;
        if self.is_paused(page) {
            return Some("the page waits to be resumed");
        }
        if self.page(page)?.poisoned {
            return Some("the browser would not survive it");
        }
        let parent = self.frames.parent(no)?;
        let own = self.frames.process(no)?;
        let free = self.can_run(parent) && !self.is_busy(own);
        (!free).then_some("no script of its parent can run, or its own is blocked")
    }

    fn act_same_document(&mut self, no: FrameNo) -> Option<Acted> {
        let committed = self.frames.get(no).is_some_and(|frame| frame.document.context.is_some());
        if !self.can_run(no) || !committed {
            return Some(Acted::Impossible("no script of the frame can run"));
        }
        let fragment = format!("#{}", self.urls.next());
        let frame = self.frames.get_mut(no)?;
        frame.document.fragment = fragment;
        let url = frame.document.whole_url();
        let root = self.frames.local_root(no);
        let params = serde_json::json!({ "frameId": no, "url": url, "navigationType": "fragment" });
        self.pipe_page(root, "Page.navigatedWithinDocument", &params, None);
        if root == no {
            self.page_changed(no);
        }
        Some(Acted::Done)
    }

    fn act_abort(&mut self, no: FrameNo, download: bool) -> Option<Acted> {
        if let Some(why) = self.cannot_navigate(no) {
            return Some(Acted::Impossible(why));
        }
        self.abort_navigation(no, download);
        Some(Acted::Done)
    }

    fn act_finish(&mut self, nth: u8) -> Option<Acted> {
        let slow = |no: &FrameNo| {
            self.frames.get(*no).is_some_and(|it| it.pending.as_ref().is_some_and(|it| !it.ready))
        };
        let all: Vec<FrameNo> = self.frames.iter().map(|frame| frame.no).filter(slow).collect();
        let no = nth_of(&all, nth)?;
        self.frames.get_mut(no)?.pending.as_mut()?.ready = true;
        self.release_all();
        Some(Acted::Done)
    }

    fn act_back(&mut self, page: FrameNo) -> Option<Acted> {
        if let Some(why) = self.cannot_navigate(page) {
            return Some(Acted::Impossible(why));
        }
        let process = self.page(page)?.cached.as_ref()?.first()?.process;
        if self.is_busy(process) {
            return Some(Acted::Impossible("its renderer is blocked"));
        }
        // Frames that come back have the ids they had: a client that still hears of their first life would be misled, and
        // no browser is so slow.
        if self.sessions.on(page).iter().any(|session| self.queues.is_speaking(*session)) {
            return Some(Acted::Impossible("its renderer still speaks of the present document"));
        }
        Some(if self.go_back(page) { Acted::Done } else { NOTHING })
    }

    fn act_reload(&mut self, page: FrameNo) -> Option<Acted> {
        if let Some(why) = self.cannot_navigate(page) {
            return Some(Acted::Impossible(why));
        }
        self.reload(page);
        Some(Acted::Done)
    }

    fn act_dialog(&mut self, frame: FrameNo, kind: DialogType) -> Option<Acted> {
        let frame = if kind == DialogType::Beforeunload { self.page_of(frame)? } else { frame };
        if !self.can_run(frame) || self.frames.get(frame)?.document.context.is_none() {
            return Some(Acted::Impossible("no script of the frame can run"));
        }
        if kind == DialogType::Beforeunload {
            return self.act_before_unload(frame);
        }
        let opened = self.open_dialog(frame, kind);
        Some(opened.map_or(Acted::Impossible("the page can show no dialog"), |_| Acted::Done))
    }

    /// The page is about to be left, and asks.
    fn act_before_unload(&mut self, page: FrameNo) -> Option<Acted> {
        if let Some(why) = self.cannot_navigate(page) {
            return Some(Acted::Impossible(why));
        }
        let destination = self.destination(page, Place::Site(0))?;
        self.start_navigation(page, destination, How { slow: true, ..How::default() });
        let gate = self.open_dialog(page, DialogType::Beforeunload);
        if let Some(pending) = self.frames.get_mut(page).and_then(|frame| frame.pending.as_mut()) {
            pending.ready = true;
            pending.gate = gate;
        }
        self.release_all();
        Some(Acted::Done)
    }

    fn act_close_dialog(&mut self, nth: u8, accept: bool) -> Option<Acted> {
        let open: Vec<DialogNo> =
            self.dialogs.open.iter().filter(|(_, it)| it.answerable).map(|(no, _)| *no).collect();
        let no = nth_of(&open, nth)?;
        self.finish_dialog(no, &Ending { accepted: accept, text: String::new() }, None);
        Some(Acted::Done)
    }

    fn act_popup(&mut self, opener: FrameNo, to: Place, dialog: Option<DialogType>) -> Option<Acted> {
        if !self.can_run(opener) {
            return Some(Acted::Impossible("no script of the frame can run"));
        }
        let page = self.page_of(opener)?;
        let destination = self.destination(page, to)?;
        let dialog = dialog.filter(|kind| *kind != DialogType::Beforeunload);
        Some(if self.open_popup(opener, destination, dialog) { Acted::Done } else { NOTHING })
    }

    fn act_worker(&mut self, frame: FrameNo, service: bool) -> Option<Acted> {
        if !self.can_run(frame) {
            return Some(Acted::Impossible("no script of the frame can run"));
        }
        let started = self.start_worker(frame, if service { "service_worker" } else { "worker" });
        Some(if started { Acted::Done } else { Acted::Impossible("no client would hear of it") })
    }

    fn act_detach(&mut self, nth: u8) -> Option<Acted> {
        let all: Vec<_> =
            self.sessions.iter().filter(|(_, it)| matches!(it.target, Target::Frame(_))).collect();
        let no = nth_of(&all.iter().map(|(no, _)| *no).collect::<Vec<_>>(), nth)?;
        self.detach(no);
        self.release_all();
        Some(Acted::Done)
    }

    fn act_drop(&mut self) {
        self.tally.drops += 1;
        self.drop_wire(Wire::Main);
    }

    /// A connection breaks: its sessions are gone, and what was on its way with them.
    pub fn drop_wire(&mut self, wire: Wire) {
        let all: Vec<_> = self.sessions.iter().map(|(no, _)| no).filter(|no| no.wire == wire).collect();
        self.forget(wire);
        self.dialogs_lose_clients(&all);
        self.release_all();
        // What was said meanwhile had no ears.
        self.forget(wire);
    }

    /// Where a place leads for a frame.
    fn destination(&mut self, no: FrameNo, to: Place) -> Option<Destination> {
        let family = self.page(self.page_of(no)?)?.family;
        let parent = self.frames.parent(no).and_then(|parent| self.frames.get(parent));
        let inherited = parent.map_or_else(|| OPAQUE.to_owned(), |parent| parent.document.origin.clone());
        let is_main = parent.is_none();
        let here = |url: &str, origin: &str| Destination {
            url: url.to_owned(),
            origin: origin.to_owned(),
            renderer: Renderer::Inherited,
            never_paused: false,
        };
        Some(match to {
            Place::Site(site) => at_site(family, site % SITES, &mut self.urls),
            Place::Data => here("data:text/html,hi", OPAQUE),
            Place::Blank => here("about:blank", &inherited),
            Place::Srcdoc | Place::Sandboxed if is_main => here("about:blank", &inherited),
            Place::Srcdoc => here("about:srcdoc", &inherited),
            Place::Sandboxed => Destination {
                renderer: Renderer::Of(Key::Alone(u32::MAX - no.0)),
                never_paused: true,
                ..here("about:srcdoc", OPAQUE)
            },
        })
    }

    fn nth_frame(&self, nth: u8) -> Option<FrameNo> {
        nth_of(&self.frames.iter().map(|frame| frame.no).collect::<Vec<_>>(), nth)
    }

    fn nth_iframe(&self, nth: u8) -> Option<FrameNo> {
        let iframes = self.frames.iter().filter(|frame| frame.parent.is_some());
        nth_of(&iframes.map(|frame| frame.no).collect::<Vec<_>>(), nth)
    }

    fn nth_page(&self, nth: u8) -> Option<FrameNo> {
        nth_of(&self.pages.iter().map(|page| page.main).collect::<Vec<_>>(), nth)
    }
}

fn at_site(family: u32, site: u8, urls: &mut Counter) -> Destination {
    let (url, origin) = site_page(site, urls.next());
    Destination { url, origin, renderer: Renderer::Of(Key::Site { family, site }), never_paused: false }
}

fn nth_of<T: Copy>(all: &[T], nth: u8) -> Option<T> {
    all.get(usize::from(nth) % all.len().max(1)).copied()
}
