//! Which console messages are complaints, and what is kept of them.

use cdp_wire::runtime::{ConsoleApiCalled, ExceptionThrown, RemoteObject, StackTrace};
use cdp_wire::{FrameId, log};

use crate::console::{Entry, Level};
use crate::context::Cx;
use crate::ids::Route;
use crate::limits::MAX_SHOWN_TEXT;
use crate::shown::{Shown, cut};

/// Whether console calls of this type are kept; the others are only counted.
pub(crate) fn is_kept(kind: &str) -> bool {
    level(kind).is_some()
}

fn level(kind: &str) -> Option<Level> {
    match kind {
        "error" | "assert" => Some(Level::Error),
        "warning" => Some(Level::Warning),
        _ => None,
    }
}

pub(crate) fn console_call(cx: &mut Cx<'_>, route: &Route, event: &ConsoleApiCalled<'_>) {
    let Some(level) = level(&event.kind) else {
        cx.meters().console_calls += 1;
        return;
    };
    let place = Place::of_stack(event.stack_trace.as_ref());
    let frame = frame_of(cx, route, Some(event.execution_context_id));
    keep(cx, route, level, &spoken(&event.args), place, frame);
}

pub(crate) fn exception(cx: &mut Cx<'_>, route: &Route, event: &ExceptionThrown<'_>) {
    let details = &event.exception_details;
    let thrown = details.exception.as_ref();
    let text = thrown.map(read).filter(|text| !text.is_empty()).unwrap_or_else(|| details.text.to_string());
    let place = Place {
        url: details.url.as_deref().unwrap_or_default().to_owned(),
        line: Some(details.line_number),
        column: Some(details.column_number),
    };
    let frame = frame_of(cx, route, details.execution_context_id);
    keep(cx, route, Level::Exception, &text, place, frame);
}

pub(crate) fn log_entry(cx: &mut Cx<'_>, route: &Route, event: &log::EntryAdded<'_>) {
    let entry = &event.entry;
    let level = match &*entry.level {
        "error" => Level::Error,
        "warning" => Level::Warning,
        _ => {
            cx.meters().console_calls += 1;
            return;
        }
    };
    crate::bridge::rules::complained(cx, route, &entry.text);
    let url = entry.url.as_deref().unwrap_or_default().to_owned();
    let place = Place { url, line: entry.line_number, column: None };
    let frame = cx.state().root_frame(route).filter(|_| !cx.state().is_page_session(route));
    keep(cx, route, level, &entry.text, place, frame);
}

/// Where something was said.
struct Place {
    url: String,
    line: Option<i64>,
    column: Option<i64>,
}

impl Place {
    fn of_stack(stack: Option<&StackTrace<'_>>) -> Self {
        let top = stack.and_then(|stack| stack.call_frames.first());
        Self {
            url: top.map(|frame| frame.url.to_string()).unwrap_or_default(),
            line: top.map(|frame| frame.line_number),
            column: top.map(|frame| frame.column_number),
        }
    }
}

fn keep(cx: &mut Cx<'_>, route: &Route, level: Level, text: &str, place: Place, frame_id: Option<FrameId>) {
    let Some(target_id) = cx.state().sessions.get(route).map(|session| session.page.clone()) else { return };
    let url = cut(&place.url, MAX_SHOWN_TEXT).to_owned();
    let (line, column) = (place.line, place.column);
    cx.desk.gatherer.add(Entry {
        at: cx.at,
        level,
        text: Shown::new(text),
        url,
        line,
        column,
        frame_id,
        target_id,
    });
}

fn frame_of(cx: &Cx<'_>, route: &Route, context: Option<i64>) -> Option<FrameId> {
    Some(cx.state().sessions.get(route)?.contexts.get(&context?)?.frame.clone())
}

/// What was logged, as a console shows it.
fn spoken(args: &[RemoteObject<'_>]) -> String {
    let mut text = String::new();
    for arg in args {
        if text.len() > MAX_SHOWN_TEXT {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&read(arg));
    }
    text
}

fn read(object: &RemoteObject<'_>) -> String {
    let value = object.value.map(|value| value.get());
    let as_text = value.and_then(|json| serde_json::from_str::<cdp_wire::Text<'_>>(json).ok());
    match (as_text, &object.description, &object.unserializable_value) {
        (Some(text), _, _) => text.to_string(),
        (None, Some(description), _) => description.to_string(),
        (None, None, Some(special)) => special.to_string(),
        (None, None, None) => value.unwrap_or(&object.kind).to_owned(),
    }
}
