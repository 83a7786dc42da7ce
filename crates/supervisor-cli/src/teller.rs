//! Tells events in plain words: the ones worth seeing, one line each.

use std::collections::BTreeMap;

use serde::Serialize;
use supervisor::supervisor_core::dialog::{DialogOpening, Reason};
use supervisor::supervisor_core::event::{FrameInfo, Silence};
use supervisor::supervisor_core::{Route, console};
use supervisor::{DialogId, DialogView, Event, FrameId, PageView, Snapshot, TargetId};

use crate::escape::quoted;
use crate::screen::{Kind, Line};

/// Tells events in order; remembers what each session is.
#[derive(Debug, Default)]
pub(crate) struct Teller {
    sessions: BTreeMap<Route, Place>,
}

/// What a session is of.
#[derive(Debug, Clone)]
enum Place {
    Page(TargetId),
    Frame(FrameId),
}

impl Teller {
    /// What is there when the telling begins.
    pub(crate) fn present(&mut self, snapshot: &Snapshot) -> Vec<Line> {
        let iframes = snapshot.frame_tree.children.iter().filter(|frame| frame.is_oopif);
        for frame in iframes {
            self.sessions.insert(Route::from(frame.session_id.clone()), Place::Frame(frame.frame_id.clone()));
        }
        let pages = snapshot.pages.iter().map(page_present);
        pages.chain(snapshot.pending_dialogs.iter().map(dialog_present)).collect()
    }

    /// An event; most are not worth a line.
    pub(crate) fn tell(&mut self, event: &Event) -> Vec<Line> {
        match event {
            Event::ConsoleGathered { gathered } => complaints(gathered),
            event => self.one(event).into_iter().collect(),
        }
    }

    fn one(&mut self, event: &Event) -> Option<Line> {
        connection(event).or_else(|| self.target(event)).or_else(|| frame(event)).or_else(|| dialog(event))
    }

    fn target(&mut self, event: &Event) -> Option<Line> {
        Some(match event {
            Event::PageAttached { route, target, url, opener, .. } => {
                self.sessions.insert(route.clone(), Place::Page(target.clone()));
                let by = opener.as_ref().map(|opener| format!(", opened by {}", short(opener.as_str())));
                let at = if url.is_empty() { String::new() } else { format!(": {url}") };
                let text = format!("page {}{at}{}", short(target.as_str()), by.unwrap_or_default());
                Line::new(Kind::Came, text)
            }
            Event::IframeAttached { route, frame, .. } => {
                self.sessions.insert(route.clone(), Place::Frame(frame.clone()));
                let text = format!("frame {} has a process of its own", short(frame.as_str()));
                Line::new(Kind::Came, text)
            }
            Event::SessionGone { route } => {
                let place = self.sessions.remove(route)?;
                Line::new(Kind::Gone, format!("the session of {} is over", name(&place)))
            }
            Event::SessionCrashed { route } => {
                Line::new(Kind::Bad, format!("the renderer of {} crashed", self.name(route)))
            }
            Event::SessionRevived { route } => {
                Line::new(Kind::Good, format!("the renderer of {} is back", self.name(route)))
            }
            Event::SessionSilent { route, looks: Silence::Unresponsive, .. } => {
                Line::new(Kind::Bad, format!("{} does not answer", self.name(route)))
            }
            Event::PageBlocked { target, why, .. } => {
                Line::new(Kind::Bad, format!("page {} is blocked: {}", short(target.as_str()), word(why)))
            }
            Event::PageFreed { target } => {
                Line::new(Kind::Good, format!("page {} is free again", short(target.as_str())))
            }
            _ => return None,
        })
    }

    fn name(&self, route: &Route) -> String {
        self.sessions.get(route).map_or_else(|| format!("session {route}"), name)
    }
}

fn name(place: &Place) -> String {
    match place {
        Place::Page(target) => format!("page {}", short(target.as_str())),
        Place::Frame(frame) => format!("frame {}", short(frame.as_str())),
    }
}

fn page_present(page: &PageView) -> Line {
    Line::new(Kind::Note, format!("page {}: {}", short(page.target_id.as_str()), page.url))
}

fn dialog_present(dialog: &DialogView) -> Line {
    Line::new(Kind::Ask, asks(dialog.id, &word(&dialog.kind), &dialog.message, dialog.frame_id.as_ref()))
}

fn connection(event: &Event) -> Option<Line> {
    Some(match event {
        Event::BrowserIdentified { product } => Line::new(Kind::Note, format!("the browser is {product}")),
        Event::Connected { .. } => Line::new(Kind::Good, "connected"),
        Event::ConnectionLost { reason, .. } => {
            Line::new(Kind::Bad, format!("the connection is lost: {reason}; trying again"))
        }
        Event::Failed { failure } => Line::new(Kind::Bad, format!("given up: {failure}")),
        Event::Stopped => Line::new(Kind::Note, "stopped"),
        _ => return None,
    })
}

fn frame(event: &Event) -> Option<Line> {
    Some(match event {
        Event::FrameNavigated { frame, .. } => Line::new(Kind::Note, navigated(frame)),
        Event::FrameUrlChanged { frame, url } => {
            Line::new(Kind::Note, format!("frame {} is now at {url}", short(frame.as_str())))
        }
        Event::FrameGone { frame } => Line::new(Kind::Gone, format!("frame {}", short(frame.as_str()))),
        _ => return None,
    })
}

fn navigated(frame: &FrameInfo) -> String {
    let parent = frame.parent.as_ref().map(|parent| format!(" (in {})", short(parent.as_str())));
    format!("frame {}{} shows {}", short(frame.id.as_str()), parent.unwrap_or_default(), frame.url)
}

fn dialog(event: &Event) -> Option<Line> {
    Some(match event {
        Event::DialogOpened { id, dialog, .. } => Line::new(Kind::Ask, opened(*id, dialog)),
        Event::DialogUnanswerable { id, why } => {
            Line::new(Kind::Bad, format!("{id} can no longer be answered: {}", word(why)))
        }
        Event::DialogEnded { id, by, reason, accepted, user_input, .. } => {
            let how = match accepted {
                Some(true) => "accepted",
                Some(false) => "dismissed",
                None => "closed",
            };
            let typed = user_input.as_ref().map(|text| format!(" with {}", quoted(text))).unwrap_or_default();
            let why = reason.map(|reason| format!(" ({})", cause(reason))).unwrap_or_default();
            Line::new(Kind::Good, format!("{id} {how}{typed} by {}{why}", by.as_str()))
        }
        Event::DialogReasonKnown { id, reason } => {
            Line::new(Kind::Note, format!("{id} was closed by: {}", cause(*reason)))
        }
        Event::CallInterrupted { call, dialog } => {
            Line::new(Kind::Note, format!("call {call} is held by {dialog}; its result comes late"))
        }
        Event::LateResultKept { call, .. } => {
            Line::new(Kind::Note, format!("the late result of call {call} is here"))
        }
        _ => return None,
    })
}

fn opened(id: DialogId, dialog: &DialogOpening) -> String {
    let asks = asks(id, &word(&dialog.kind), &dialog.message.text, dialog.frame.as_ref());
    if dialog.default_prompt.is_empty() {
        return asks;
    }
    format!("{asks}, default {}", quoted(&dialog.default_prompt))
}

/// A dialog in one line: `d-1 confirm "Delete all 3 files?" from frame 1A2B3C4D`.
pub(crate) fn asks(id: DialogId, kind: &str, message: &str, frame: Option<&FrameId>) -> String {
    let from = frame.map(|frame| format!(" from frame {}", short(frame.as_str()))).unwrap_or_default();
    let says = if message.is_empty() { String::new() } else { format!(" {}", quoted(message)) };
    format!("{id} {kind}{says}{from}")
}

fn cause(reason: Reason) -> String {
    word(&reason).replace('_', " ")
}

fn complaints(gathered: &console::Gathered) -> Vec<Line> {
    let entries = gathered.errors.iter().chain(gathered.warnings.iter());
    let mut lines: Vec<Line> = entries.map(complaint).collect();
    if gathered.skipped > 0 {
        lines.push(Line::new(Kind::Warn, format!("console: {} more in between", gathered.skipped)));
    }
    lines
}

fn complaint(entry: &console::Entry) -> Line {
    let place = if entry.url.is_empty() { String::new() } else { format!(" ({})", quoted(&entry.url)) };
    Line::new(Kind::Warn, format!("console {}: {}{place}", word(&entry.level), quoted(&entry.text.text)))
}

/// Enough of an identifier to tell it from the others on a screen.
pub(crate) fn short(id: &str) -> &str {
    const SHOWN: usize = 8;
    &id[..id.floor_char_boundary(SHOWN)]
}

/// A value that is written as one word in JSON, as that word.
pub(crate) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(teller: &mut Teller, event: serde_json::Value) -> Vec<String> {
        let event: Event = serde_json::from_value(event).unwrap();
        teller.tell(&event).into_iter().map(|line| line.text).collect()
    }

    #[test]
    fn a_dialog_is_told_when_it_opens_and_when_it_ends() {
        let mut teller = Teller::default();
        let opened = json!({"event": "dialog_opened", "id": "d-1", "watchdog": null, "dialog": {
            "page": "T", "route": "S", "frame": "0123456789", "kind": "prompt", "message": {"text": "Name?"},
            "default_prompt": "me", "url": "http://a.test/", "source": "native", "has_browser_handler": true}});
        assert_eq!(told(&mut teller, opened), ["d-1 prompt \"Name?\" from frame 01234567, default \"me\""]);
        let ended = json!({"event": "dialog_ended", "id": "d-1", "by": "remote", "reason": "other_client",
            "accepted": false, "user_input": null});
        assert_eq!(told(&mut teller, ended), ["d-1 dismissed by remote (other client)"]);
    }

    #[test]
    fn a_session_is_told_by_what_it_is_of() {
        let mut teller = Teller::default();
        let attached = json!({"event": "iframe_attached", "route": "S1", "parent": "S0", "frame": "F1",
            "parent_frame": null, "url": ""});
        assert_eq!(told(&mut teller, attached), ["frame F1 has a process of its own"]);
        let crashed = json!({"event": "session_crashed", "route": "S1"});
        assert_eq!(told(&mut teller, crashed), ["the renderer of frame F1 crashed"]);
        let gone = json!({"event": "session_gone", "route": "S1"});
        assert_eq!(told(&mut teller, gone.clone()), ["the session of frame F1 is over"]);
        assert_eq!(told(&mut teller, gone), [""; 0], "workers and the like are nobody's business");
    }

    #[test]
    fn what_only_the_machine_needs_is_not_told() {
        let mut teller = Teller::default();
        assert_eq!(told(&mut teller, json!({"event": "contexts_cleared", "route": "S1"})), [""; 0]);
    }
}
