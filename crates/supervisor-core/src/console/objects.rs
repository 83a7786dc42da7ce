//! Objects that come with console messages. The browser keeps each of them in its page until we let go of it or the document
//! goes, so a page that logs objects would grow for as long as it is supervised.

use cdp_wire::runtime;

use crate::context::Cx;
use crate::deadlines::Due;
use crate::event::Event;
use crate::flights::Purpose;
use crate::ids::Route;
use crate::limits::OBJECTS_KEPT;

/// Chromium's name for what console calls and exceptions bring along. Each client has a group of its own by this name.
const GROUP: &str = "console";

/// A console message, or an exception, came on this session, and has an object in it.
pub(crate) fn came(cx: &mut Cx<'_>, route: &Route) {
    if cx.is_observing() || is_seen_to(cx, route) {
        return;
    }
    if cx.state().sessions.get(route).is_some() {
        let until = cx.at.after(OBJECTS_KEPT);
        cx.emit(Event::ConsoleObjectsKept { route: route.clone(), until });
    }
}

/// Whether all that has come so far will be let go, or is being.
fn is_seen_to(cx: &Cx<'_>, route: &Route) -> bool {
    let state = cx.state();
    let is_due = state.deadlines.get(&Due::Objects(route.clone())).is_some();
    is_due || state.flights.any(&Purpose::LetGo(route.clone()))
}

/// The page is asked to keep them no longer. What comes before it has done so goes with them.
pub(crate) fn let_go(cx: &mut Cx<'_>, route: &Route) {
    if cx.state().sessions.get(route).is_some() && cx.state().is_connected() {
        let group = runtime::ReleaseObjectGroup { object_group: GROUP };
        cx.send(route, &group, Purpose::LetGo(route.clone()));
    }
}
