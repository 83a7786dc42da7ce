//! What another client's commands mean, and what its ways of attaching do.

use cdp_wire::target::{AttachedToTarget, TargetInfo};
use cdp_wire::{CommandId, FrameId, SessionId, TargetId, Text, page};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::context::Cx;
use crate::dialog::{Answerer, Open, Progress};
use crate::event::{Event, FrameInfo};
use crate::failure::{Code, Failure};
use crate::flights::Purpose;
use crate::ids::{DialogId, EndpointKind, Req, Route};
use crate::limits::{MAX_METHOD, MAX_OBSERVED_FLIGHTS, MAX_SESSIONS, MAX_SHOWN_TEXT};
use crate::observe::bridge;
use crate::session::{SessionKind, attach, gone};
use crate::shown::cut;
use crate::state::State;

/// The connection of the client is there when observing begins.
pub(crate) fn begin(cx: &mut Cx<'_>) {
    let Some(endpoint) = cx.state().observer.as_ref().map(|it| it.endpoint.clone()) else { return };
    if cx.state().history > 0 {
        return;
    }
    let epoch = cx.state().connection.epoch;
    cx.emit(Event::SocketOpened { epoch, endpoint: endpoint.clone() });
    cx.emit(Event::Connected { epoch });
    if let EndpointKind::Page(target) = endpoint {
        attach::root_is_page(cx, &target);
    }
}

/// A host cannot ask an observer for anything: there is nobody to send it to.
pub(crate) fn host(cx: &mut Cx<'_>, req: Req) {
    let text = "this task only observes another client; connect a task of its own to act";
    cx.fail(req, Failure::new(Code::Refused, text));
}

#[derive(Deserialize)]
struct Sent<'a> {
    id: u64,
    #[serde(borrow)]
    method: Text<'a>,
    #[serde(borrow, rename = "sessionId")]
    session: Option<Text<'a>>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
}

impl Sent<'_> {
    fn params(&self) -> &str {
        self.params.map_or("{}", RawValue::get)
    }
}

/// The client sent a command.
pub(crate) fn command(cx: &mut Cx<'_>, text: &str) {
    let sent = serde_json::from_str::<Sent<'_>>(text).ok().filter(|_| cx.is_observing());
    let Some(sent) = sent else {
        cx.meters().protocol_violations += 1;
        return;
    };
    if cx.state().flights.len() >= MAX_OBSERVED_FLIGHTS {
        cx.meters().dropped += 1;
        return;
    }
    let id = CommandId(sent.id);
    let route = acting(cx.state(), sent.session.as_deref());
    let purpose = purpose(cx.state(), &route, &sent);
    let method = cut(&sent.method, MAX_METHOD).to_owned();
    cx.emit(Event::CommandSent { id, route: route.clone(), method, purpose: purpose.clone() });
    match (purpose, sent.method.as_str()) {
        (Purpose::Answer(dialog), _) => answering(cx, id, dialog, sent.params()),
        (_, "Fetch.failRequest" | "Fetch.continueRequest") => bridge::let_go(cx, &route, sent.params()),
        _ => {}
    }
}

/// Where a command of this session acts: a further session of a target is as good as the one that counts.
pub(crate) fn acting(state: &State, session: Option<&str>) -> Route {
    let route = Route::from(session.map(SessionId::from));
    match state.observer.as_ref().and_then(|observer| observer.target_of(&route)) {
        Some(target) => of_target(state, target).unwrap_or(route),
        None => route,
    }
}

/// Where an event counts. What a further session of a target says has been said already, but for a request that it stopped:
/// that one it alone is told of.
pub(crate) fn heard_on(state: &State, route: Route, method: &str) -> Route {
    match &state.observer {
        Some(_) if method == "Fetch.requestPaused" => {
            acting(state, route.session_id().map(SessionId::as_str))
        }
        _ => route,
    }
}

/// The session that counts for a target.
fn of_target(state: &State, target: &TargetId) -> Option<Route> {
    let page = state.pages.get(target).map(|page| page.route.clone());
    page.or_else(|| state.frames.get(&FrameId::from(target))?.remote.clone())
}

/// Why the client sent it, as far as an observer must know.
fn purpose(state: &State, route: &Route, sent: &Sent<'_>) -> Purpose {
    let is_session = state.sessions.get(route).is_some();
    match sent.method.as_str() {
        "Page.handleJavaScriptDialog" => unanswered(state, route).map_or(Purpose::Observed, Purpose::Answer),
        "Fetch.fulfillRequest" => {
            bridge::asked_by(state, route, sent.params()).map_or(Purpose::Observed, Purpose::Answer)
        }
        "Page.getFrameTree" if is_session => Purpose::ListFrames,
        "Page.enable"
        | "Runtime.enable"
        | "Log.enable"
        | "Target.setAutoAttach"
        | "Runtime.runIfWaitingForDebugger"
            if is_session =>
        {
            Purpose::Setup
        }
        "Browser.getVersion" if *route == Route::Root => Purpose::Handshake,
        _ => Purpose::Observed,
    }
}

/// The dialog that an answer on this session would meet. Browsers refuse one on any other session than a page's.
fn unanswered(state: &State, route: &Route) -> Option<DialogId> {
    let session = state.sessions.get(route).filter(|session| session.kind == SessionKind::Page)?;
    let is_pending = |open: &Open| open.progress == Progress::Pending;
    state.open_dialog(&session.page).filter(|(_, open)| is_pending(open)).map(|(id, _)| id)
}

#[derive(Deserialize)]
struct AnswerParams<'a> {
    accept: bool,
    #[serde(borrow, rename = "promptText")]
    prompt_text: Option<Text<'a>>,
}

/// The client is the agent here. A prompt that is accepted without a text gets an empty one from the browser.
fn answering(cx: &mut Cx<'_>, command: CommandId, id: DialogId, params: &str) {
    let Some((kind, is_native)) =
        cx.state().dialogs.open.get(&id).map(|open| (open.opening.kind, open.opening.paused.is_none()))
    else {
        return;
    };
    let answer = if is_native { native_answer(params) } else { bridge::answer(params) };
    let Some((accept, text)) = answer else { return };
    let typed = accept && kind == page::DialogType::Prompt;
    let user_input = typed.then(|| text.unwrap_or_default());
    cx.emit(Event::DialogAnswering { id, by: Answerer::Agent, req: None, accept, user_input, command });
}

fn native_answer(params: &str) -> Option<(bool, Option<String>)> {
    let answer: AnswerParams<'_> = serde_json::from_str(params).ok()?;
    Some((answer.accept, answer.prompt_text.map(|text| cut(&text, MAX_SHOWN_TEXT).to_owned())))
}

/// The client attached to a target, or was attached by itself.
pub(crate) fn attached(cx: &mut Cx<'_>, parent: &Route, route: &Route, event: &AttachedToTarget<'_>) {
    let info = &event.target_info;
    let target = TargetId::from(info.target_id.as_str());
    let has_room = cx.state().sessions.len() < MAX_SESSIONS && cx.state().frames.has_room();
    match info.kind.as_str() {
        _ if !has_room => cx.meters().dropped += 1,
        "tab" => stand_by(cx, route, None),
        "page" | "iframe" if of_target(cx.state(), &target).is_some() => stand_by(cx, route, Some(target)),
        "page" if info.subtype.is_none() => attach::page_attached(cx, parent, route, info),
        "iframe" => match above(cx.state(), parent, info) {
            Some(parent) => attach::iframe_attached(cx, &parent, route, info),
            None => stand_by(cx, route, Some(target)),
        },
        _ => attach::release(cx, parent, route, event),
    }
}

fn stand_by(cx: &mut Cx<'_>, route: &Route, target: Option<TargetId>) {
    cx.emit(Event::SessionStandsBy { route: route.clone(), target });
}

/// The session that an iframe hangs on: where it was announced, or, when the client attached to it by hand, that of its
/// parent's process.
fn above(state: &State, announced_on: &Route, info: &TargetInfo<'_>) -> Option<Route> {
    if state.sessions.get(announced_on).is_some() {
        return Some(announced_on.clone());
    }
    let known =
        state.frames.get(&FrameId::from(info.target_id.as_str())).and_then(|frame| frame.parent.clone());
    let parent = known.or_else(|| info.parent_frame_id.as_ref().map(|id| FrameId::from(id.as_str())))?;
    state.frames.get(&parent)?.owner.clone()
}

/// An observer cannot ask for the frames of a process. Those that have a document and were described before are known.
pub(crate) fn recall(cx: &mut Cx<'_>, route: &Route) {
    let state = cx.state();
    let (Some(observer), Some(session)) = (&state.observer, state.sessions.get(route)) else { return };
    let lost = session.documents.keys().filter(|frame| state.frames.get(frame).is_none());
    let mut frames: Vec<FrameInfo> = lost.filter_map(|frame| observer.described(frame)).cloned().collect();
    frames.sort_by(|a, b| a.id.cmp(&b.id));
    if !frames.is_empty() {
        let asked = state.flights.last_id();
        cx.emit(Event::FramesListed { route: route.clone(), asked, frames });
    }
}

/// The client may not have asked to be told of targets; its page is where its main frame is.
pub(crate) fn followed(cx: &mut Cx<'_>, target: TargetId) {
    let Some(page) = cx.state().pages.get(&target).filter(|_| cx.is_observing()) else { return };
    let main = page.main_frame.as_ref().and_then(|main| cx.state().frames.get(main));
    let url = main.map(|main| main.url.clone()).filter(|url| *url != page.url);
    let title = page.title.clone();
    if let Some(url) = url {
        cx.emit(Event::PageChanged { target, url, title });
    }
}

/// A session ended: with a tab's those of its pages, with a target's the next one of it counts.
pub(crate) fn detached(cx: &mut Cx<'_>, route: &Route) {
    let observer = cx.state().observer.as_ref();
    if observer.is_some_and(|it| it.is_tab(route)) {
        let pages = cx.state().sessions.iter().filter(|(_, session)| session.parent == *route);
        let pages: Vec<Route> = pages.map(|(page, _)| page.clone()).collect();
        pages.iter().for_each(|page| gone::session(cx, page));
    }
    if observer_knows(cx, route) {
        cx.emit(Event::SessionGone { route: route.clone() });
    } else if let Some((next, page)) = successor(cx.state(), route) {
        hand_over(cx, route, &next, page);
    } else {
        gone::session(cx, route);
    }
}

fn observer_knows(cx: &Cx<'_>, route: &Route) -> bool {
    cx.state().observer.as_ref().is_some_and(|it| it.is_tab(route) || it.target_of(route).is_some())
}

/// The page of a session, and the client's next session on it.
fn successor(state: &State, route: &Route) -> Option<(Route, TargetId)> {
    let session = state.sessions.get(route).filter(|session| session.kind == SessionKind::Page)?;
    let next = state.observer.as_ref()?.another(&session.target)?;
    Some((next.clone(), session.target.clone()))
}

/// The page goes on under another session; what was known of its own process is still true.
fn hand_over(cx: &mut Cx<'_>, from: &Route, to: &Route, target: TargetId) {
    let Some(page) = cx.state().pages.get(&target).cloned() else { return };
    let frames = local_frames(cx.state(), from, &target);
    cx.emit(Event::SessionGone { route: to.clone() });
    gone::session(cx, from);
    cx.emit(Event::PageAttached {
        route: to.clone(),
        parent: Route::Root,
        target,
        url: page.url,
        title: page.title,
        opener: page.opener,
        opener_frame: page.opener_frame,
        can_access_opener: page.can_access_opener,
        context: page.context,
    });
    let asked = cx.state().flights.last_id();
    cx.emit(Event::FramesListed { route: to.clone(), asked, frames });
}

/// The frames of the page's own process, parents first.
fn local_frames(state: &State, route: &Route, page: &TargetId) -> Vec<FrameInfo> {
    let own = |id: &FrameId| state.frames.get(id).is_some_and(|frame| frame.owner.as_ref() == Some(route));
    let mut frames: Vec<&FrameId> = state.frames.of_page(page).filter(|id| own(id)).collect();
    frames.sort_by_key(|id| state.frames.get(id).map(|frame| (frame.parent.is_some(), frame.since)));
    frames.into_iter().filter_map(|id| describe(state, id)).collect()
}

fn describe(state: &State, id: &FrameId) -> Option<FrameInfo> {
    let frame = state.frames.get(id)?;
    Some(FrameInfo {
        id: id.clone(),
        parent: frame.parent.clone(),
        loader: frame.loader.clone().unwrap_or_else(|| "".into()),
        name: frame.name.clone(),
        url: frame.url.clone(),
        origin: frame.origin.clone(),
    })
}
