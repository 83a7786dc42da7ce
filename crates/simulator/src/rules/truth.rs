//! When all is settled, the machine believes what is true.

use std::collections::{BTreeMap, BTreeSet};

use browser_model::Truth;
use supervisor_core::{FrameId, Machine, SessionId, Status, TargetId};

use crate::rules::check;

const RULE: &str = "what is believed is true";

/// A frame as both sides can tell it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    page: TargetId,
    parent: Option<FrameId>,
    url: String,
    origin: String,
    name: String,
    is_oopif: bool,
    session: Option<SessionId>,
    /// Its renderer is dead.
    pub crashed: bool,
}

/// The frames that the machine believes in.
#[must_use]
pub fn believed(machine: &Machine) -> BTreeMap<FrameId, Seen> {
    let pages = machine.state().pages.iter().map(|(page, _)| page.clone());
    let views = pages.flat_map(|page| machine.frames(Some(&page)).unwrap_or_default());
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
fn real(truth: &Truth) -> BTreeMap<FrameId, Seen> {
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
///
/// # Panics
/// When they are not.
pub fn holds(machine: &Machine, truth: &Truth) {
    let is_stuck = truth.pages.values().any(|page| page.poisoned && page.navigating);
    let is_over = matches!(machine.state().connection.status, Status::Failed | Status::Stopped);
    if is_over || is_stuck {
        return;
    }
    frames(machine, truth);
    sessions(machine, truth);
    pages(machine, truth);
    check(RULE, truth.paused.is_empty(), || format!("{:?} wait to be resumed", truth.paused));
}

fn frames(machine: &Machine, truth: &Truth) {
    let (mut believed, mut real) = (believed(machine), real(truth));
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
            check(RULE, !seen.crashed, || format!("{id} is said to have crashed, and nobody said so"));
            seen.crashed = real.crashed;
        }
    }
    forget_what_died(&mut believed);
    // A renderer that died before it listed its frames told nobody of them.
    real.retain(|id, frame| !frame.crashed || believed.contains_key(id));
    for (id, frame) in &real {
        let found = believed.get(id);
        check(RULE, found == Some(frame), || format!("{id} is believed to be {found:?} and is {frame:?}"));
    }
    let invented: Vec<_> = believed.keys().filter(|id| !real.contains_key(id.as_str())).collect();
    check(RULE, invented.is_empty(), || format!("frames that are not there: {invented:?}"));
}

fn sessions(machine: &Machine, truth: &Truth) {
    let state = machine.state();
    let sessions: BTreeSet<SessionId> =
        state.sessions.iter().filter_map(|(route, _)| route.session_id().cloned()).collect();
    check(RULE, sessions == truth.sessions, || {
        format!("the machine has the sessions {sessions:?}, the browser {:?}", truth.sessions)
    });
}

fn pages(machine: &Machine, truth: &Truth) {
    let state = machine.state();
    let pages: BTreeSet<&TargetId> = state.pages.iter().map(|(page, _)| page).collect();
    let real: BTreeSet<&TargetId> = truth.pages.keys().collect();
    check(RULE, pages == real, || format!("the machine has the pages {pages:?}, the browser {real:?}"));
    for (target, page) in state.pages.iter() {
        let url = truth.pages.get(target).map(|page| page.url.as_str());
        check(RULE, url == Some(&page.url), || {
            format!("{target} is believed to be at {}, is at {url:?}", page.url)
        });
    }
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
