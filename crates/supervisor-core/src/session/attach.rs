//! Targets and their sessions: what is attached, how it is set up, what is let go.
//!
//! Everything that a new session needs is sent in one go and nothing is awaited: a page with a dialog open before we came
//! answers nothing at all, and a paused target must be resumed whatever else fails.

use cdp_wire::target::{AttachedToTarget, DetachedFromTarget, TargetCrashed, TargetDestroyed, TargetInfo};
use cdp_wire::{BrowserContextId, FrameId, SessionId, TargetId, log, page, runtime, target};

use crate::call::blocking;
use crate::context::Cx;
use crate::dialog::{Reason, Unanswerable};
use crate::event::{Event, Silence};
use crate::flights::{InFlight, Purpose};
use crate::guard::{hand_over, rules as guard};
use crate::ids::{EndpointKind, Route};
use crate::limits::{MAX_SESSIONS, SETUP_SILENCE};
use crate::observe::rules as observe_rules;
use crate::options::Scope;
use crate::session::{doomed, gone};
use crate::shown::{self, cut};

pub(crate) fn attached(cx: &mut Cx<'_>, parent: &Route, event: &AttachedToTarget<'_>) {
    let Some(route) = newborn(cx, event) else { return };
    if cx.is_observing() {
        return observe_rules::attached(cx, parent, &route, event);
    }
    let info = &event.target_info;
    let has_room = cx.state().sessions.len() < MAX_SESSIONS && cx.state().frames.has_room();
    match info.kind.as_str() {
        _ if !has_room => {
            cx.meters().dropped += 1;
            release(cx, parent, &route, event);
        }
        "page" if is_wanted(cx, info) => page_attached(cx, parent, &route, info),
        "iframe" if is_below(cx, parent, info) => iframe_attached(cx, parent, &route, info),
        _ => release(cx, parent, &route, event),
    }
}

/// A target that is announced where nobody listens any more.
pub(crate) fn let_go(cx: &mut Cx<'_>, parent: &Route, event: &AttachedToTarget<'_>) {
    if let Some(route) = newborn(cx, event) {
        release(cx, parent, &route, event);
    }
}

/// A session is born once.
fn newborn(cx: &mut Cx<'_>, event: &AttachedToTarget<'_>) -> Option<Route> {
    let route = Route::Session(SessionId::from(event.session_id.as_str()));
    if cx.state().sessions.get(&route).is_some() || cx.state().sessions.was_released(&route) {
        cx.meters().protocol_violations += 1;
        return None;
    }
    Some(route)
}

/// A page in scope that has no session yet. A second session would only report everything twice.
fn is_wanted(cx: &Cx<'_>, info: &TargetInfo<'_>) -> bool {
    let state = cx.state();
    if info.subtype.is_some() || state.pages.get(&TargetId::from(info.target_id.as_str())).is_some() {
        return false;
    }
    let opened_by_ours =
        || info.opener_id.as_ref().is_some_and(|it| state.pages.get(&TargetId::from(it.as_str())).is_some());
    match &state.options.scope {
        Scope::Browser => !is_of_the_browser(info),
        Scope::BrowserContextId(wanted) => {
            let is_there = info.browser_context_id.as_ref().is_some_and(|it| **it == *wanted.as_str());
            is_there && !is_of_the_browser(info)
        }
        Scope::TargetId(wanted) => *info.target_id == *wanted.as_str() || opened_by_ours(),
    }
}

/// DevTools and pages of extensions are pages for the browser, too, when they are shown in a tab, and DevTools that was open
/// before we came even in its own window (measured on Chromium 156). Who wants such a page must ask for it by its target.
fn is_of_the_browser(info: &TargetInfo<'_>) -> bool {
    ["devtools://", "chrome-extension://"].iter().any(|scheme| info.url.starts_with(scheme))
}

/// An iframe of the page that announces it. A frame is part of one page for life.
fn is_below(cx: &Cx<'_>, parent: &Route, info: &TargetInfo<'_>) -> bool {
    let known = cx.state().frames.get(&FrameId::from(info.target_id.as_str()));
    let parent = cx.state().sessions.get(parent);
    parent.is_some_and(|parent| known.is_none_or(|known| known.page == parent.page))
}

/// On a page endpoint the root is the page's own session, and nothing announces it.
pub(crate) fn root_is_page(cx: &mut Cx<'_>, target: &TargetId) {
    cx.emit(Event::PageAttached {
        route: Route::Root,
        parent: Route::Root,
        target: target.clone(),
        url: String::new(),
        title: String::new(),
        opener: None,
        opener_frame: None,
        can_access_opener: false,
        context: None,
    });
    doomed::attached(cx, target);
    set_up(cx, &Route::Root);
    hand_over::begin(cx, target);
    guard::watch(cx, target);
}

pub(crate) fn page_attached(cx: &mut Cx<'_>, parent: &Route, route: &Route, info: &TargetInfo<'_>) {
    cx.emit(Event::PageAttached {
        route: route.clone(),
        parent: parent.clone(),
        target: TargetId::from(info.target_id.as_str()),
        url: shown::url(&info.url).to_owned(),
        title: bounded(&info.title),
        opener: info.opener_id.as_ref().map(|id| TargetId::from(id.as_str())),
        opener_frame: info.opener_frame_id.as_ref().map(|id| FrameId::from(id.as_str())),
        can_access_opener: info.can_access_opener,
        context: info.browser_context_id.as_ref().map(|id| BrowserContextId::from(id.as_str())),
    });
    let target = TargetId::from(info.target_id.as_str());
    doomed::attached(cx, &target);
    set_up(cx, route);
    hand_over::begin(cx, &target);
    guard::watch(cx, &target);
}

pub(crate) fn iframe_attached(cx: &mut Cx<'_>, parent: &Route, route: &Route, info: &TargetInfo<'_>) {
    let frame = FrameId::from(info.target_id.as_str());
    let above = info.parent_frame_id.as_ref().map(|id| FrameId::from(id.as_str()));
    // A hostile peer could name a frame as its own ancestor; a tree must stay one.
    let is_circle = above.as_ref().is_some_and(|above| cx.state().frames.is_below(above, &frame));
    if is_circle {
        cx.meters().protocol_violations += 1;
    }
    cx.emit(Event::IframeAttached {
        route: route.clone(),
        parent: parent.clone(),
        frame: frame.clone(),
        parent_frame: above.filter(|_| !is_circle),
        url: shown::url(&info.url).to_owned(),
    });
    set_up(cx, route);
    doomed::iframe_attached(cx, &frame);
    crate::bridge::sandbox::look(cx, &frame);
    gone::frame_settled(cx, &frame);
}

/// One write, nothing awaited, the resume last. `Target.setAutoAttach` has no filter on purpose: with one, dedicated
/// workers stay paused and nobody is told of them.
fn set_up(cx: &mut Cx<'_>, route: &Route) {
    cx.send(route, &page::Enable {}, Purpose::Setup);
    crate::bridge::rules::set_up(cx, route);
    cx.send(route, &runtime::Enable {}, Purpose::Setup);
    cx.send(route, &log::Enable {}, Purpose::Setup);
    let related = target::SetAutoAttach {
        auto_attach: true,
        wait_for_debugger_on_start: true,
        flatten: true,
        filter: Vec::new(),
    };
    cx.send(route, &related, Purpose::Setup);
    cx.send(route, &page::GetFrameTree {}, Purpose::ListFrames);
    cx.send(route, &runtime::RunIfWaitingForDebugger {}, Purpose::Setup);
}

/// What is none of ours gets exactly this: a resume, so that nothing waits for us, and a detach.
pub(crate) fn release(cx: &mut Cx<'_>, parent: &Route, route: &Route, event: &AttachedToTarget<'_>) {
    let kind = cut(&event.target_info.kind, 64).to_owned();
    cx.emit(Event::SessionReleased { route: route.clone(), kind });
    if event.waiting_for_debugger {
        let purpose = Purpose::Resume { parent: parent.clone() };
        cx.send(route, &runtime::RunIfWaitingForDebugger {}, purpose);
    } else {
        cx.send(route, &runtime::RunIfWaitingForDebugger {}, Purpose::Release(None));
        let_session_go(cx, parent, route);
    }
}

/// Detaches from a target that runs, or cannot be made to.
pub(crate) fn let_session_go(cx: &mut Cx<'_>, parent: &Route, route: &Route) {
    let Some(session_id) = route.session_id().cloned() else { return };
    let purpose = Purpose::Release(Some(session_id.clone()));
    cx.send(parent, &target::DetachFromTarget { session_id }, purpose);
}

pub(crate) fn detached(cx: &mut Cx<'_>, event: &DetachedFromTarget<'_>) {
    let route = Route::Session(SessionId::from(event.session_id.as_str()));
    if cx.is_observing() {
        return observe_rules::detached(cx, &route);
    }
    if cx.state().sessions.get(&route).is_none() && cx.state().flights.any_on(&route) {
        // It was none of ours and was gone before it ran.
        cx.emit(Event::SessionGone { route });
        return;
    }
    gone::session(cx, &route);
}

/// On a page endpoint this is the first word about its own page, and popups are not attached by themselves: ours are, when
/// they appear.
pub(crate) fn target_created(cx: &mut Cx<'_>, info: &TargetInfo<'_>) {
    target_changed(cx, info);
    let is_page_endpoint = matches!(cx.state().connection.endpoint, Some(EndpointKind::Page(_)));
    let opener = info.opener_id.as_ref().map(|id| TargetId::from(id.as_str()));
    let is_ours = opener.is_some_and(|opener| cx.state().pages.get(&opener).is_some());
    if is_page_endpoint && is_ours && &*info.kind == "page" && is_wanted(cx, info) {
        let target_id = TargetId::from(info.target_id.as_str());
        cx.send(&Route::Root, &target::AttachToTarget { target_id, flatten: true }, Purpose::AttachPopup);
    }
}

pub(crate) fn target_changed(cx: &mut Cx<'_>, info: &TargetInfo<'_>) {
    match info.kind.as_str() {
        "page" => page_changed(cx, info),
        "iframe" => iframe_changed(cx, info),
        _ => {}
    }
}

/// Asks what a page is called now.
pub(crate) fn describe(cx: &mut Cx<'_>, page: &TargetId) {
    let purpose = Purpose::Describe(page.clone());
    if !cx.is_observing() && !cx.state().flights.any(&purpose) {
        cx.send(&Route::Root, &target::GetTargetInfo { target_id: page.clone() }, purpose);
    }
}

fn page_changed(cx: &mut Cx<'_>, info: &TargetInfo<'_>) {
    let target = TargetId::from(info.target_id.as_str());
    let Some(known) = cx.state().pages.get(&target) else { return };
    // While a navigation begins the browser reports an empty URL for a moment; that tells nobody anything.
    let told = shown::url(&info.url);
    let url = if told.is_empty() { known.url.clone() } else { told.to_owned() };
    let title = bounded(&info.title);
    if known.url != url || known.title != title {
        cx.emit(Event::PageChanged { target, url, title });
    }
}

fn iframe_changed(cx: &mut Cx<'_>, info: &TargetInfo<'_>) {
    let frame = FrameId::from(info.target_id.as_str());
    let url = shown::url(&info.url).to_owned();
    // The document's own report has the fragment too, so this one only counts before it.
    let is_new = cx.state().frames.get(&frame).is_some_and(|known| known.is_oopif() && known.url.is_empty());
    if is_new && !url.is_empty() {
        cx.emit(Event::IframeUrlChanged { frame, url });
    }
}

pub(crate) fn target_destroyed(cx: &mut Cx<'_>, event: &TargetDestroyed<'_>) {
    let target = TargetId::from(event.target_id.as_str());
    if let Some(route) = cx.state().pages.get(&target).map(|page| page.route.clone()) {
        gone::session(cx, &route);
    }
}

/// The browser's own word about a crash; the session's usually comes first.
pub(crate) fn target_crashed(cx: &mut Cx<'_>, event: &TargetCrashed<'_>) {
    let target = TargetId::from(event.target_id.as_str());
    let page = cx.state().pages.get(&target).map(|page| page.route.clone());
    let iframe = || cx.state().frames.get(&FrameId::from(&target)).and_then(|frame| frame.remote.clone());
    if let Some(route) = page.or_else(iframe) {
        crashed(cx, &route);
    }
}

pub(crate) fn crashed(cx: &mut Cx<'_>, route: &Route) {
    if cx.state().sessions.get(route).is_none_or(|session| session.crashed) {
        return;
    }
    gone::renderer(cx, route);
    let page = cx.state().sessions.get(route).map(|session| session.page.clone());
    if let Some(page) = page.filter(|_| cx.state().is_page_session(route)) {
        crate::dialog::rules::explain(cx, &page, Reason::Crash);
        crate::dialog::rules::end_open(cx, &page, Reason::Crash);
    }
}

/// A renderer is back. What a dead one was asked fails, the set-up too; to send that twice does no harm.
pub(crate) fn revived(cx: &mut Cx<'_>, route: &Route) {
    if cx.state().sessions.get(route).is_some() {
        // A commit there may have told it already.
        cx.emit(Event::SessionRevived { route: route.clone() });
        set_up(cx, route);
    }
}

/// A reply on a session that was thought to be stuck: it is not.
pub(crate) fn heard(cx: &mut Cx<'_>, flight: &InFlight) {
    let Some(session) = cx.state().sessions.get(&flight.route) else { return };
    if !session.unresponsive || !blocking::needs_renderer(&flight.method) {
        return;
    }
    let page = session.page.clone();
    cx.emit(Event::SessionAnswered { route: flight.route.clone() });
    if !cx.state().pages.get(&page).is_some_and(doomed::is_doomed) {
        free_page(cx, &page);
    }
}

/// The page answers or has a new document: whatever blocked it is over.
pub(crate) fn free_page(cx: &mut Cx<'_>, page: &TargetId) {
    if cx.state().pages.get(page).is_some_and(|page| page.blocked.is_some()) {
        cx.emit(Event::PageFreed { target: page.clone() });
    }
}

/// A set-up that nobody answered: is it a navigation, a dialog that we know, or is the page stuck?
pub(crate) fn setup_silent(cx: &mut Cx<'_>, route: &Route) {
    let Some(session) = cx.state().sessions.get(route) else { return };
    let is_asked = !cx.is_observing() || cx.state().flights.waits_for_renderer(route);
    if session.heard.is_some() || session.crashed || !is_asked {
        return;
    }
    let page = session.page.clone();
    let navigating = session.auto_attach_answered || cx.state().is_navigating(&page);
    let state = cx.state();
    let may_be_blocked = || blocking::dialog_of_relatives(state, route);
    let looks = match blocking::dialog_that_blocks(state, route).or_else(may_be_blocked) {
        Some(_) => Silence::Dialog,
        None if navigating => Silence::Navigating,
        None => Silence::Unresponsive,
    };
    let look_again = cx.at.after(SETUP_SILENCE);
    cx.emit(Event::SessionSilent { route: route.clone(), looks, look_again });
    let is_known = cx.state().pages.get(&page).is_some_and(doomed::is_doomed);
    if looks == Silence::Unresponsive && cx.state().is_page_session(route) && !is_known {
        let was_left_open = cx.state().connection.orphaned.contains(&page);
        let why = if was_left_open { Unanswerable::Orphaned } else { Unanswerable::Unresponsive };
        cx.emit(Event::PageBlocked { target: page, why, dialog: None });
    }
}

/// A page's text, bounded.
fn bounded(text: &str) -> String {
    cut(text, crate::limits::MAX_SHOWN_TEXT).to_owned()
}
