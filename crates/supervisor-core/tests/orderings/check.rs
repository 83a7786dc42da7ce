//! What must be true of a machine, at any moment and when all is settled.

use std::collections::{BTreeMap, BTreeSet};

use browser_model::{PageTruth, Truth};
use supervisor_core::dialog::Source;
use supervisor_core::{Event, FrameId, Route, SessionId, TargetId};

use crate::world::World;

/// A frame as both sides can tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) page: TargetId,
    pub(crate) parent: Option<FrameId>,
    pub(crate) url: String,
    pub(crate) origin: String,
    pub(crate) name: String,
    pub(crate) is_oopif: bool,
    pub(crate) session: Option<SessionId>,
    pub(crate) crashed: bool,
}

/// The frames that the machine believes in.
pub(crate) fn believed(world: &World) -> BTreeMap<FrameId, Seen> {
    let pages = world.machine.state().pages.iter().map(|(page, _)| page.clone());
    let views = pages.flat_map(|page| world.machine.frames(Some(&page)).expect("the page is there"));
    views
        .map(|view| {
            let seen = Seen {
                page: view.target_id,
                parent: view.parent_frame_id,
                url: view.url,
                origin: view.origin,
                name: view.name,
                is_oopif: view.is_oopif,
                session: view.session_id,
                crashed: view.crashed,
            };
            (view.frame_id, seen)
        })
        .collect()
}

/// The frames that are there. Below a dead renderer there is nothing.
pub(crate) fn real(truth: &Truth) -> BTreeMap<FrameId, Seen> {
    let seen = truth.frames.iter().map(|(id, frame)| {
        let committed = !frame.url.is_empty();
        let seen = Seen {
            page: frame.page.clone(),
            parent: frame.parent.clone(),
            url: frame.url.clone(),
            origin: if committed { frame.origin.clone() } else { String::new() },
            name: frame.name.clone(),
            is_oopif: frame.is_oopif,
            session: frame.sessions.first().filter(|_| frame.is_oopif).cloned(),
            crashed: frame.crashed,
        };
        (id.clone(), seen)
    });
    seen.collect()
}

/// The tree, the sessions and the pages are those of the browser.
pub(crate) fn assert_true(world: &World) {
    let truth = world.browser.truth();
    let is_stuck = truth.pages.values().any(PageTruth::is_stuck);
    if world.is_over() || is_stuck {
        return;
    }
    let state = world.machine.state();
    let (mut believed, mut real) = (believed(world), real(&truth));
    for (id, seen) in &mut believed {
        // Names come with the first listing or commit; a frame that never committed has none yet.
        if let Some(frame) = real.get_mut(id).filter(|frame| frame.url.is_empty()) {
            frame.name.clone_from(&seen.name);
        }
    }
    forget_what_died(&mut real);
    // Who comes after a renderer died is not told, and hears nothing.
    for (id, _) in truth.frames.iter().filter(|(_, frame)| frame.crashed && !frame.crash_was_told) {
        if let (Some(seen), Some(real)) = (believed.get_mut(id), real.get(id)) {
            assert!(!seen.crashed, "{id} is said to have crashed, and nobody said so");
            seen.crashed = real.crashed;
        }
    }
    forget_what_died(&mut believed);
    // A renderer that died before it listed its frames told nobody of them.
    real.retain(|id, frame| !frame.crashed || believed.contains_key(id));
    for (id, frame) in &real {
        assert_eq!(believed.get(id), Some(frame), "{id}: left is believed, right is real");
    }
    let invented: Vec<_> = believed.keys().filter(|id| !real.contains_key(id.as_str())).collect();
    assert!(invented.is_empty(), "frames that are not there: {invented:?}");
    let sessions: BTreeSet<SessionId> =
        state.sessions.iter().filter_map(|(route, _)| route.session_id().cloned()).collect();
    assert_eq!(
        sessions, truth.sessions,
        "left are the sessions that the machine has, right are the real ones"
    );
    let pages: BTreeSet<TargetId> = state.pages.iter().map(|(page, _)| page.clone()).collect();
    assert_eq!(pages, truth.pages.keys().cloned().collect(), "pages");
    for (target, page) in state.pages.iter() {
        assert_eq!(page.url, truth.pages[target].url, "the URL of {target}");
    }
    assert!(truth.paused.is_empty(), "{:?} wait to be resumed", truth.paused);
}

/// What a renderer had to say when it died is lost: only the browser process still knows its last document.
fn forget_what_died(frames: &mut BTreeMap<FrameId, Seen>) {
    for frame in frames.values_mut().filter(|frame| frame.crashed) {
        frame.url.clear();
        frame.origin.clear();
        frame.name.clear();
        // Its parent, too, on browsers where only it could say.
        frame.parent = None;
    }
}

/// What holds at every moment.
pub(crate) fn assert_sound(world: &World) {
    let state = world.machine.state();
    for (page_id, page) in state.pages.iter() {
        for id in state.frames.of_page(page_id) {
            let frame = state.frames.get(id).expect("a page's frame is there");
            assert_eq!(frame.page, *page_id);
            assert!(
                is_rooted(world, id, page.main_frame.as_ref()),
                "{id} has no way up to its page's main frame"
            );
            if let Some(owner) = &frame.owner {
                assert!(state.sessions.get(owner).is_some(), "the session of {id} is dead");
            }
            let own = frame.owner.is_some() && frame.owner == frame.remote;
            assert_eq!(frame.is_oopif(), frame.parent.is_some() && own, "{id}");
        }
        let native = state.dialogs.open.values().filter(|it| it.opening.source == Source::Native);
        let answerable =
            native.filter(|it| it.opening.page == *page_id && it.is_answerable() && it.is_showing());
        assert!(answerable.count() <= 1, "{page_id} has more than one native dialog that can be answered");
    }
    for (route, session) in state.sessions.iter() {
        let parent = &session.parent;
        assert!(
            *parent == Route::Root || state.sessions.get(parent).is_some(),
            "the parent of {route} is dead"
        );
    }
}

/// A way up to the main frame that does not run in a circle. Parents that are not known yet end it, too.
fn is_rooted(world: &World, id: &FrameId, main: Option<&FrameId>) -> bool {
    let frames = &world.machine.state().frames;
    let mut current = id;
    for _ in 0..=frames.len() {
        match frames.get(current).and_then(|frame| frame.parent.as_ref()) {
            Some(parent) if frames.get(parent).is_some() => current = parent,
            Some(_) => return true,
            None => {
                return main == Some(current)
                    || main.is_none()
                    || frames.get(current).is_some_and(|it| it.remote.is_some());
            }
        }
    }
    false
}

/// Each dialog ended once, or is open.
pub(crate) fn assert_dialogs_add_up(world: &World) {
    let mut open = BTreeSet::new();
    let mut ended = BTreeSet::new();
    let mut told = 0;
    for recorded in &world.events {
        match &recorded.event {
            Event::DialogOpened { id, dialog, .. } => {
                // What the bridge is asked comes as a request.
                told += usize::from(dialog.source == Source::Native);
                assert!(open.insert(*id), "{id} opened twice");
            }
            Event::DialogSeenAgain { .. } => told += 1,
            Event::DialogEnded { id, .. } => {
                assert!(open.remove(id), "{id} ended without being open");
                assert!(ended.insert(*id), "{id} ended twice");
            }
            _ => {}
        }
    }
    assert_eq!(
        told, world.openings,
        "left are the dialogs that were taken up, right those that were told of"
    );
    let still: BTreeSet<_> = world.machine.state().dialogs.open.keys().copied().collect();
    assert_eq!(open, still, "left opened and did not end, right are open");
    let recent: Vec<_> = world.machine.state().dialogs.recent.iter().map(|closed| closed.id).collect();
    let unique: BTreeSet<_> = recent.iter().copied().collect();
    assert_eq!(recent.len(), unique.len(), "a dialog is in the ring twice");
    assert!(ended.len() >= unique.len());
}

/// Every request was answered, and once.
pub(crate) fn assert_answered_once(world: &World) {
    for (req, count) in &world.answers {
        let enough = if world.cancelled.contains(req) { *count <= 1 } else { *count == 1 };
        assert!(enough, "{req:?} was answered {count} times");
    }
}
