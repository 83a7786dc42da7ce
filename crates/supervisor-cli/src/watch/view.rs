//! Draws what the model knows. Everything goes through [`put`], which makes texts of pages harmless.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::Span;
use ratatui::widgets::{Clear, Widget as _};
use supervisor::Status;

use super::layout::{LEAST, Places};
use super::model::Model;
use super::pane::Pane;
use super::rows::{self, Row, spaced};
use super::typing::Typing;
use crate::escape;
use crate::screen::{Kind, Line};

/// Which means the terminal offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Theme {
    /// Whether colours may be used.
    pub(super) colour: bool,
}

/// The keys, for the last row. The first ones matter most: a narrow screen cuts the others.
const KEYS: &str = "a accept  d dismiss  t type  ↑↓ choose, scroll  Tab pane  ? help  q quit";

/// While a text is typed.
const TYPING_KEYS: &str = "Enter accept with this text  Esc cancel  Ctrl-U erase";

const HELP: [&str; 11] = [
    "↑ ↓            choose a dialog, or scroll",
    "Tab Shift-Tab  go to another pane",
    "PgUp PgDn      scroll further",
    "Home End       to the first, the last",
    "a              accept the chosen dialog",
    "               (a prompt: its default text)",
    "d              dismiss it",
    "t              type a text for a prompt",
    "Enter / Esc    send that text / cancel",
    "? Esc          this help, away with it",
    "q Ctrl-C       quit",
];

/// Draws everything.
pub(super) fn draw(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let Some(places) = Places::of(area, model.focus) else {
        let (width, height) = LEAST;
        let text = format!("too small: {width}×{height} is the least");
        return put(buffer, area, 0, &text, Style::new());
    };
    header(model, theme, places.header, buffer);
    for (pane, area) in &places.panes {
        draw_pane(model, theme, *pane, *area, buffer);
    }
    bottom(model, theme, &places, buffer);
    if model.help {
        help(area, buffer);
    }
}

fn header(model: &Model, theme: Theme, area: Rect, buffer: &mut Buffer) {
    let browser = model.snapshot.status.browser.as_deref().unwrap_or("a browser");
    let title = format!("{browser} at {}", model.endpoint);
    put_line(buffer, area, 0, &Line::new(Kind::Title, title), theme);
    put_line(buffer, area, 1, &status(model), theme);
    put(buffer, area, 2, &format!("  {}", counts(model)), Style::new());
}

fn status(model: &Model) -> Line {
    let status = &model.snapshot.status;
    let kind = match status.status {
        Status::Connected => Kind::Good,
        Status::Failed => Kind::Bad,
        Status::NotConnected | Status::Connecting | Status::Reconnecting | Status::Stopped => Kind::Warn,
    };
    let stale = if status.stale { "; this is the last known state" } else { "" };
    let attempt = status.attempt.map(|attempt| format!(", attempt {attempt}")).unwrap_or_default();
    let why = status.reason.as_ref().or(status.last_error.as_ref());
    let why = why.map(|why| format!(" ({why})")).unwrap_or_default();
    Line::new(kind, format!("{}{attempt}{stale}{why}", spaced(&status.status)))
}

fn counts(model: &Model) -> String {
    let counts = &model.snapshot.counts;
    let meters = &counts.meters;
    format!(
        "{} dialogs seen, {} messages, {} kB, {} dropped, {} unknown, {} violations",
        counts.dialogs_seen,
        meters.messages,
        meters.bytes / 1_000,
        meters.dropped + counts.console_dropped,
        meters.unknown_messages,
        meters.protocol_violations,
    )
}

fn draw_pane(model: &Model, theme: Theme, pane: Pane, area: Rect, buffer: &mut Buffer) {
    let rows = rows::of(model, pane);
    let fit = usize::from(area.height.saturating_sub(1));
    let first = first(model, pane, &rows, fit);
    title(pane, model.focus == pane, &part(first, rows.len(), fit), area, buffer);
    if rows.is_empty() {
        put(buffer, area, 1, &format!("  {}", pane.nothing()), Style::new().add_modifier(Modifier::DIM));
    }
    for (place, row) in (1..).zip(rows.iter().skip(first).take(fit)) {
        put_row(buffer, area, place, row, theme);
    }
}

/// Dialogs follow the choice; the others stay where they were scrolled to.
fn first(model: &Model, pane: Pane, rows: &[Row], fit: usize) -> usize {
    match rows.iter().rposition(|row| row.chosen) {
        Some(last) if pane == Pane::Dialogs => (last + 1).saturating_sub(fit),
        _ => model.first_row(pane, rows.len(), fit),
    }
}

fn part(first: usize, rows: usize, fit: usize) -> String {
    if rows <= fit {
        return String::new();
    }
    format!(" ({}–{} of {rows})", first + 1, (first + fit).min(rows))
}

fn title(pane: Pane, is_focus: bool, part: &str, area: Rect, buffer: &mut Buffer) {
    let (mark, style) = match is_focus {
        true => ('━', Style::new().add_modifier(Modifier::BOLD)),
        false => ('─', Style::new()),
    };
    let rule: String = std::iter::repeat_n(mark, usize::from(area.width)).collect();
    put(buffer, area, 0, &rule, style);
    let room = Rect { x: area.x + 2, width: area.width.saturating_sub(3), ..area };
    put(buffer, room, 0, &format!(" {}{part} ", pane.title()), style);
}

fn bottom(model: &Model, theme: Theme, places: &Places, buffer: &mut Buffer) {
    let keys = if model.typing.is_some() { TYPING_KEYS } else { KEYS };
    put(buffer, places.keys, 0, keys, Style::new().add_modifier(Modifier::DIM));
    match (&model.typing, &model.said) {
        (Some(typing), _) => prompt(typing, places.said, buffer),
        (None, Some(said)) => put_line(buffer, places.said, 0, said, theme),
        (None, None) => {}
    }
}

/// The end of the text is what one looks at while typing.
fn prompt(typing: &Typing, area: Rect, buffer: &mut Buffer) {
    let label = format!("text for {}: ", typing.dialog);
    let room = usize::from(area.width).saturating_sub(label.len() + 1);
    let text = harmless(&typing.text, TEXT_MOST);
    let mut shown = text.as_str();
    while Span::raw(shown).width() > room {
        let mut characters = shown.chars();
        characters.next();
        shown = characters.as_str();
    }
    put(buffer, area, 0, &format!("{label}{shown}▏"), Style::new().add_modifier(Modifier::BOLD));
}

fn help(area: Rect, buffer: &mut Buffer) {
    /// The longest line and a margin.
    const WIDTH: u16 = 48;
    let height = u16::try_from(HELP.len()).unwrap_or(u16::MAX).saturating_add(2);
    let place = Rect {
        x: area.x + area.width.saturating_sub(WIDTH) / 2,
        y: area.y + area.height.saturating_sub(height) / 2,
        width: WIDTH,
        height,
    }
    .intersection(area);
    Clear.render(place, buffer);
    let block = ratatui::widgets::Block::bordered().title(" Keys ");
    let inside = block.inner(place);
    block.render(place, buffer);
    for (row, text) in (0..).zip(HELP) {
        put(buffer, inside, row, text, Style::new());
    }
}

fn put_row(buffer: &mut Buffer, area: Rect, row: u16, content: &Row, theme: Theme) {
    let style = theme.of(content.kind);
    let style = if content.chosen { style.add_modifier(Modifier::REVERSED) } else { style };
    put(buffer, area, row, &format!("{} {}", content.kind.symbol(), content.text), style);
}

fn put_line(buffer: &mut Buffer, area: Rect, row: u16, line: &Line, theme: Theme) {
    put(buffer, area, row, &format!("{} {}", line.kind.symbol(), line.text), theme.of(line.kind));
}

/// Writes a text into one row, cut where the row ends; nothing where there is no such row.
fn put(buffer: &mut Buffer, area: Rect, row: u16, text: &str, style: Style) {
    if row < area.height {
        let text = harmless(text, TEXT_MOST);
        buffer.set_stringn(area.x, area.y + row, text, usize::from(area.width), style);
    }
}

/// More characters than a row of any terminal has: a text of a megabyte is not looked through for a row.
const TEXT_MOST: usize = 8_192;

/// Marks above and below a letter that living languages use at most; more would run over the rows around.
const MARKS_MOST: usize = 3;

/// A text that neither steers the terminal nor leaves its row.
fn harmless(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    let mut marks = 0;
    let escaped = escape::line(&start);
    let kept = escaped.chars().filter(|character| {
        marks = if is_mark(*character) { marks + 1 } else { 0 };
        marks <= MARKS_MOST
    });
    kept.collect()
}

fn is_mark(character: char) -> bool {
    !character.is_ascii() && Span::raw(character.encode_utf8(&mut [0; 4]) as &str).width() == 0
}

impl Theme {
    fn of(self, kind: Kind) -> Style {
        let colour = match kind {
            Kind::Title => return Style::new().add_modifier(Modifier::BOLD),
            Kind::Ask | Kind::Warn => Color::Yellow,
            Kind::Good => Color::Green,
            Kind::Bad => Color::Red,
            Kind::Act => Color::Cyan,
            Kind::Note | Kind::Came | Kind::Gone | Kind::Plain => return Style::new(),
        };
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }
}

#[cfg(test)]
#[path = "view_tests.rs"]
mod tests;
