//! What several answers show, line by line. Identifiers are whole: they are arguments of the next command.

use serde_json::Value;
use supervisor::supervisor_core::snapshot::{BridgeView, RemedyName};
use supervisor::{DialogView, FrameView, PageView, Snapshot, Status};

use crate::escape::quoted;
use crate::screen::{Kind, Line};
use crate::teller::word;

/// Their answers show what waits already.
pub(super) const TELLS_OF_DIALOGS: [&str; 2] = ["browser_snapshot", "browser_connect"];

/// A dialog in one line.
pub(super) fn asks(dialog: &DialogView) -> String {
    let says =
        if dialog.message.is_empty() { String::new() } else { format!(" {}", quoted(&dialog.message)) };
    let default = match dialog.default_prompt.as_str() {
        "" => String::new(),
        text => format!(", default {}", quoted(text)),
    };
    let at = if dialog.url.is_empty() { String::new() } else { format!(" at {}", dialog.url) };
    format!("{} {}{says}{default} on page {}{at}", dialog.id, word(&dialog.kind), dialog.target_id)
}

/// How a dialog ended, in one line.
pub(super) fn ended(dialog: &DialogView) -> String {
    let how = match dialog.accepted {
        Some(true) => "accepted",
        Some(false) => "dismissed",
        None => "closed",
    };
    let typed = dialog.user_input.as_ref().map(|text| format!(" with {}", quoted(text))).unwrap_or_default();
    let by = dialog.closed_by.map(|by| format!(" by {}", word(&by))).unwrap_or_default();
    let why =
        dialog.reason.map(|reason| format!(" ({})", word(&reason).replace('_', " "))).unwrap_or_default();
    let says =
        if dialog.message.is_empty() { String::new() } else { format!(" {}", quoted(&dialog.message)) };
    format!("{} {}{says} {how}{typed}{by}{why}", dialog.id, word(&dialog.kind))
}

/// All of a snapshot.
pub(super) fn snapshot(snapshot: &Snapshot) -> Vec<Line> {
    let mut lines = vec![status(snapshot)];
    lines.extend(snapshot.pending_dialogs.iter().map(waits));
    lines.extend(snapshot.pages.iter().map(page));
    lines.extend(tree(snapshot));
    lines.extend(snapshot.recent_dialogs.iter().map(|dialog| Line::new(Kind::Gone, ended(dialog))));
    lines
}

fn status(snapshot: &Snapshot) -> Line {
    let status = &snapshot.status;
    let browser = status.browser.as_deref().map(|browser| format!(" to {browser}")).unwrap_or_default();
    let why = status.reason.as_ref().or(status.last_error.as_ref());
    let why = why.map(|why| format!(": {why}")).unwrap_or_default();
    let stale = if status.stale { "; what follows is the last known state" } else { "" };
    let kind = if status.status == Status::Connected { Kind::Good } else { Kind::Bad };
    Line::new(kind, format!("{}{browser}{why}{stale}", word(&status.status).replace('_', " ")))
}

fn waits(dialog: &DialogView) -> Line {
    let waits = if dialog.answerable { "waits for an answer" } else { "can no longer be answered" };
    Line::new(Kind::Ask, format!("{}: {waits}", asks(dialog)))
}

fn page(page: &PageView) -> Line {
    let active = if page.active { ", active" } else { "" };
    let title = if page.title.is_empty() { String::new() } else { format!(" {}", quoted(&page.title)) };
    let trouble = trouble(page);
    let kind = if trouble.is_empty() { Kind::Note } else { Kind::Bad };
    Line::new(kind, format!("page {}{title} {}{active}{trouble}", page.target_id, page.url))
}

fn trouble(page: &PageView) -> String {
    let mut text = String::new();
    if page.crashed {
        text += ", crashed";
    }
    if page.unresponsive {
        text += ", does not answer";
    }
    if page.bridge == BridgeView::Unavailable {
        text += ", no bridge";
    }
    if let Some(blocked) = &page.blocked {
        let names = |remedies: &[RemedyName]| remedies.iter().map(word).collect::<Vec<_>>().join(", ");
        text += &format!(", blocked ({}): frees it: {}", word(&blocked.reason), names(&blocked.remedies));
    }
    text
}

fn tree(snapshot: &Snapshot) -> Vec<Line> {
    let tree = &snapshot.frame_tree;
    let all: Vec<_> = tree.top.iter().chain(&tree.children).collect();
    let mut lines = frames(&all);
    if tree.truncated {
        lines.push(Line::new(Kind::Note, "more frames are left out: cdp-supervisor frames has them"));
    }
    lines
}

/// Frames below their parents; each is indented by its depth.
pub(super) fn frames(all: &[&FrameView]) -> Vec<Line> {
    let is_root = |frame: &&&FrameView| {
        !frame
            .parent_frame_id
            .as_ref()
            .is_some_and(|parent| all.iter().any(|other| other.frame_id == *parent))
    };
    let mut lines = Vec::new();
    let mut rest: Vec<_> = all.iter().filter(is_root).map(|frame| (0, *frame)).rev().collect();
    while let Some((depth, frame)) = rest.pop() {
        lines.push(self::frame(depth, frame));
        let children = all.iter().filter(|other| other.parent_frame_id.as_ref() == Some(&frame.frame_id));
        rest.extend(children.map(|child| (depth + 1, *child)).rev());
    }
    lines
}

fn frame(depth: usize, frame: &FrameView) -> Line {
    let name = if frame.name.is_empty() { String::new() } else { format!(" {}", quoted(&frame.name)) };
    let process = if frame.is_oopif { ", in a process of its own" } else { "" };
    let crashed = if frame.crashed { ", crashed" } else { "" };
    let indent = "  ".repeat(depth);
    Line::new(Kind::Note, format!("{indent}frame {}{name} {}{process}{crashed}", frame.frame_id, frame.url))
}

/// A value, laid out for reading.
pub(super) fn value(value: &Value) -> Vec<Line> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.lines().map(|line| Line::new(Kind::Plain, line)).collect()
}
