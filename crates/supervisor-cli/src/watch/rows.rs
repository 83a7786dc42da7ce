//! What stands in each pane, one row after the other. Rows hold texts of pages as they are: the view makes them harmless.

use supervisor::supervisor_core::snapshot::ConsoleEntryView;
use supervisor::{DialogView, FrameId};

use super::model::Model;
use super::pane::Pane;
use super::tree;
use crate::escape::quoted;
use crate::screen::Kind;
use crate::teller::{asks, short, word};
use crate::when;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    /// What it is about.
    pub(super) kind: Kind,
    /// What it says, untrusted.
    pub(super) text: String,
    /// Whether keys act on it.
    pub(super) chosen: bool,
}

impl Row {
    /// A row.
    pub(super) fn new(kind: Kind, text: impl Into<String>) -> Self {
        Self { kind, text: text.into(), chosen: false }
    }
}

/// The rows of a pane.
pub(super) fn of(model: &Model, pane: Pane) -> Vec<Row> {
    match pane {
        Pane::Dialogs => dialogs(model),
        Pane::Pages => tree::rows(&model.snapshot),
        Pane::Recent => model.snapshot.recent_dialogs.iter().rev().map(ended).collect(),
        Pane::Console => console(model),
        Pane::Log => model.log.newest_first().map(logged).collect(),
    }
}

fn dialogs(model: &Model) -> Vec<Row> {
    model.snapshot.pending_dialogs.iter().flat_map(|dialog| pending(model, dialog)).collect()
}

/// A dialog, and a second row for the one that is chosen.
fn pending(model: &Model, dialog: &DialogView) -> Vec<Row> {
    let chosen = model.chosen == Some(dialog.id);
    let state = match (model.is_answering(dialog.id), dialog.answerable) {
        (true, _) => " [answering]",
        (false, true) => "",
        (false, false) => " [cannot be answered]",
    };
    let kind = if dialog.answerable { Kind::Ask } else { Kind::Bad };
    let text = format!("{}{state}", asks(dialog.id, &word(&dialog.kind), &dialog.message, None));
    let mut rows = vec![Row { chosen, ..Row::new(kind, text) }];
    if chosen {
        rows.push(Row { chosen, ..Row::new(Kind::Plain, detail(dialog)) });
    }
    rows
}

fn detail(dialog: &DialogView) -> String {
    let default = match dialog.default_prompt.as_str() {
        "" => String::new(),
        text => format!("default {}, ", quoted(text)),
    };
    format!(
        "  {default}since {}{}, {}",
        when::clock(dialog.opened_at),
        from(dialog.frame_id.as_ref()),
        dialog.url
    )
}

fn from(frame: Option<&FrameId>) -> String {
    frame.map(|frame| format!(", frame {}", short(frame.as_str()))).unwrap_or_default()
}

fn ended(dialog: &DialogView) -> Row {
    let how = match dialog.accepted {
        Some(true) => "accepted",
        Some(false) => "dismissed",
        None => "closed",
    };
    let typed = dialog.user_input.as_ref().map(|text| format!(" with {}", quoted(text))).unwrap_or_default();
    let by = dialog.closed_by.map(|by| format!(" by {}", by.as_str())).unwrap_or_default();
    let why = dialog.reason.map(|reason| format!(" ({})", spaced(&reason))).unwrap_or_default();
    let at = dialog.closed_at.map(when::clock).unwrap_or_default();
    let asks = asks(dialog.id, &word(&dialog.kind), &dialog.message, None);
    let kind = if dialog.accepted.is_some() { Kind::Good } else { Kind::Gone };
    Row::new(kind, format!("{at} {how}{typed}{by}{why}: {asks}"))
}

/// Errors and warnings together, newest first.
fn console(model: &Model) -> Vec<Row> {
    let console = &model.console;
    let mut entries: Vec<_> = console.errors.iter().chain(&console.warnings).collect();
    entries.sort_by(|one, other| other.at.total_cmp(&one.at));
    let mut rows: Vec<Row> = entries.into_iter().map(complaint).collect();
    if console.dropped > 0 {
        rows.push(Row::new(Kind::Note, format!("{} older ones are no longer kept", console.dropped)));
    }
    rows
}

fn complaint(entry: &ConsoleEntryView) -> Row {
    let line = entry.line.map(|line| format!(":{}", line.saturating_add(1))).unwrap_or_default();
    let place = if entry.url.is_empty() { String::new() } else { format!(" ({}{line})", entry.url) };
    let level = word(&entry.level);
    let kind = if level == "warning" { Kind::Warn } else { Kind::Bad };
    Row::new(kind, format!("{} {level} {}{place}", when::clock(entry.at), quoted(&entry.text)))
}

fn logged(logged: &super::log::Logged) -> Row {
    Row::new(logged.line.kind, format!("{:.3} {}", logged.at.as_secs_f64(), logged.line.text))
}

/// A word of JSON as words.
pub(super) fn spaced(value: &impl serde::Serialize) -> String {
    word(value).replace('_', " ")
}
