//! Building the snapshot: sections are rebuilt when an event touched them, and shared otherwise.

use std::collections::VecDeque;
use std::sync::Arc;

use cdp_wire::{FrameId, TargetId};

use crate::console::{Entry, Ring};
use crate::dialog::{Closed, Open, Unanswerable};
use crate::event::{Event, Recorded};
use crate::failure::{Code, Failure};
use crate::guard::GuardEvent;
use crate::ids::DialogId;
use crate::limits::MAX_SHOWN_TEXT;
use crate::meters::Meters;
use crate::page::Page;
use crate::shown::cut;
use crate::snapshot::crowd::Crowd;
use crate::snapshot::tree::frame_tree;
use crate::snapshot::{
    BlockedView, BridgeView, ConsoleEntryView, ConsoleView, Counts, DialogView, FrameTree, FrameView,
    GuardView, PageView, RemedyName, Snapshot, Status, StatusView,
};
use crate::state::State;

/// The last snapshot, and which of its sections are out of date.
#[derive(Debug, Clone)]
pub(crate) struct View {
    last: Arc<Snapshot>,
    stale: Sections,
    /// While the last snapshot shows a page that has more frames than that.
    crowd: Option<Crowd>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Sections {
    pending: bool,
    recent: bool,
    frames: bool,
    pages: bool,
    status: bool,
}

impl Sections {
    const ALL: Self = Self { pending: true, recent: true, frames: true, pages: true, status: true };
    const DIALOGS: Self = Self { pending: true, recent: true, frames: false, pages: true, status: false };
    const TARGETS: Self = Self { pending: false, recent: false, frames: true, pages: true, status: false };
    const FRAMES: Self = Self { pending: false, recent: false, frames: true, pages: false, status: false };
    const PAGES: Self = Self { pending: false, recent: false, frames: false, pages: true, status: false };

    const STATUS: Self = Self { pending: false, recent: false, frames: false, pages: false, status: true };

    fn add(&mut self, other: Self) {
        self.pending |= other.pending;
        self.recent |= other.recent;
        self.frames |= other.frames;
        self.pages |= other.pages;
        self.status |= other.status;
    }
}

impl Default for View {
    fn default() -> Self {
        let status = StatusView {
            status: Status::NotConnected,
            stale: true,
            attempt: None,
            last_error: None,
            reason: None,
            browser: None,
            guard: GuardView::default(),
        };
        let empty = Snapshot {
            pending_dialogs: Arc::default(),
            recent_dialogs: Arc::default(),
            frame_tree: Arc::default(),
            status: Arc::new(status),
            pages: Arc::default(),
            counts: Counts::default(),
            version: 0,
        };
        Self { last: Arc::new(empty), stale: Sections::ALL, crowd: None }
    }
}

impl View {
    /// Marks what these events changed, which led to this state.
    pub(crate) fn mark(&mut self, state: &State, events: &[Recorded]) {
        for recorded in events {
            let touched = touched(&recorded.event);
            let is_hidden = |crowd: &Crowd| crowd.hides(state, &recorded.event);
            let hidden = touched.frames && !self.stale.frames && self.crowd.as_ref().is_some_and(is_hidden);
            self.stale.add(Sections { frames: touched.frames && !hidden, ..touched });
        }
    }

    pub(crate) fn snapshot(&mut self, state: &State, meters: &Meters) -> Arc<Snapshot> {
        let stale = std::mem::take(&mut self.stale);
        let mut next = (*self.last).clone();
        if stale.pending {
            next.pending_dialogs = Arc::new(pending(state));
        }
        if stale.recent {
            next.recent_dialogs = Arc::new(state.dialogs.recent.iter().map(|it| closed(state, it)).collect());
        }
        if stale.frames {
            next.frame_tree =
                Arc::new(state.pages.active().map(|it| frame_tree(state, it)).unwrap_or_default());
            self.crowd = Crowd::of(state, &next.frame_tree);
        }
        if stale.pages {
            next.pages = Arc::new(state.pages.iter().map(|(target, it)| page(state, target, it)).collect());
        }
        if stale.status {
            next.status = Arc::new(status(state));
        }
        let (dialogs_seen, console_dropped) = (state.dialogs.seen(), state.console.dropped);
        next.counts = Counts { dialogs_seen, console_dropped, meters: *meters };
        next.version = state.history;
        self.last = Arc::new(next);
        self.last.clone()
    }
}

/// Which sections show what this event changes. That none is forgotten, the played tests hold: after each input they
/// compare the snapshot with one that is built afresh.
fn touched(event: &Event) -> Sections {
    match event {
        Event::DialogOpened { .. }
        | Event::DialogAnswering { .. }
        | Event::DialogClosing { .. }
        | Event::DialogTaken { .. }
        | Event::DialogAnswerRefused { .. }
        | Event::DialogUnanswerable { .. }
        | Event::DialogEnded { .. }
        | Event::DialogReasonKnown { .. } => Sections::DIALOGS,
        Event::Guard(event) => guard_touched(event),
        // A dialog that the guard carries is found again on its page.
        Event::PageAttached { .. } | Event::DialogSeenAgain { .. } => {
            Sections { frames: true, ..Sections::DIALOGS }
        }
        Event::IframeAttached { .. }
        | Event::SessionGone { .. }
        | Event::SessionCrashed { .. }
        | Event::SessionRevived { .. }
        // Its document is a sign of life of a renderer that had crashed.
        | Event::FrameNavigated { .. } => Sections::TARGETS,
        Event::SessionSilent { .. }
        | Event::SessionAnswered { .. }
        | Event::PageChanged { .. }
        | Event::BridgeTurnedOn { .. }
        | Event::BridgeTurnedOff
        | Event::BridgeUnavailable { .. }
        | Event::BridgeAvailable { .. }
        | Event::PageFlooding { .. }
        | Event::PageCalm { .. }
        | Event::PageBlocked { .. }
        | Event::PageFreed { .. } => Sections::PAGES,
        Event::ContextCreated { .. }
        | Event::ContextDestroyed { .. }
        | Event::ContextsCleared { .. }
        | Event::FrameAttached { .. }
        | Event::FramesListed { .. }
        | Event::IframeUrlChanged { .. }
        | Event::FrameUrlChanged { .. }
        | Event::DocumentOpened { .. }
        | Event::FrameSwappedOut { .. }
        | Event::FrameGone { .. } => Sections::FRAMES,
        Event::Dialing { .. }
        | Event::BrowserReplaced
        | Event::SocketOpened { .. }
        | Event::BrowserIdentified { .. }
        | Event::Connected { .. }
        | Event::ConnectionLost { .. }
        | Event::Failed { .. }
        | Event::StopRequested { .. }
        | Event::Stopped
        | Event::OptionsChanged { .. } => Sections::ALL,
        _ => Sections::default(),
    }
}

fn guard_touched(event: &GuardEvent) -> Sections {
    match event {
        GuardEvent::Stands { .. } => Sections::STATUS,
        GuardEvent::Lost { .. } | GuardEvent::Listens { .. } | GuardEvent::Unwatches { .. } => {
            Sections::PAGES
        }
        GuardEvent::Carries { .. } => Sections::DIALOGS,
        _ => Sections::default(),
    }
}

/// Whether hosts should see this at once rather than with the rest of its batch.
pub(crate) fn is_urgent(event: &Event) -> bool {
    matches!(
        event,
        Event::DialogOpened { .. }
            | Event::DialogEnded { .. }
            | Event::PageBlocked { .. }
            | Event::Connected { .. }
            | Event::ConnectionLost { .. }
            | Event::Failed { .. }
            | Event::Stopped
    )
}

fn pending(state: &State) -> Vec<DialogView> {
    let showing = state.dialogs.open.iter().filter(|(_, open)| open.is_showing());
    showing.map(|(id, it)| open(state, *id, it)).collect()
}

/// An open dialog, as hosts see it.
pub(crate) fn open(state: &State, id: DialogId, open: &Open) -> DialogView {
    let opening = &open.opening;
    DialogView {
        id,
        kind: opening.kind,
        message: opening.message.text.clone(),
        truncated: opening.message.full_length.is_some(),
        full_length: opening.message.full_length,
        default_prompt: cut(&opening.default_prompt, MAX_SHOWN_TEXT).to_owned(),
        opened_at: state.wall(open.opened_at),
        frame_id: opening.frame.clone(),
        target_id: opening.page.clone(),
        session_id: opening.route.session_id().cloned(),
        url: opening.url.clone(),
        source: opening.source,
        answerable: open.is_answerable(),
        closed_at: None,
        accepted: None,
        user_input: None,
        closed_by: None,
        reason: None,
    }
}

/// A dialog that has ended, as hosts see it.
pub(crate) fn closed(state: &State, closed: &Closed) -> DialogView {
    let opening = &closed.opening;
    DialogView {
        id: closed.id,
        kind: opening.kind,
        message: opening.message.text.clone(),
        truncated: opening.message.full_length.is_some(),
        full_length: opening.message.full_length,
        default_prompt: cut(&opening.default_prompt, MAX_SHOWN_TEXT).to_owned(),
        opened_at: state.wall(closed.opened_at),
        frame_id: opening.frame.clone(),
        target_id: opening.page.clone(),
        session_id: opening.route.session_id().cloned(),
        url: opening.url.clone(),
        source: opening.source,
        answerable: false,
        closed_at: Some(state.wall(closed.closed_at)),
        accepted: closed.accepted,
        user_input: closed.user_input.clone(),
        closed_by: Some(closed.by),
        reason: closed.reason,
    }
}

fn status(state: &State) -> StatusView {
    let connection = &state.connection;
    let is = |status| connection.status == status;
    StatusView {
        status: connection.status,
        stale: !is(Status::Connected),
        attempt: is(Status::Reconnecting).then_some(connection.attempt),
        last_error: connection.last_error.clone().filter(|_| is(Status::Reconnecting)),
        reason: connection.failure.as_ref().map(|failure| failure.message.clone()),
        browser: connection.product.clone(),
        guard: GuardView::of(&state.guard),
    }
}

fn page(state: &State, target: &TargetId, page: &Page) -> PageView {
    let session = state.sessions.get(&page.route);
    PageView {
        target_id: target.clone(),
        session_id: page.route.session_id().cloned(),
        url: page.url.clone(),
        title: page.title.clone(),
        active: state.pages.active() == Some(target),
        opener_target_id: page.opener.clone(),
        opener_frame_id: page.opener_frame.clone(),
        blocked: page.blocked.as_ref().map(|it| blocked(it.why, it.dialog)),
        flooding: page.flooding,
        crashed: session.is_some_and(|session| session.crashed),
        unresponsive: session.is_some_and(|session| session.unresponsive),
        pending_dialogs: pending_on(state, target),
        guarded: state.guard.watches.get(target).is_some_and(|watch| watch.enabled),
        bridge: match page.bridge_unavailable {
            _ if !state.bridge.on => BridgeView::Off,
            None => BridgeView::On,
            Some(_) => BridgeView::Unavailable,
        },
        bridge_reason: page.bridge_unavailable.filter(|_| state.bridge.on),
    }
}

fn pending_on(state: &State, page: &TargetId) -> usize {
    state.dialogs.open.values().filter(|open| open.opening.page == *page && open.is_showing()).count()
}

/// What frees a page that is blocked so. On a suspicion nothing is safe: an iframe may have been removed with its dialog
/// open before we came, and then any navigation kills the browser.
fn blocked(why: Unanswerable, dialog: Option<DialogId>) -> BlockedView {
    use RemedyName::{Close, Navigate, Reload};
    let (remedies, risky): (&[RemedyName], &[RemedyName]) = match why {
        Unanswerable::Unresponsive => (&[], &[Reload, Navigate]),
        Unanswerable::BeforeAttach | Unanswerable::Overlap => (&[Reload, Navigate], &[]),
        Unanswerable::Orphaned => (&[Reload, Navigate, Close], &[]),
        Unanswerable::Reopening => (&[Close], &[]),
        Unanswerable::FrameRemoved => (&[], &[]),
    };
    BlockedView {
        reason: why,
        suspected: why == Unanswerable::Unresponsive,
        dialog_id: dialog,
        remedies: remedies.to_vec(),
        risky_remedies: risky.to_vec(),
    }
}

/// Why nobody can answer, in words.
pub(crate) fn explain(why: Unanswerable) -> &'static str {
    match why {
        Unanswerable::Unresponsive => {
            "the page does not answer: a dialog from before the supervisor came, or a hung script"
        }
        Unanswerable::BeforeAttach => "the browser lost track of it",
        Unanswerable::Overlap => {
            "a dialog of another process took its place, and the browser lost track of both"
        }
        Unanswerable::FrameRemoved => "its iframe was removed while it was open",
        Unanswerable::Reopening => "the page opens dialogs faster than it can be left",
        Unanswerable::Orphaned => "the connection that had seen it was lost",
    }
}

pub(crate) fn frame(state: &State, id: &FrameId) -> Option<FrameView> {
    let frame = state.frames.get(id)?;
    let is_oopif = frame.is_oopif();
    let session = frame.owner.as_ref();
    Some(FrameView {
        frame_id: id.clone(),
        parent_frame_id: frame.parent.clone(),
        url: frame.url.clone(),
        origin: state.origin(id).to_owned(),
        name: frame.name.clone(),
        is_oopif,
        session_id: session.filter(|_| is_oopif).and_then(|route| route.session_id().cloned()),
        target_id: frame.page.clone(),
        crashed: session.and_then(|route| state.sessions.get(route)).is_some_and(|session| session.crashed),
    })
}

fn named<'s>(state: &'s State, page: Option<&TargetId>) -> Result<(&'s TargetId, &'s Page), Failure> {
    let active = state.pages.active();
    let found = page.or(active).and_then(|wanted| state.pages.iter().find(|(target, _)| *target == wanted));
    found.ok_or_else(|| {
        let text = match page {
            Some(page) => format!("there is no page {page}; take a target_id from the snapshot's `pages`"),
            None => "the browser has no page".to_owned(),
        };
        Failure::new(Code::PageGone, text)
    })
}

pub(crate) fn frame_tree_of(state: &State, page: Option<&TargetId>) -> Result<FrameTree, Failure> {
    named(state, page).map(|(target, _)| frame_tree(state, target))
}

/// All frames of a page, parents first.
pub(crate) fn frames(state: &State, page: Option<&TargetId>) -> Result<Vec<FrameView>, Failure> {
    let (_, page) = named(state, page)?;
    let mut all = Vec::new();
    let mut waiting: VecDeque<FrameId> = page.main_frame.iter().cloned().collect();
    while let Some(id) = waiting.pop_front() {
        all.extend(frame(state, &id));
        waiting.extend(state.frames.children(&id).cloned());
    }
    Ok(all)
}

/// The console's rings, of one frame or of all.
pub(crate) fn console(state: &State, frame: Option<&FrameId>) -> ConsoleView {
    let wanted = |entry: &&Entry| frame.is_none_or(|frame| entry.frame_id.as_ref() == Some(frame));
    let show = |ring: &Ring| ring.iter().filter(wanted).map(|entry| console_entry(state, entry)).collect();
    ConsoleView {
        errors: show(&state.console.errors),
        warnings: show(&state.console.warnings),
        dropped: state.console.dropped,
    }
}

fn console_entry(state: &State, entry: &Entry) -> ConsoleEntryView {
    ConsoleEntryView {
        at: state.wall(entry.at),
        level: entry.level,
        text: entry.text.text.clone(),
        truncated: entry.text.full_length.is_some(),
        url: entry.url.clone(),
        line: entry.line,
        column: entry.column,
        frame_id: entry.frame_id.clone(),
        target_id: entry.target_id.clone(),
    }
}
