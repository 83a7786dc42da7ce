//! Frames that are sandboxed without `allow-modals`: natively they ask nobody, so by the bridge they must not either.
//!
//! No frame can tell this about itself unless it may look at its own element, and the script does where it may. An iframe in
//! another process may not: there the process of its parent is asked, ahead of time. Both look at the attribute as it is now;
//! the browser goes by what it was when the document came.

use cdp_wire::{FrameId, Text, parse};
use serde::Deserialize;
use serde_json::json;

use crate::bridge::rules;
use crate::bridge::{Element, Held};
use crate::context::Cx;
use crate::dialog::DialogOpening;
use crate::dialog::preset::Of;
use crate::event::Event;
use crate::flights::Purpose;
use crate::ids::Route;
use crate::limits::{BRIDGE_HOLD, MAX_BRIDGE_DIALOGS};
use crate::state::State;

/// Asks about the element of an iframe that is in another process than its parent.
pub(crate) fn look(cx: &mut Cx<'_>, frame: &FrameId) {
    if let Some(parent) =
        parent_route(cx.state(), frame).filter(|_| cx.state().bridge.on && !cx.is_observing())
    {
        cx.emit(Event::BridgeElementAsked { frame: frame.clone() });
        let params = json!({ "frameId": frame }).to_string();
        cx.send_raw(&parent, "DOM.getFrameOwner", &params, Purpose::FrameOwner(frame.clone()));
    }
}

/// Asks about all of them.
pub(crate) fn look_at_all(cx: &mut Cx<'_>) {
    let targets = cx.state().sessions.iter().map(|(_, session)| FrameId::from(&session.target));
    for frame in targets.collect::<Vec<_>>() {
        look(cx, &frame);
    }
}

/// The session of the parent's process, for a frame that has one of its own.
fn parent_route(state: &State, frame: &FrameId) -> Option<Route> {
    let remote = state.frames.get(frame)?.remote.as_ref()?;
    let session = state.sessions.get(remote)?;
    state.sessions.get(&session.parent).filter(|_| !state.is_page_session(remote))?;
    Some(session.parent.clone())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    backend_node_id: i64,
}

/// The parent's process named the element, or has none by now.
pub(crate) fn owner_named(cx: &mut Cx<'_>, frame: &FrameId, result: Option<&str>) {
    let owner = result.and_then(|result| parse::<Owner>("DOM.getFrameOwner", result).ok());
    match (owner, parent_route(cx.state(), frame)) {
        (Some(owner), Some(parent)) => {
            let params = json!({ "backendNodeId": owner.backend_node_id }).to_string();
            cx.send_raw(&parent, "DOM.describeNode", &params, Purpose::FrameElement(frame.clone()));
        }
        _ => known(cx, frame, false),
    }
}

#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow)]
    node: Node<'a>,
}

#[derive(Deserialize)]
struct Node<'a> {
    #[serde(borrow, default)]
    attributes: Vec<Text<'a>>,
}

pub(crate) fn element_described(cx: &mut Cx<'_>, frame: &FrameId, result: Option<&str>) {
    let described = result.and_then(|result| parse::<Described<'_>>("DOM.describeNode", result).ok());
    let is_silent = described.is_some_and(|described| silences(&described.node.attributes));
    known(cx, frame, is_silent);
}

/// Names and values, in turn.
fn silences(attributes: &[Text<'_>]) -> bool {
    let sandbox = attributes.chunks(2).find(|pair| pair[0].eq_ignore_ascii_case("sandbox"));
    let words = sandbox.map(|pair| pair.get(1).map(|words| words.as_str()).unwrap_or_default());
    words.is_some_and(|words| {
        !words.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case("allow-modals"))
    })
}

fn known(cx: &mut Cx<'_>, frame: &FrameId, is_silent: bool) {
    cx.emit(Event::BridgeElementKnown { frame: frame.clone(), is_silent });
    let decided = |held: &&Held| element(cx.state(), held.dialog.frame.as_ref()) != Element::Asked;
    let decided: Vec<Held> = cx.state().bridge.held.iter().filter(decided).cloned().collect();
    for held in decided {
        decide(cx, &held);
    }
}

/// What is known of the frame and all above it.
pub(crate) fn element(state: &State, frame: Option<&FrameId>) -> Element {
    let mut found = Element::Speaks;
    let mut current = frame;
    while let Some(frame) = current {
        found = found.max(state.bridge.elements.get(frame).copied().unwrap_or_default());
        current = state.frames.get(frame).and_then(|frame| frame.parent.as_ref());
    }
    found
}

/// Keeps a request until it is known whether its frame may ask. Too many at once are not kept: they may.
pub(crate) fn hold(cx: &mut Cx<'_>, dialog: DialogOpening, preset: &str) {
    if cx.state().bridge.held.len() >= MAX_BRIDGE_DIALOGS {
        return rules::may_ask(cx, dialog, preset);
    }
    let until = cx.at.after(BRIDGE_HOLD);
    cx.emit(Event::BridgeRequestHeld { dialog: Box::new(dialog), until });
    let number = cx.state().bridge.last_held;
    cx.desk.presets.keep(Of::Held(number), preset);
}

fn decide(cx: &mut Cx<'_>, held: &Held) {
    let is_silent = element(cx.state(), held.dialog.frame.as_ref()) == Element::Silent;
    let long = cx.desk.presets.get(&Of::Held(held.number)).map(str::to_owned);
    let preset = long.as_deref().unwrap_or(&held.dialog.default_prompt);
    end(cx, held.number);
    match is_silent {
        true => rules::leave_to_browser(cx, &held.dialog),
        false => rules::may_ask(cx, held.dialog.clone(), preset),
    }
}

fn end(cx: &mut Cx<'_>, number: u64) {
    cx.emit(Event::BridgeRequestLetGo { number });
    cx.desk.presets.forget(&Of::Held(number));
}

/// The parent's process is busy: nobody is to wait for it any longer.
pub(crate) fn waited_long_enough(cx: &mut Cx<'_>, number: u64) {
    if let Some(held) = cx.state().bridge.held.iter().find(|held| held.number == number).cloned() {
        decide(cx, &held);
    }
}

/// Held requests whose page has gone on.
pub(crate) fn let_go(cx: &mut Cx<'_>, wished: impl Fn(&State, &DialogOpening) -> bool, still_waits: bool) {
    let state = cx.state();
    let hit: Vec<Held> =
        state.bridge.held.iter().filter(|held| wished(state, &held.dialog)).cloned().collect();
    for held in hit {
        end(cx, held.number);
        if still_waits {
            rules::leave_to_browser(cx, &held.dialog);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_sandbox_without_the_word_silences() {
        let silent = |attributes: &[&'static str]| {
            silences(&attributes.iter().map(|text| Text::from(*text)).collect::<Vec<_>>())
        };
        assert!(silent(&["src", "x", "sandbox", "allow-scripts"]) && silent(&["SANDBOX", ""]));
        assert!(!silent(&["src", "sandbox"]) && !silent(&[]));
        assert!(!silent(&["sandbox", "allow-scripts\n Allow-Modals"]));
    }
}
