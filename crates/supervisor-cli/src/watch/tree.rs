//! Pages, and below the active one its frames.

use supervisor::supervisor_core::snapshot::BridgeView;
use supervisor::{FrameId, FrameTree, FrameView, PageView, Snapshot};

use super::rows::{Row, spaced};
use crate::escape::quoted;
use crate::screen::Kind;
use crate::teller::short;

/// Deeper frames are not indented further: their URLs would leave the screen.
const MOST_INDENTED: usize = 6;

/// The rows.
pub(super) fn rows(snapshot: &Snapshot) -> Vec<Row> {
    let mut rows = Vec::new();
    for page in snapshot.pages.iter() {
        rows.push(of_page(page));
        if page.active {
            rows.extend(frames(&snapshot.frame_tree));
        }
    }
    rows
}

fn of_page(page: &PageView) -> Row {
    let marks = marks(page);
    let kind = match (marks.iter().any(|mark| mark.is_trouble), page.pending_dialogs) {
        (true, _) => Kind::Bad,
        (false, 0) => Kind::Note,
        (false, _) => Kind::Ask,
    };
    let marks: String = marks.iter().map(|mark| format!(" [{}]", mark.text)).collect();
    let title = if page.title.is_empty() { String::new() } else { format!(" {}", quoted(&page.title)) };
    Row::new(kind, format!("page {}{marks}{title} {}", short(page.target_id.as_str()), page.url))
}

/// What is special about a page.
struct Mark {
    text: String,
    is_trouble: bool,
}

fn marks(page: &PageView) -> Vec<Mark> {
    let trouble = |text: String| Mark { text, is_trouble: true };
    let usual = |text: String| Mark { text, is_trouble: false };
    let blocked = page.blocked.as_ref().map(|blocked| {
        let guess = if blocked.suspected { ", a guess" } else { "" };
        trouble(format!("blocked: {}{guess}", because(&spaced(&blocked.reason))))
    });
    let dialogs = Some(page.pending_dialogs).filter(|count| *count > 0);
    let bridge = match page.bridge {
        BridgeView::Off => None,
        BridgeView::On => Some("bridge"),
        BridgeView::Unavailable => Some("bridge unavailable"),
    };
    let marks = [
        page.active.then(|| usual("active".to_owned())),
        page.crashed.then(|| trouble("crashed".to_owned())),
        page.unresponsive.then(|| trouble("unresponsive".to_owned())),
        blocked,
        dialogs.map(|count| usual(format!("dialogs: {count}"))),
        bridge.map(|bridge| usual(bridge.to_owned())),
        page.guarded.then(|| usual("guarded".to_owned())),
    ];
    marks.into_iter().flatten().collect()
}

fn because(reason: &str) -> &str {
    if reason == "reopening" { "flooding with dialogs" } else { reason }
}

fn frames(tree: &FrameTree) -> Vec<Row> {
    let mut rows = Vec::new();
    if let Some(top) = &tree.top {
        below(tree, &top.frame_id, 1, &mut rows);
    }
    if tree.truncated {
        rows.push(Row::new(Kind::Note, "  more frames are not shown here"));
    }
    rows
}

/// A parent is always listed before its children, so that this ends: the snapshot's tree has no circles.
fn below(tree: &FrameTree, parent: &FrameId, depth: usize, rows: &mut Vec<Row>) {
    // A tree holds few frames; deeper than all of them would be a circle.
    if depth > tree.children.len() {
        return;
    }
    let children = tree.children.iter().filter(|frame| frame.parent_frame_id.as_ref() == Some(parent));
    for frame in children {
        rows.push(of_frame(frame, depth));
        below(tree, &frame.frame_id, depth + 1, rows);
    }
}

fn indent(depth: usize) -> String {
    "  ".repeat(depth.min(MOST_INDENTED))
}

fn of_frame(frame: &FrameView, depth: usize) -> Row {
    let indent = indent(depth);
    let process = if frame.is_oopif { " [own process]" } else { "" };
    let crashed = if frame.crashed { " [crashed]" } else { "" };
    let name = if frame.name.is_empty() { String::new() } else { format!(" {}", quoted(&frame.name)) };
    let kind = if frame.crashed { Kind::Bad } else { Kind::Plain };
    let id = short(frame.frame_id.as_str());
    Row::new(kind, format!("{indent}└ frame {id}{process}{crashed}{name} {}", frame.url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deep_frames_are_indented_so_far_and_no_further() {
        assert!(indent(MOST_INDENTED - 1).len() < indent(MOST_INDENTED).len());
        assert_eq!(indent(MOST_INDENTED + 1), indent(MOST_INDENTED));
    }
}
