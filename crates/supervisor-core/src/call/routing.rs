//! Where a call goes: to the frame or page that it names, or nowhere.

use cdp_wire::{FrameId, TargetId};

use crate::call::blocking::{self, Fate};
use crate::failure::{Code, Failure};
use crate::frame::Frame;
use crate::ids::{DialogId, EndpointKind, Route};
use crate::input::Place;
use crate::snapshot::Status;
use crate::snapshot::view;
use crate::state::State;

/// A place that was found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Routed {
    pub(crate) route: Route,
    pub(crate) frame: Option<FrameId>,
}

/// Whether anything can be sent at all.
pub(crate) fn connected(state: &State) -> Result<(), Failure> {
    match state.connection.status {
        Status::Connected => Ok(()),
        Status::Reconnecting => {
            let text =
                "the connection to the browser was lost and is being made again; try again in a moment";
            Err(Failure::new(Code::Disconnected, text))
        }
        Status::Failed => {
            let why = state.connection.failure.as_ref().map_or("it failed", |failure| &failure.message);
            Err(Failure::new(
                Code::NotConnected,
                format!("this task has no browser any more: {why}. Connect again"),
            ))
        }
        Status::Connecting => {
            Err(Failure::new(Code::NotConnected, "the first connection is still being made"))
        }
        Status::NotConnected | Status::Stopped => {
            Err(Failure::new(Code::NotConnected, "this task is not connected to a browser; connect first"))
        }
    }
}

/// The session for a raw command.
pub(crate) fn place(state: &State, place: &Place, method: &str) -> Result<Routed, Failure> {
    if method == "Target.closeTarget" && matches!(state.connection.endpoint, Some(EndpointKind::Browser)) {
        // The page's own session would end before it could answer.
        return Ok(Routed { route: Route::Root, frame: None });
    }
    match place {
        Place::Active => match state.pages.active() {
            Some(page) => page_session(state, page),
            None if is_for_browser(method) => Ok(Routed { route: Route::Root, frame: None }),
            None => Err(Failure::new(Code::PageGone, "the browser has no page; open one first")),
        },
        Place::Target(target) if state.pages.get(target).is_some() => page_session(state, target),
        Place::Target(target) => match state.frames.get(&FrameId::from(target)) {
            Some(frame) if frame.remote.is_some() => frame_session(state, &FrameId::from(target)),
            _ => Err(no_page(target)),
        },
        Place::Frame(frame) => frame_session(state, frame),
    }
}

fn is_for_browser(method: &str) -> bool {
    ["Browser.", "Target.", "SystemInfo.", "Storage."].iter().any(|domain| method.starts_with(domain))
}

fn no_page(target: &TargetId) -> Failure {
    let text = format!(
        "there is no page {target}; it was closed or never was. Take a target_id from the snapshot's `pages`"
    );
    Failure::new(Code::PageGone, text)
}

fn page_session(state: &State, target: &TargetId) -> Result<Routed, Failure> {
    let page = state.pages.get(target).ok_or_else(|| no_page(target))?;
    Ok(Routed { route: page.route.clone(), frame: page.main_frame.clone() })
}

/// The session of a frame that has one of its own.
fn frame_session(state: &State, id: &FrameId) -> Result<Routed, Failure> {
    let (frame, route) = living(state, id)?;
    if frame.parent.is_some() && !frame.is_oopif() {
        let text = format!(
            "frame {id} lives in its parent's process and has no session of its own. Two ways work: `eval` with this \
             frame_id, or `contentWindow`/`contentDocument` from its parent"
        );
        return Err(Failure::new(Code::NotAnOopif, text).with(|detail| detail.frame_id = Some(id.clone())));
    }
    Ok(Routed { route, frame: Some(id.clone()) })
}

/// A frame that can be talked to, and the session that it lives in.
pub(crate) fn living<'s>(state: &'s State, id: &FrameId) -> Result<(&'s Frame, Route), Failure> {
    let with =
        |code, text: String| Failure::new(code, text).with(|detail| detail.frame_id = Some(id.clone()));
    let Some(frame) = state.frames.get(id) else {
        return Err(if state.frames.is_gone(id) {
            with(Code::FrameGone, format!("frame {id} is gone; take a frame_id from a fresh snapshot"))
        } else {
            with(
                Code::FrameNotFound,
                format!("there is no frame {id}; take a frame_id from the snapshot or the frame tree"),
            )
        });
    };
    let Some(owner) = &frame.owner else {
        let text = format!("frame {id} is moving to another process or going away; try again in a moment");
        return Err(with(Code::Navigated, text));
    };
    Ok((frame, owner.clone()))
}

/// Whether the renderer behind this session can take the command now.
pub(crate) fn renderer(state: &State, route: &Route, method: &str) -> Result<(), Failure> {
    let fate = blocking::fate(method);
    if fate == Fate::Answered {
        let holding = blocking::dialog_that_forbids(state, route, method);
        return holding.map_or(Ok(()), |dialog| Err(blocked(state, dialog, method, Fate::Hangs)));
    }
    if let Some(dialog) = blocking::dialog_that_blocks(state, route) {
        return Err(blocked(state, dialog, method, fate));
    }
    let Some(session) = state.sessions.get(route) else { return Ok(()) };
    if session.crashed {
        let text = "the renderer of this page or frame crashed and answers nothing; navigate or reload it to bring it back";
        return Err(Failure::new(Code::TargetCrashed, text));
    }
    if session.unresponsive {
        let text = "this page does not answer: a dialog was opened before the supervisor came, or its script hangs; its \
                    entry in the snapshot's `pages` says what may help";
        return Err(Failure::new(Code::TargetUnresponsive, text));
    }
    Ok(())
}

/// What a caller is told whose command was not sent because of a dialog.
pub(crate) fn blocked(state: &State, id: DialogId, method: &str, fate: Fate) -> Failure {
    let Some(open) = state.dialogs.open.get(&id) else {
        return Failure::new(Code::BlockedByDialog, "a dialog is open");
    };
    // While a request of the bridge waits, input waits too.
    let is_swallowed = fate == Fate::Swallowed && open.opening.paused.is_none();
    let effect = if is_swallowed { "would be acknowledged and do nothing" } else { "would hang" };
    let next = if open.is_answerable() {
        format!("answer {id} first")
    } else {
        format!("nobody can answer {id}; the page's entry in the snapshot says which remedies work")
    };
    let text = format!("{method} {effect} while a dialog is open, so it was not sent; {next}");
    let dialog = view::open(state, id, open);
    Failure::new(Code::BlockedByDialog, text).with(|detail| detail.dialog = Some(dialog))
}
