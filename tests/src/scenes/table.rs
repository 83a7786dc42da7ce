//! The table of the recordings in the docs.

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// What happens.
    pub what: String,
    /// The recordings that show it.
    pub recordings: Vec<String>,
}

/// The heading above the tables.
const HEADING: &str = "## The recordings of this repository";

/// The rows below that heading: the first cell, and the names in backticks in the last.
///
/// # Panics
/// When the heading is not there.
#[must_use]
pub fn table(docs: &str) -> Vec<Row> {
    let (_, below) = docs.split_once(HEADING).unwrap_or_else(|| panic!("no heading `{HEADING}`"));
    let section = below.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what "));
    rows.map(row).collect()
}

fn row(line: &str) -> Row {
    let cells: Vec<&str> =
        line.trim_matches('|').split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
    let names = cells.last().unwrap_or(&"").split('`').skip(1).step_by(2);
    Row { what: cells[0].to_owned(), recordings: names.map(str::to_owned).collect() }
}
