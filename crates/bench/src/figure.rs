//! What is measured, and what is to be reached.

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
    FloodedTail,
    ChurnFew,
    ChurnMany,
    ChurnGrowth,
    TaskIdle,
    TaskWhole,
    TaskWithFrames,
    AllAnswered,
    AllStopped,
    SnapshotHalf,
    SnapshotLongest,
    ReplayMessages,
    ReplayEvents,
}

/// How a figure is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// As a multiple of the floor.
    Ratio,
    /// As it is.
    Plain,
}

/// One line of the table.
pub(crate) struct Row {
    pub(crate) figure: Figure,
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) shown: Shown,
    /// What we want to reach.
    pub(crate) reach: &'static str,
}

const fn ratio(figure: Figure, name: &'static str, unit: &'static str, reach: &'static str) -> Row {
    Row { figure, name, unit, shown: Shown::Ratio, reach }
}

const fn plain(figure: Figure, name: &'static str, unit: &'static str, reach: &'static str) -> Row {
    Row { figure, name, unit, shown: Shown::Plain, reach }
}

pub(crate) const ROWS: [Row; 21] = [
    ratio(Figure::FloodProcessor, "flood, processor time a message", "ns", "≤ 3 ×"),
    ratio(Figure::FloodWall, "flood, wall time a message", "ns", "≤ 2 ×"),
    ratio(Figure::IdleHalf, "dialog, idle connection, p50", "µs", "≤ 1.3 ×"),
    ratio(Figure::IdleMost, "dialog, idle connection, p95", "µs", "≤ 1.5 ×"),
    ratio(Figure::BusyHalf, "dialog inside 20,000 messages/s, p50", "µs", "≤ 1.5 ×"),
    ratio(Figure::BusyMost, "dialog inside 20,000 messages/s, p99", "µs", ""),
    ratio(Figure::FloodedHalf, "dialog inside 200,000 messages/s, p50", "µs", "≤ 2.5 ×"),
    ratio(Figure::FloodedMost, "dialog inside 200,000 messages/s, p99", "µs", ""),
    plain(Figure::FloodedTail, "the same, as a multiple of its own p50", "×", "≤ 10 ×"),
    ratio(Figure::ChurnFew, "frame event, 1,000 live frames", "ns", ""),
    ratio(Figure::ChurnMany, "frame event, 10,000 live frames", "ns", "≤ 6 ×"),
    plain(Figure::ChurnGrowth, "the same, as a multiple of that among 1,000", "×", "≤ 1.3 ×"),
    plain(Figure::TaskIdle, "memory a task, idle", "kB", "≤ 40 kB"),
    plain(Figure::TaskWhole, "memory of the process, divided by the tasks", "kB", ""),
    plain(Figure::TaskWithFrames, "memory a task, 50 frames each", "kB", ""),
    ratio(Figure::AllAnswered, "all tasks start, then a dialog on each is answered", "ms", "≤ 3 ×"),
    plain(Figure::AllStopped, "all tasks stopped", "ms", "≤ 1,000 ms"),
    plain(Figure::SnapshotHalf, "snapshot read while events flood in, p50", "ns", "≤ 50 ns"),
    plain(Figure::SnapshotLongest, "the same, the slowest thousand in a row, each", "ns", ""),
    plain(Figure::ReplayMessages, "replay of a flood, million messages/s and core", "", "≥ 1"),
    plain(Figure::ReplayEvents, "replay of frames, million events/s and core", "", "≥ 1"),
];
