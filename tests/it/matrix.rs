//! `docs/matrix.md` has a row for each module of browser tests.

use std::collections::BTreeSet;

const MATRIX: &str = include_str!("../../docs/matrix.md");
const MODULES: &str = include_str!("browser/mod.rs");

fn rows() -> BTreeSet<&'static str> {
    MATRIX.lines().filter_map(|line| line.strip_prefix("| `")?.split_once("` |")).map(|row| row.0).collect()
}

#[test]
fn each_module_of_browser_tests_has_its_row() {
    let modules = MODULES.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
    let modules: BTreeSet<&str> = modules.collect();
    assert!(modules.len() > 30, "{modules:?}");
    let missing: Vec<_> = modules.difference(&rows()).copied().collect();
    assert!(missing.is_empty(), "no row: run `cargo xtask matrix`, which writes the table anew: {missing:?}");
}
