//! What the events of a process mean for the frame tree.
//!
//! An event about a frame counts when it comes from the session that owns the frame; from any other it is late. The
//! exceptions are attaching and detaching, which the parent's process reports.

use cdp_wire::page::{
    DetachReason, DocumentOpened, Frame, FrameAttached, FrameDetached, FrameNavigated, FrameStartedLoading,
    FrameStartedNavigating, FrameStoppedLoading, NavigatedWithinDocument, NavigationType,
};
use cdp_wire::runtime::{ExecutionContextCreated, ExecutionContextDestroyed};
use cdp_wire::{FrameId, LoaderId, TargetId, UniqueContextId};

use crate::bridge::{rules as bridge, sandbox};
use crate::call::eval;
use crate::call::script::{self, Ended};
use crate::context::Cx;
use crate::dialog::Reason;
use crate::event::{Event, FrameInfo};
use crate::frame::Frames;
use crate::ids::Route;
use crate::limits::MAX_SHOWN_TEXT;
use crate::observe::rules as observe_rules;
use crate::session::attach::{self, free_page};
use crate::session::gone;
use crate::session::reach;
use crate::shown::{self, cut};

pub(crate) fn attached(cx: &mut Cx<'_>, route: &Route, event: &FrameAttached<'_>) {
    let frames = &cx.state().frames;
    let (frame, parent) = (frames.id(&event.frame_id), frames.id(&event.parent_frame_id));
    let (known, above) = (frames.get(&frame), frames.get(&parent));
    let is_new = known.is_none();
    let Some(above) = above.filter(|_| is_new || !frames.is_below(&parent, &frame)) else {
        // Its parent is gone, or not listed yet: then the listing will bring it.
        cx.meters().late_messages += 1;
        return;
    };
    let page = cx.state().sessions.get(route).map(|session| &session.page);
    let is_foreign = |known: &crate::frame::Frame| Some(&known.page) != page;
    let is_wrong = known.is_some_and(|known| is_foreign(known) || !known.can_be_below(&parent));
    if is_wrong || is_foreign(above) || !above.can_have_children_in(route) {
        cx.meters().protocol_violations += 1;
        return;
    }
    if is_new && !frames.has_room() {
        cx.meters().dropped += 1;
        return;
    }
    let reach =
        if is_new { reach::Reach::default() } else { reach::of_homecoming(cx.state(), route, &frame) };
    cx.emit(Event::FrameAttached { route: route.clone(), frame: frame.clone(), parent });
    if !is_new {
        gone::fallout(cx, &reach);
        gone::frame_settled(cx, &frame);
    }
}

pub(crate) fn navigated(cx: &mut Cx<'_>, route: &Route, event: &FrameNavigated<'_>) {
    let info = info(&cx.state().frames, &event.frame);
    if !is_believed(cx, route, &info) {
        cx.meters().late_messages += 1;
        return;
    }
    let restored = event.kind == NavigationType::BackForwardCacheRestore;
    let reach = reach::of_commit(cx.state(), route, &info.id);
    let is_main = info.parent.is_none() && cx.state().is_page_session(route);
    let frame = info.id.clone();
    let mut replaced =
        if is_main { reach::of_succession(cx.state(), route, &frame) } else { reach::Reach::default() };
    gone::dialogs_of_removed(cx, &reach, false);
    gone::dialogs_of_removed(cx, &replaced, false);
    crate::dialog::rules::left_behind(cx, route, &info);
    cx.emit(Event::FrameNavigated { route: route.clone(), frame: info, restored });
    gone::fallout(cx, &reach);
    // The page's session goes on: what it was asked is answered, or ends with the old document.
    replaced.frames.drain(..replaced.frames.len().min(1));
    gone::fallout(cx, &replaced);
    gone::frame_settled(cx, &frame);
    eval::document_came(cx, route, &frame);
    if is_main && let Some(page) = cx.state().sessions.get(route).map(|session| session.page.clone()) {
        crate::dialog::rules::explain(cx, &page, Reason::Navigation);
        free_page(cx, &page);
        bridge::page_committed(cx, &page);
        observe_rules::followed(cx, page);
    }
    if restored {
        // Local children of a restored document are not announced.
        gone::list_frames(cx, route);
    }
}

/// Whether this session may say what document is in the frame.
fn is_believed(cx: &Cx<'_>, route: &Route, info: &FrameInfo) -> bool {
    let state = cx.state();
    match (state.frames.get(&info.id), &info.parent) {
        (Some(frame), _) => frame.owner.as_ref().is_none_or(|owner| owner == route),
        // A main frame may change its id when a prerendered page takes its place.
        (None, None) => state.is_page_session(route) && state.frames.has_room(),
        (None, Some(parent)) => {
            state.frames.get(parent).is_some_and(|parent| parent.owner.as_ref() == Some(route))
                && state.frames.has_room()
        }
    }
}

pub(crate) fn detached(cx: &mut Cx<'_>, route: &Route, event: &FrameDetached<'_>) {
    let id = cx.state().frames.id(&event.frame_id);
    let Some(frame) = cx.state().frames.get(&id) else { return };
    let from_parent = frame.remote.as_ref() != Some(route);
    match event.reason {
        DetachReason::Swap if from_parent => {
            let reach = reach::of_swap_out(cx.state(), route, &id);
            cx.emit(Event::FrameSwappedOut { route: route.clone(), frame: id.clone() });
            gone::fallout(cx, &reach);
            gone::ask_about_orphan(cx, &id);
            gone::ask_for_document(cx, &id);
        }
        DetachReason::Remove | DetachReason::Other if from_parent => gone::frame(cx, &id),
        // Its own process lets go of it: what becomes of it, the parent's process and the detach tell.
        _ => {}
    }
}

pub(crate) fn started_navigating(cx: &mut Cx<'_>, _route: &Route, event: &FrameStartedNavigating<'_>) {
    if !event.is_same_document() {
        let frame = cx.state().frames.id(&event.frame_id);
        let loader = Some(LoaderId::from(event.loader_id.as_str()));
        let is_news = |known: &crate::frame::Frame| !known.navigating || known.coming != loader;
        if cx.state().frames.get(&frame).is_some_and(is_news) {
            cx.emit(Event::NavigationStarted { frame, loader });
        }
        if !cx.state().connection.tells_navigations {
            cx.emit(Event::NavigationsAreTold);
        }
        explain_by_navigation(cx, &event.frame_id);
        let frame = cx.state().frames.id(&event.frame_id);
        bridge::frame_leaves(cx, &frame);
        sandbox::look(cx, &frame);
    }
}

/// Older browsers say only that a frame loads; newer ones say this for other reasons too.
pub(crate) fn started_loading(cx: &mut Cx<'_>, route: &Route, event: &FrameStartedLoading<'_>) {
    let frame = cx.state().frames.id(&event.frame_id);
    if !cx.state().connection.tells_navigations && cx.state().frames.get(&frame).is_some() {
        cx.emit(Event::NavigationStarted { frame: frame.clone(), loader: None });
        explain_by_navigation(cx, &event.frame_id);
        bridge::frame_loads(cx, route, &frame);
    }
}

fn explain_by_navigation(cx: &mut Cx<'_>, frame: &str) {
    if let Some(page) = page_of_main(cx, &cx.state().frames.id(frame)) {
        crate::dialog::rules::explain(cx, &page, Reason::Navigation);
    }
}

pub(crate) fn stopped_loading(cx: &mut Cx<'_>, _route: &Route, event: &FrameStoppedLoading<'_>) {
    let frame = cx.state().frames.id(&event.frame_id);
    if cx.state().frames.get(&frame).is_some_and(|known| known.navigating) {
        cx.emit(Event::LoadingStopped { frame: frame.clone() });
        // The navigation came to nothing: what waited for a document gets the present one.
        if let Some(owner) = cx.state().frames.get(&frame).and_then(|known| known.owner.clone()) {
            eval::document_came(cx, &owner, &frame);
        }
    }
    if let Some(page) = page_of_main(cx, &frame) {
        attach::describe(cx, &page);
    }
}

/// The page whose main frame this is.
fn page_of_main(cx: &Cx<'_>, frame: &FrameId) -> Option<TargetId> {
    let page = &cx.state().frames.get(frame)?.page;
    let is_main = cx.state().pages.get(page)?.main_frame.as_ref() == Some(frame);
    is_main.then(|| page.clone())
}

pub(crate) fn navigated_within(cx: &mut Cx<'_>, route: &Route, event: &NavigatedWithinDocument<'_>) {
    let frame = cx.state().frames.id(&event.frame_id);
    if owns(cx, route, &frame) {
        let url = cut(&event.url, MAX_SHOWN_TEXT).to_owned();
        cx.emit(Event::FrameUrlChanged { frame, url });
    }
}

pub(crate) fn document_opened(cx: &mut Cx<'_>, route: &Route, event: &DocumentOpened<'_>) {
    let info = info(&cx.state().frames, &event.frame);
    if owns(cx, route, &info.id) {
        cx.emit(Event::DocumentOpened { frame: info });
    }
}

fn owns(cx: &mut Cx<'_>, route: &Route, frame: &FrameId) -> bool {
    let owns = cx.state().frames.get(frame).is_some_and(|known| known.owner.as_ref() == Some(route));
    if !owns {
        cx.meters().late_messages += 1;
    }
    owns
}

pub(crate) fn context_created(cx: &mut Cx<'_>, route: &Route, event: &ExecutionContextCreated<'_>) {
    let context = &event.context;
    let Some(data) = context.aux_data.as_ref().filter(|data| data.is_default) else { return };
    let Some(frame) = data.frame_id.as_ref().map(|id| FrameId::from(id.as_str())) else { return };
    let unique = UniqueContextId::from(context.unique_id.as_str());
    let origin = if context.origin.is_empty() { String::new() } else { shown_origin(&context.origin) };
    cx.emit(Event::ContextCreated {
        route: route.clone(),
        id: context.id,
        unique,
        frame: frame.clone(),
        origin,
    });
    if is_unannounced(cx, route, &frame) {
        gone::list_frames(cx, route);
    }
    eval::document_came(cx, route, &frame);
}

/// Whether nothing was ever said about the document in a frame: that of a `javascript:` URL only comes up in a listing.
fn is_unannounced(cx: &Cx<'_>, route: &Route, frame: &FrameId) -> bool {
    let known = cx.state().frames.get(frame).filter(|known| known.owner.as_ref() == Some(route));
    known.is_some_and(|known| known.parent.is_some() && known.remote.is_none() && known.loader.is_none())
}

pub(crate) fn context_destroyed(cx: &mut Cx<'_>, route: &Route, event: &ExecutionContextDestroyed<'_>) {
    let id = event.execution_context_id;
    if cx.state().sessions.get(route).is_some_and(|session| session.contexts.contains_key(&id)) {
        cx.emit(Event::ContextDestroyed { route: route.clone(), id });
    }
    script::document_left(cx, route, Ended::One(id, event.execution_context_unique_id.as_deref()));
}

pub(crate) fn contexts_cleared(cx: &mut Cx<'_>, route: &Route) {
    if cx.state().sessions.get(route).is_some_and(|session| !session.contexts.is_empty()) {
        cx.emit(Event::ContextsCleared { route: route.clone() });
    }
    script::document_left(cx, route, Ended::All);
}

/// A frame as the core keeps it, its texts bounded, its ids those that are known.
pub(crate) fn info(frames: &Frames, frame: &Frame<'_>) -> FrameInfo {
    let fragment = frame.url_fragment.as_deref().unwrap_or_default();
    let url = frame.unreachable_url.as_deref().filter(|url| !url.is_empty()).unwrap_or(&frame.url);
    let url = shown::url(url).to_owned() + cut(fragment, MAX_SHOWN_TEXT);
    FrameInfo {
        id: frames.id(&frame.id),
        parent: frame.parent_id.as_ref().map(|id| frames.id(id)),
        loader: LoaderId::from(frame.loader_id.as_str()),
        name: cut(frame.name.as_deref().unwrap_or_default(), MAX_SHOWN_TEXT).to_owned(),
        origin: origin(&frame.security_origin, &url),
        url,
    }
}

/// Before the first commit there is none.
fn origin(security_origin: &str, url: &str) -> String {
    if url.is_empty() { String::new() } else { shown_origin(security_origin) }
}

/// Opaque origins are `null`, as pages see them.
fn shown_origin(origin: &str) -> String {
    match origin {
        "" | "://" | "null" => "null".to_owned(),
        origin => cut(origin, MAX_SHOWN_TEXT).to_owned(),
    }
}
