//! A message of the browser: looked at, read, and handed to the rules of its subject.

use cdp_wire::{Event, Known, Message, Text, WireError, decode, peek};

use crate::bridge::rules as bridge;
use crate::console::{objects, rules as console_rules};
use crate::context::Cx;
use crate::dialog::rules as dialog_rules;
use crate::frame::rules as frame_rules;
use crate::ids::{EndpointKind, Epoch, Route};
use crate::observe::rules as observe_rules;
use crate::session::attach;
use crate::{connection, reply};

pub(crate) fn received(cx: &mut Cx<'_>, epoch: Epoch, text: &str) {
    if epoch != cx.state().connection.epoch || cx.state().connection.endpoint.is_none() {
        cx.meters().late_messages += 1;
        return;
    }
    cx.meters().messages += 1;
    cx.meters().bytes += text.len() as u64;
    let method = peek::method(text);
    if method.is_some_and(|method| is_only_counted(cx, method, text)) {
        return;
    }
    if let Some(event) = method.and_then(|method| peek::event_of(text, method)) {
        if is_dropped(&event, text) {
            cx.meters().console_calls += 1;
            return;
        }
        if let Ok(Some(known)) = event.known() {
            return happened(cx, &event, text, Ok(Some(known)));
        }
    }
    match decode(text) {
        Ok(Message::Event(event)) => happened(cx, &event, text, event.known()),
        Ok(Message::Reply(reply)) => reply::answered(cx, &reply, text),
        Err(_) => cx.meters().protocol_violations += 1,
    }
}

/// Most messages of a busy page are of no interest; a first look tells, without parsing.
fn is_only_counted(cx: &mut Cx<'_>, method: &str, text: &str) -> bool {
    if !Known::is_modelled(method) {
        cx.meters().unknown_messages += 1;
        return true;
    }
    let dropped = peek::console_type(text).is_some_and(|kind| !console_rules::is_kept(kind));
    if dropped {
        cx.meters().console_calls += 1;
        if peek::has_object(text) {
            let route = cx.state().sessions.route(peek::session(text));
            objects::came(cx, &route);
        }
    }
    dropped
}

/// A console call that nobody keeps, its type elsewhere than Chromium writes it.
fn is_dropped(event: &Event<'_>, text: &str) -> bool {
    let is_console = event.method.as_str() == "Runtime.consoleAPICalled";
    is_console
        && peek::console_type(text).is_none()
        && peek::console_type_anywhere(event).is_some_and(|kind| !console_rules::is_kept(&kind))
}

fn happened(cx: &mut Cx<'_>, event: &Event<'_>, text: &str, known: Result<Option<Known<'_>>, WireError>) {
    let route = cx.state().sessions.route(event.session.as_ref().map(Text::as_str));
    let route = observe_rules::heard_on(cx.state(), route, &event.method);
    let is_heard = is_heard(cx, &route);
    if !is_heard && event.method.as_str() != "Target.attachedToTarget" {
        return;
    }
    match known {
        // Whatever became of the session that announces it: a paused target must not wait for ever.
        Ok(Some(Known::AttachedToTarget(event))) if !is_heard => attach::let_go(cx, &route, &event),
        Ok(Some(known)) => {
            if matches!(known, Known::ConsoleApiCalled(_) | Known::ExceptionThrown(_))
                && peek::has_object(text)
            {
                objects::came(cx, &route);
            }
            dispatch(cx, &route, known);
        }
        Ok(None) => cx.meters().unknown_messages += 1,
        Err(_) => cx.meters().protocol_violations += 1,
    }
}

/// Whether events on this route mean anything: its session is attached, or it is the browser itself.
fn is_heard(cx: &mut Cx<'_>, route: &Route) -> bool {
    let is_browser = *route == Route::Root && cx.state().connection.endpoint == Some(EndpointKind::Browser);
    let observer = cx.state().observer.as_ref();
    if is_browser || cx.state().sessions.get(route).is_some() || observer.is_some_and(|it| it.is_tab(route)) {
        return true;
    }
    if observer.is_some_and(|it| it.target_of(route).is_some()) || cx.state().sessions.was_released(route) {
        cx.meters().late_messages += 1;
    } else {
        cx.meters().protocol_violations += 1;
    }
    false
}

fn dispatch(cx: &mut Cx<'_>, route: &Route, known: Known<'_>) {
    match known {
        Known::AttachedToTarget(event) => attach::attached(cx, route, &event),
        Known::DetachedFromTarget(event) => attach::detached(cx, &event),
        Known::TargetCreated(event) => attach::target_created(cx, &event.target_info),
        Known::TargetInfoChanged(event) => attach::target_changed(cx, &event.target_info),
        Known::TargetDestroyed(event) => attach::target_destroyed(cx, &event),
        Known::TargetCrashed(event) => attach::target_crashed(cx, &event),
        Known::InspectorTargetCrashed(_) => attach::crashed(cx, route),
        Known::TargetReloadedAfterCrash(_) => attach::revived(cx, route),
        Known::InspectorDetached(_) => connection::inspector_detached(cx, route),
        Known::FrameAttached(event) => frame_rules::attached(cx, route, &event),
        Known::FrameNavigated(event) => frame_rules::navigated(cx, route, &event),
        Known::FrameDetached(event) => frame_rules::detached(cx, route, &event),
        Known::FrameStartedNavigating(event) => frame_rules::started_navigating(cx, route, &event),
        Known::FrameStartedLoading(event) => frame_rules::started_loading(cx, route, &event),
        Known::FrameStoppedLoading(event) => frame_rules::stopped_loading(cx, route, &event),
        Known::NavigatedWithinDocument(event) => frame_rules::navigated_within(cx, route, &event),
        Known::DocumentOpened(event) => frame_rules::document_opened(cx, route, &event),
        Known::ContextCreated(event) => frame_rules::context_created(cx, route, &event),
        Known::ContextDestroyed(event) => frame_rules::context_destroyed(cx, route, &event),
        Known::ContextsCleared(_) => frame_rules::contexts_cleared(cx, route),
        Known::DialogOpening(event) => dialog_rules::opening(cx, route, &event),
        Known::DialogClosed(event) => dialog_rules::closed(cx, route, &event),
        Known::ConsoleApiCalled(event) => console_rules::console_call(cx, route, &event),
        Known::ExceptionThrown(event) => console_rules::exception(cx, route, &event),
        Known::EntryAdded(event) => console_rules::log_entry(cx, route, &event),
        Known::RequestPaused(event) => bridge::paused(cx, route, &event),
    }
}
