//! Endings: a session, a frame or a renderer goes, and with it whatever depended on it. Each is one event at its root; who
//! must be told follows from its reach.

use cdp_wire::{CommandId, FrameId, page};
use rustc_hash::FxHashSet;

use crate::bridge::rules as bridge;
use crate::call::blocking;
use crate::call::ending;
use crate::context::Cx;
use crate::dialog::rules as dialog_rules;
use crate::dialog::{ClosedBy, Open, Reason, Unanswerable};
use crate::effect::Effect;
use crate::event::Event;
use crate::failure::Code;
use crate::flights::Purpose;
use crate::ids::Route;
use crate::limits::ORPHAN_WAIT;
use crate::observe::rules as observe_rules;
use crate::session::reach::{self, Reach};
use crate::session::{SessionKind, doomed};

/// A session ended. For an iframe that is no proof that the frame is gone.
pub(crate) fn session(cx: &mut Cx<'_>, route: &Route) {
    let Some((kind, target)) = cx.state().sessions.get(route).map(|it| (it.kind, it.target.clone())) else {
        return;
    };
    let reach = reach::of_session(cx.state(), route);
    if kind == SessionKind::Page {
        dialog_rules::explain(cx, &target, Reason::TargetGone);
        dialog_rules::end_open(cx, &target, Reason::TargetGone);
    }
    if kind == SessionKind::Iframe {
        let ending = with_its_frame(cx, route, &reach);
        dialogs_of_removed(cx, &ending, true);
        doomed::removed(cx, &ending.frames);
    }
    cx.emit(Event::SessionGone { route: route.clone() });
    fallout(cx, &reach);
    if kind == SessionKind::Iframe {
        let frame = FrameId::from(&target);
        ask_about_orphan(cx, &frame);
        ask_for_document(cx, &frame);
        frame_settled(cx, &frame);
    }
}

/// What the end of an iframe's session means for dialogs. The detach may come before the removal, which nobody may be able to
/// tell for long; were the iframe to go on elsewhere, its dialog would have closed first.
fn with_its_frame(cx: &Cx<'_>, route: &Route, reach: &Reach) -> Reach {
    let root = cx.state().root_frame(route);
    let is_there =
        |root: &FrameId| cx.state().frames.get(root).is_some_and(|it| it.owner.as_ref() == Some(route));
    let mut reach = reach.clone();
    reach.frames.extend(root.filter(is_there));
    reach
}

/// A frame was removed.
pub(crate) fn frame(cx: &mut Cx<'_>, frame: &FrameId) {
    let reach = reach::of_frame(cx.state(), frame);
    dialogs_of_removed(cx, &reach, true);
    doomed::removed(cx, &reach.frames);
    cx.emit(Event::FrameGone { frame: frame.clone() });
    fallout(cx, &reach);
}

/// A renderer died: it answers nothing, neither what was sent nor what will be.
pub(crate) fn renderer(cx: &mut Cx<'_>, route: &Route) {
    let root = cx.state().root_frame(route);
    let reach = root.map(|root| reach::of_crash(cx.state(), &root)).unwrap_or_default();
    cx.emit(Event::SessionCrashed { route: route.clone() });
    bridge::sessions_gone(cx, std::slice::from_ref(route), None, Reason::Crash);
    ending::end_where(cx, Code::TargetCrashed, |call| call.route == *route);
    fallout(cx, &reach);
}

/// The browser says nothing when the frame of an open dialog is removed from another process; from then on, on browsers
/// that keep dialogs open, an answer or a navigation kills the whole browser.
pub(crate) fn dialogs_of_removed(cx: &mut Cx<'_>, reach: &Reach, by_removal: bool) {
    let state = cx.state();
    let is_there = |dialog: &Open| match &dialog.opening.frame {
        Some(frame) => reach.frames.contains(frame),
        // Older browsers name no frame.
        None => blocking::owner(state, dialog).is_some_and(|owner| reach.sessions.contains(&owner)),
    };
    let hit: Vec<_> =
        state.dialogs.open.iter().filter(|(_, dialog)| is_there(dialog)).map(|(id, _)| *id).collect();
    for id in hit {
        let Some(dialog) = cx.state().dialogs.open.get(&id) else { continue };
        let page = dialog.opening.page.clone();
        let owner = blocking::owner(cx.state(), dialog);
        let is_remote = owner.is_none_or(|owner| !cx.state().is_page_session(&owner));
        if by_removal && dialog.opening.has_browser_handler && is_remote {
            cx.emit(Event::DialogUnanswerable { id, why: Unanswerable::FrameRemoved });
            cx.emit(Event::PageBlocked { target: page, why: Unanswerable::FrameRemoved, dialog: Some(id) });
        }
        dialog_rules::end(cx, id, ClosedBy::Remote, Some(Reason::TargetGone), None, None);
    }
}

/// Ends the calls that cannot be answered any more, and lets the actors of ended sessions go.
pub(crate) fn fallout(cx: &mut Cx<'_>, reach: &Reach) {
    if reach.sessions.is_empty() && reach.frames.is_empty() {
        return;
    }
    if !cx.state().calls.open.is_empty() {
        calls_of_ended(cx, reach);
    }
    bridge::sessions_gone(cx, &reach.sessions, reach.page.as_ref(), Reason::TargetGone);
    for route in &reach.sessions {
        retire(cx, route);
    }
}

fn calls_of_ended(cx: &mut Cx<'_>, reach: &Reach) {
    let sessions: FxHashSet<&Route> = reach.sessions.iter().collect();
    let frames: FxHashSet<&FrameId> = reach.frames.iter().collect();
    let code = if reach.page.is_some() { Code::PageGone } else { Code::FrameGone };
    ending::end_each(cx, |state, call| {
        let is_hit =
            sessions.contains(&call.route) || call.frame.as_ref().is_some_and(|frame| frames.contains(frame));
        let fate = call.frame.as_ref().and_then(|frame| state.frames.get(frame));
        match fate {
            _ if !is_hit => None,
            // Nobody knows yet where the frame went; what settles that ends the call.
            Some(frame) if frame.owner.is_none() => None,
            Some(_) => Some(Code::Navigated),
            None => Some(code),
        }
    });
}

/// Lets a session's actor go once nothing is parked or kept there.
pub(crate) fn retire(cx: &mut Cx<'_>, route: &Route) {
    if cx.state().sessions.get(route).is_none() && !cx.state().calls.needs(route) {
        cx.effect(Effect::Retire { route: route.clone() });
    }
}

/// A frame has a home again: calls that were waiting to learn its fate ran in a document that is gone.
pub(crate) fn frame_settled(cx: &mut Cx<'_>, frame: &FrameId) {
    if cx.state().calls.open.is_empty() || cx.state().frames.get(frame).is_none_or(|it| it.owner.is_none()) {
        return;
    }
    let lost = |state: &crate::state::State, call: &crate::call::Call| {
        call.frame.as_ref() == Some(frame) && state.sessions.get(&call.route).is_none()
    };
    ending::end_each(cx, |state, call| lost(state, call).then_some(Code::Navigated));
}

/// An orphan's fate is decided by a round trip to its parent's process; nobody else waits for it.
pub(crate) fn ask_about_orphan(cx: &mut Cx<'_>, frame: &FrameId) {
    if let Some(parent) = parent_session(cx, frame) {
        list_frames(cx, &parent);
    }
}

/// A frame that changed its process may have been committed there while it still counted as being in the other one.
pub(crate) fn ask_for_document(cx: &mut Cx<'_>, frame: &FrameId) {
    let owner = cx.state().frames.get(frame).filter(|frame| frame.loader.is_none());
    if let Some(owner) = owner.and_then(|frame| frame.owner.clone()) {
        list_frames(cx, &owner);
    }
}

/// The session of an orphan's parent.
fn parent_session(cx: &Cx<'_>, frame: &FrameId) -> Option<Route> {
    let frame = cx.state().frames.get(frame).filter(|frame| frame.owner.is_none())?;
    cx.state().frames.get(frame.parent.as_ref()?)?.owner.clone()
}

/// Asks for the frames of a process, unless that is under way.
pub(crate) fn list_frames(cx: &mut Cx<'_>, route: &Route) {
    if cx.is_observing() {
        return observe_rules::recall(cx, route);
    }
    if cx.state().sessions.get(route).is_some_and(|session| session.listing.is_none() && !session.crashed) {
        cx.send(route, &page::GetFrameTree {}, Purpose::ListFrames);
    }
}

/// The parent's process answered: orphans it was asked about after they were orphaned, and does not have, are gone.
pub(crate) fn orphans_decided(cx: &mut Cx<'_>, route: &Route, asked: CommandId, listed: &[FrameId]) {
    let orphans: Vec<FrameId> = cx.state().frames.orphans_of(route).cloned().collect();
    if orphans.is_empty() {
        return;
    }
    let listed: FxHashSet<&FrameId> = listed.iter().collect();
    let mut too_young = false;
    for frame in orphans.iter().filter(|frame| !listed.contains(frame)) {
        match cx.state().frames.get(frame).and_then(|frame| frame.orphaned) {
            Some(since) if since < asked => self::frame(cx, frame),
            // It went with one before it.
            None => {}
            _ => too_young = true,
        }
    }
    if too_young {
        list_frames(cx, route);
    }
}

/// The parent's process gave no answer. Orphans that it was not asked about yet get their question; the deadline decides about
/// the others.
pub(crate) fn orphans_undecided(cx: &mut Cx<'_>, route: &Route, asked: CommandId) {
    let state = cx.state();
    let is_young = |frame: &FrameId| {
        let since = state.frames.get(frame).and_then(|frame| frame.orphaned);
        since.is_some_and(|since| since >= asked)
    };
    if state.frames.orphans_of(route).any(is_young) {
        list_frames(cx, route);
    }
}

/// No answer came. While the parent's renderer is blocked or navigating that is normal; otherwise the frame is gone.
pub(crate) fn orphan_unresolved(cx: &mut Cx<'_>, frame: &FrameId) {
    let Some(page) = cx.state().frames.get(frame).map(|frame| frame.page.clone()) else { return };
    let parent = parent_session(cx, frame);
    let is_busy = |route: &Route| {
        blocking::dialog_that_blocks(cx.state(), route).is_some() || cx.state().is_navigating(&page)
    };
    if parent.as_ref().is_some_and(is_busy) {
        let until = cx.at.after(ORPHAN_WAIT);
        cx.emit(Event::OrphanWaits { frame: frame.clone(), until });
    } else {
        self::frame(cx, frame);
    }
}
