//! The figures of a run as a table: the floor as it is, everything else as a multiple of it.

use std::fmt::Write as _;

use crate::contender::FLOOR;

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    FloodProcessor,
    FloodWall,
    IdleHalf,
    IdleMost,
    BusyHalf,
    BusyMost,
    FloodedHalf,
    FloodedMost,
    ChurnFew,
    ChurnMany,
    TaskIdle,
    TaskWhole,
    TaskWithFrames,
    AllAnswered,
    AllStopped,
}

/// How a figure is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    /// As a multiple of the floor.
    Ratio,
    /// As it is.
    Plain,
}

const FIGURES: [(Figure, &str, &str, Shown); 15] = [
    (Figure::FloodProcessor, "flood, processor time a message", "ns", Shown::Ratio),
    (Figure::FloodWall, "flood, wall time a message", "ns", Shown::Ratio),
    (Figure::IdleHalf, "dialog, idle connection, p50", "µs", Shown::Ratio),
    (Figure::IdleMost, "dialog, idle connection, p95", "µs", Shown::Ratio),
    (Figure::BusyHalf, "dialog inside 20,000 messages/s, p50", "µs", Shown::Ratio),
    (Figure::BusyMost, "dialog inside 20,000 messages/s, p99", "µs", Shown::Ratio),
    (Figure::FloodedHalf, "dialog inside 200,000 messages/s, p50", "µs", Shown::Ratio),
    (Figure::FloodedMost, "dialog inside 200,000 messages/s, p99", "µs", Shown::Ratio),
    (Figure::ChurnFew, "frame event, 1,000 live frames", "ns", Shown::Ratio),
    (Figure::ChurnMany, "frame event, 10,000 live frames", "ns", Shown::Ratio),
    (Figure::TaskIdle, "memory a task, idle", "kB", Shown::Plain),
    (Figure::TaskWhole, "memory of the process, divided by the tasks", "kB", Shown::Plain),
    (Figure::TaskWithFrames, "memory a task, 50 frames each", "kB", Shown::Plain),
    (Figure::AllAnswered, "all tasks start, then a dialog on each is answered", "ms", Shown::Ratio),
    (Figure::AllStopped, "all tasks stopped", "ms", Shown::Plain),
];

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
    pub(crate) fn note(&mut self, figure: Figure, contender: &'static str, round: usize, value: f64) {
        eprintln!("  {figure:?} {value:.1}");
        if !self.contenders.contains(&contender) {
            self.contenders.push(contender);
        }
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
}

/// The table, as Markdown.
pub(crate) fn table(results: &Results) -> String {
    let mut out = String::from("| workload | floor |");
    let others: Vec<&str> = results.contenders.iter().copied().filter(|name| *name != FLOOR).collect();
    for name in &others {
        let _ = write!(out, " {name} |");
    }
    out.push_str("\n|---|---|");
    out.push_str(&"---|".repeat(others.len()));
    out.push('\n');
    for (figure, name, unit, shown) in FIGURES {
        let Some(floor) = results.median(figure, FLOOR, Shown::Plain) else { continue };
        let _ = write!(out, "| {name} | {} {unit} |", number(floor));
        for other in &others {
            let value = results.median(figure, other, shown);
            let _ = match (value, shown) {
                (None, _) => write!(out, " |"),
                (Some(value), Shown::Ratio) => write!(out, " {} × |", number(value)),
                (Some(value), Shown::Plain) => write!(out, " {} {unit} |", number(value)),
            };
        }
        out.push('\n');
    }
    out
}

/// As many digits as mean something.
fn number(value: f64) -> String {
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
        for (round, floor, ours) in [(0, 100.0, 200.0), (1, 1_000.0, 3_000.0), (2, 10.0, 1_000.0)] {
            results.note(Figure::FloodProcessor, FLOOR, round, floor);
            results.note(Figure::FloodProcessor, "x", round, ours);
        }
        let table = table(&results);
        assert!(table.contains("| flood, processor time a message | 100 ns | 3.00 × |"), "{table}");
        assert_eq!(table.lines().count(), 3);
    }
}
