//! The state agrees with itself.

use supervisor_core::dialog::Open;
use supervisor_core::{FrameId, Machine, Route, State, TargetId};

use crate::rules::check;

const RULE: &str = "a frame hangs on its page";

/// What holds at every moment.
///
/// # Panics
/// When it does not.
pub fn holds(machine: &Machine) {
    let state = machine.state();
    for (page_id, page) in state.pages.iter() {
        for id in state.frames.of_page(page_id) {
            frame(machine, page_id, page.main_frame.as_ref(), id);
        }
        let open = state.dialogs.open.values();
        let answerable =
            open.filter(|it| it.opening.page == *page_id && it.is_answerable() && it.is_showing());
        let natively = answerable.filter(|it| it.opening.paused.is_none()).count();
        check("a page has one native dialog", natively <= 1, || format!("{page_id} has {natively}"));
    }
    for (route, session) in state.sessions.iter() {
        let parent = &session.parent;
        let is_there = *parent == Route::Root || state.sessions.get(parent).is_some();
        check("a session ends with its parent", is_there, || route.to_string());
    }
    bridge(state);
}

/// Turning the bridge off answers what was asked by it: a page that went on waiting would be let go, and ask the browser.
fn bridge(state: &State) {
    let is_off = !state.bridge.on && state.observer.is_none();
    let waits = |open: &Open| open.opening.paused.is_some() && open.answer().is_none();
    let waiting = state.dialogs.open.iter().find(|(_, open)| is_off && waits(open)).map(|(id, _)| id);
    check("nobody waits for a bridge that is off", waiting.is_none(), || format!("{waiting:?}"));
    check("nobody waits for a bridge that is off", !is_off || state.bridge.held.is_empty(), || {
        format!("{:?}", state.bridge.held)
    });
}

fn frame(machine: &Machine, page: &TargetId, main: Option<&FrameId>, id: &FrameId) {
    let state = machine.state();
    let Some(frame) = state.frames.get(id) else { panic!("{RULE}: {id} of {page} is not there") };
    check(RULE, frame.page == *page, || format!("{id} is on {} and on {page}", frame.page));
    check(RULE, is_rooted(machine, id, main), || format!("{id} has no way up to its page's main frame"));
    if let Some(owner) = &frame.owner {
        check("no frame has a dead session", state.sessions.get(owner).is_some(), || id.to_string());
    }
    let own = frame.owner.is_some() && frame.owner == frame.remote;
    let is_oopif = frame.parent.is_some() && own;
    check("an OOPIF has a session of its own", frame.is_oopif() == is_oopif, || id.to_string());
}

/// A way up to the main frame that does not run in a circle. Parents that are not known yet end it, too.
fn is_rooted(machine: &Machine, id: &FrameId, main: Option<&FrameId>) -> bool {
    let frames = &machine.state().frames;
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
