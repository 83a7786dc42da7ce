//! Pages that ask faster than anybody could answer. They are not stopped, they are told of: what is kept of their dialogs is
//! bounded anyway.

use std::collections::BTreeMap;

use cdp_wire::TargetId;
use serde::{Deserialize, Serialize};

use crate::context::Cx;
use crate::event::Event;
use crate::limits::{FLOOD_DIALOGS, FLOOD_WINDOW};
use crate::time::At;

/// How often each page asked of late.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Floods(BTreeMap<TargetId, Window>);

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
struct Window {
    since: At,
    count: u32,
}

/// A page opened a dialog, or sent what only the bridge's script should send.
pub(crate) fn noticed(cx: &mut Cx<'_>, page: &TargetId) {
    let Some(is_known) = cx.state().pages.get(page).map(|page| page.flooding) else { return };
    if !cx.desk.floods.0.contains_key(page) {
        forget_closed(cx);
    }
    let at = cx.at;
    let window = cx.desk.floods.0.entry(page.clone()).or_insert(Window { since: at, count: 0 });
    if at.since(window.since) >= FLOOD_WINDOW {
        *window = Window { since: at, count: 0 };
    }
    window.count = window.count.saturating_add(1);
    if window.count > FLOOD_DIALOGS && !is_known {
        floods(cx, page);
    }
}

/// The window is over: is it still so?
pub(crate) fn look_again(cx: &mut Cx<'_>, page: &TargetId) {
    let count = cx.desk.floods.0.get(page).map_or(0, |window| window.count);
    if count > FLOOD_DIALOGS {
        floods(cx, page);
    } else {
        cx.emit(Event::PageCalm { target: page.clone() });
    }
}

fn floods(cx: &mut Cx<'_>, page: &TargetId) {
    let (since, until) = (cx.at, cx.at.after(FLOOD_WINDOW));
    cx.desk.floods.0.insert(page.clone(), Window { since, count: 0 });
    cx.emit(Event::PageFlooding { target: page.clone(), until });
}

fn forget_closed(cx: &mut Cx<'_>) {
    let mut floods = std::mem::take(&mut cx.desk.floods);
    floods.0.retain(|page, _| cx.state().pages.get(page).is_some());
    cx.desk.floods = floods;
}
