//! Where everything is, for a screen of any size.

use ratatui::layout::{Constraint, Layout, Rect};

use super::pane::Pane;

/// Below this nothing sensible fits.
pub(super) const LEAST: (u16, u16) = (40, 10);

/// From here on lines of half the width still say enough.
const TWO_COLUMNS: u16 = 120;

/// From here on there is room for all panes one above the other.
const ALL_PANES: u16 = 20;

/// Where everything is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Places {
    /// Endpoint, status, and where there is room counts.
    pub(super) header: Rect,
    /// The panes that are shown; the first row of each is its title.
    pub(super) panes: Vec<(Pane, Rect)>,
    /// What came of the last answer, or the text that is being typed.
    pub(super) said: Rect,
    /// The keys.
    pub(super) keys: Rect,
}

impl Places {
    /// For this screen; none when it is too small.
    pub(super) fn of(area: Rect, focus: Pane) -> Option<Self> {
        if area.width < LEAST.0 || area.height < LEAST.1 {
            return None;
        }
        let header = if area.height < ALL_PANES { 2 } else { 3 };
        let rows =
            [Constraint::Length(header), Constraint::Fill(1), Constraint::Length(1), Constraint::Length(1)];
        let [header, body, said, keys] = area.layout(&Layout::vertical(rows));
        Some(Self { header, panes: panes(body, area, focus), said, keys })
    }

    /// How many rows of a pane are seen; none while it is not shown.
    pub(super) fn rows(&self, pane: Pane) -> Option<usize> {
        let (_, area) = self.panes.iter().find(|(shown, _)| *shown == pane)?;
        Some(usize::from(area.height.saturating_sub(1)))
    }
}

fn panes(body: Rect, area: Rect, focus: Pane) -> Vec<(Pane, Rect)> {
    if area.height < ALL_PANES {
        // Dialogs are what one watches for.
        let other = if focus == Pane::Dialogs { Pane::Pages } else { focus };
        return column(body, &[Pane::Dialogs, other], focus);
    }
    if area.width < TWO_COLUMNS {
        return column(body, &Pane::ALL, focus);
    }
    let halves = Layout::horizontal([Constraint::Fill(1), Constraint::Fill(1)]).spacing(1);
    let [left, right] = body.layout(&halves);
    let mut panes = column(left, &[Pane::Dialogs, Pane::Pages, Pane::Recent], focus);
    panes.extend(column(right, &[Pane::Console, Pane::Log], focus));
    panes
}

fn column(area: Rect, panes: &[Pane], focus: Pane) -> Vec<(Pane, Rect)> {
    let heights = panes.iter().map(|pane| Constraint::Fill(weight(*pane, focus)));
    let areas = Layout::vertical(heights).split(area);
    panes.iter().copied().zip(areas.iter().copied()).collect()
}

fn weight(pane: Pane, focus: Pane) -> u16 {
    let usual = if matches!(pane, Pane::Dialogs | Pane::Pages) { 4 } else { 3 };
    usual + if pane == focus { 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(width: u16, height: u16, focus: Pane) -> Option<Places> {
        Places::of(Rect::new(0, 0, width, height), focus)
    }

    #[test]
    fn a_screen_below_the_least_has_no_places() {
        assert!(at(40, 10, Pane::Log).is_some());
        assert!(at(39, 10, Pane::Log).is_none() && at(40, 9, Pane::Log).is_none());
    }

    #[test]
    fn dialogs_and_the_focus_are_always_there_with_a_row() {
        for (width, height) in [(40, 10), (80, 19), (80, 20), (80, 24), (119, 50), (120, 20), (160, 50)] {
            for focus in Pane::ALL {
                let places = at(width, height, focus).unwrap();
                let focused = places.rows(focus).unwrap();
                assert!(
                    focused >= 1 && places.rows(Pane::Dialogs).unwrap() >= 1,
                    "{width}×{height} {focus:?}"
                );
            }
        }
    }

    #[test]
    fn panes_fill_the_screen_without_overlap() {
        for (width, height) in [(80, 24), (160, 50)] {
            let places = at(width, height, Pane::Pages).unwrap();
            assert_eq!(places.panes.len(), Pane::ALL.len());
            for (index, (_, one)) in places.panes.iter().enumerate() {
                let rest = &places.panes[index + 1..];
                assert!(rest.iter().all(|(_, other)| !one.intersects(*other)));
                assert!(one.bottom() <= places.said.top() && one.top() >= places.header.bottom());
            }
        }
    }

    #[test]
    fn a_wider_screen_has_two_columns_and_a_higher_one_all_panes() {
        let columns = |width| {
            let places = at(width, 50, Pane::Pages).unwrap();
            places.panes.iter().map(|(_, area)| area.x).collect::<std::collections::BTreeSet<_>>().len()
        };
        assert_eq!((columns(TWO_COLUMNS - 1), columns(TWO_COLUMNS)), (1, 2));
        let panes = |height| at(80, height, Pane::Pages).unwrap().panes.len();
        assert_eq!((panes(ALL_PANES - 1), panes(ALL_PANES)), (2, Pane::ALL.len()));
    }
}
