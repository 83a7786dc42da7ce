//! Pages at which the wrong command ends the browser: what made them so outlives the connection that saw it.

use cdp_wire::{FrameId, TargetId};

use crate::context::Cx;
use crate::event::{Event, FrameInfo};
use crate::ids::Route;
use crate::page::{Doomed, Page};

/// A page is attached: what a connection before this one knew of it still holds.
pub(crate) fn attached(cx: &mut Cx<'_>, target: &TargetId) {
    if let Some(why) = cx.state().connection.doomed.get(target).map(|doomed| doomed.why) {
        cx.emit(Event::PageBlocked { target: target.clone(), why, dialog: None });
    }
}

/// A session listed its frames. A page that was left while nobody looked has another document, and is as any other.
pub(crate) fn listed(cx: &mut Cx<'_>, route: &Route, frames: &[FrameInfo]) {
    let state = cx.state();
    let Some(target) = state.sessions.get(route).map(|session| session.target.clone()) else { return };
    let before = state.connection.doomed.get(&target).and_then(|doomed| doomed.loader.as_ref());
    let is_another = |frame: &FrameInfo| before.is_some_and(|before| *before != frame.loader);
    if frames.first().is_some_and(is_another) {
        cx.emit(Event::PageFreed { target });
    }
}

/// An iframe is there. A dialog that the last connection left open in it can do no harm while it stays.
pub(crate) fn iframe_attached(cx: &mut Cx<'_>, frame: &FrameId) {
    if let Some(target) = left_by(cx, |without| without == frame) {
        cx.emit(Event::PageFreed { target });
    }
}

/// Iframes were removed.
pub(crate) fn removed(cx: &mut Cx<'_>, frames: &[FrameId]) {
    if let Some(target) = left_by(cx, |without| frames.contains(without)) {
        attached(cx, &target);
    }
}

/// The page that is deadly without such an iframe.
fn left_by(cx: &Cx<'_>, is_it: impl Fn(&FrameId) -> bool) -> Option<TargetId> {
    let mut doomed = cx.state().connection.doomed.iter();
    let hit = |doomed: &Doomed| doomed.without.as_ref().is_some_and(&is_it);
    doomed.find(|(_, doomed)| hit(doomed)).map(|(target, _)| target.clone())
}

/// Whether a page is in such a state. That it answers tells nothing then, nor that it does not.
pub(crate) fn is_doomed(page: &Page) -> bool {
    page.blocked.as_ref().is_some_and(|blocked| blocked.why.is_deadly())
}
