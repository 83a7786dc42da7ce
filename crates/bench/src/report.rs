//! The figures of a run as tables: the floor as it is, everything else as a multiple of it.

use std::fmt::Write as _;

use crate::contender::FLOOR;
pub(crate) use crate::figure::Figure;
use crate::figure::{ROWS, Row, Shown};

/// One measurement.
struct Sample {
    figure: Figure,
    contender: &'static str,
    round: usize,
    value: f64,
}

/// All measurements of a run.
#[derive(Default)]
pub(crate) struct Results {
    samples: Vec<Sample>,
    contenders: Vec<&'static str>,
}

impl Results {
    /// Gives a contender its column.
    pub(crate) fn enter(&mut self, contender: &'static str) {
        self.contenders.push(contender);
    }

    pub(crate) fn note(&mut self, figure: Figure, contender: &'static str, round: usize, value: f64) {
        eprintln!("  {figure:?} {value:.1}");
        self.samples.push(Sample { figure, contender, round, value });
    }

    fn value(&self, figure: Figure, contender: &str, round: usize) -> Option<f64> {
        let is_it = |it: &&Sample| it.figure == figure && it.contender == contender && it.round == round;
        self.samples.iter().find(is_it).map(|sample| sample.value)
    }

    /// The values of all rounds, each compared with the floor of its own round where a ratio is asked for.
    fn median(&self, figure: Figure, contender: &str, shown: Shown) -> Option<f64> {
        let rounds = self.samples.iter().map(|sample| sample.round).max()? + 1;
        let value = |round| {
            let value = self.value(figure, contender, round)?;
            match shown {
                Shown::Plain => Some(value),
                Shown::Ratio => Some(value / self.value(figure, FLOOR, round)?),
            }
        };
        let mut values: Vec<f64> = (0..rounds).filter_map(value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }

    fn cell(&self, row: &Row, contender: &str) -> String {
        let shown = if contender == FLOOR { Shown::Plain } else { row.shown };
        match (self.median(row.figure, contender, shown), shown) {
            (None, _) => String::new(),
            (Some(value), Shown::Ratio) => format!("{} ×", number(value)),
            (Some(value), Shown::Plain) => format!("{} {}", number(value), row.unit).trim_end().to_owned(),
        }
    }
}

/// The table, as Markdown.
pub(crate) fn table(results: &Results) -> String {
    let mut heads = vec!["workload", "reach"];
    heads.extend(&results.contenders);
    let mut out = head(&heads);
    for row in ROWS.iter().filter(|row| results.samples.iter().any(|sample| sample.figure == row.figure)) {
        let _ = write!(out, "| {} | {} |", row.name, row.reach);
        for contender in &results.contenders {
            let _ = write!(out, " {} |", results.cell(row, contender));
        }
        out.push('\n');
    }
    out
}

/// The head of a table.
pub(crate) fn head(columns: &[&str]) -> String {
    format!("| {} |\n|{}\n", columns.join(" | "), "---|".repeat(columns.len()))
}

/// As many digits as mean something.
pub(crate) fn number(value: f64) -> String {
    match value {
        small if small < 10.0 => format!("{small:.2}"),
        middle if middle < 100.0 => format!("{middle:.1}"),
        large => format!("{large:.0}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_the_median_of_each_rounds_own() {
        let mut results = Results::default();
        [FLOOR, "x", "y"].into_iter().for_each(|name| results.enter(name));
        for (round, floor, ours) in [(0, 100.0, 200.0), (1, 1_000.0, 3_000.0), (2, 10.0, 1_000.0)] {
            results.note(Figure::FloodProcessor, FLOOR, round, floor);
            results.note(Figure::FloodProcessor, "x", round, ours);
        }
        results.note(Figure::FloodProcessor, "y", 0, 900.0);
        let table = table(&results);
        let row = "| flood, processor time a message | ≤ 3 × | 100 ns | 3.00 × | 9.00 × |";
        assert!(table.contains(row), "{table}");
        assert_eq!(table.lines().count(), 3);
    }
}
