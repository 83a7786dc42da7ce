//! `docs/scenarios.md` names a test for every scenario, and every test that it names exists.

use std::path::{Path, PathBuf};

const TABLE: &str = include_str!("../../docs/scenarios.md");

/// So many scenarios there are.
const SCENARIOS: u32 = 109;

/// A row: what it is called, and its tests.
fn rows() -> Vec<(&'static str, Vec<&'static str>)> {
    let cells = TABLE.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let rows = cells.filter_map(|row| Some((row.split(" | ").next()?, row.rsplit(" | ").next()?)));
    let named = rows.filter(|(_, tests)| tests.starts_with('`'));
    named
        .map(|(name, tests)| (name, tests.split(", ").map(|test| test.trim_matches('`')).collect()))
        .collect()
}

/// The file that a test stands in, and its function.
fn place(test: &str) -> (PathBuf, &str) {
    let (module, function) = test.rsplit_once("::").unwrap_or_else(|| panic!("{test} has no module"));
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let folder = match module.split_once("::") {
        Some((first, rest)) if repository.join("crates").join(first).is_dir() => {
            (repository.join("crates").join(first).join("tests/it"), rest)
        }
        _ => (repository.join("tests/it"), module),
    };
    let file = Path::new(&folder.1.replace("::", "/")).with_extension("rs");
    // A crate may have further sets of tests beside `it`.
    let beside = folder.0.with_file_name("").join(&file);
    let file = folder.0.join(file);
    (if file.exists() { file } else { beside }, function)
}

fn is_a_test(source: &str, function: &str) -> bool {
    let Some((before, _)) = source.split_once(&format!("fn {function}(")) else { return false };
    let attributes = before.rsplit("\n\n").next().unwrap_or_default();
    attributes.contains("#[test]") || attributes.contains("#[tokio::test")
}

#[test]
fn every_scenario_has_a_row_in_its_order() {
    let numbers: Vec<u32> = rows().iter().filter_map(|(name, _)| name.parse().ok()).collect();
    assert_eq!(numbers, (1..=SCENARIOS).collect::<Vec<_>>());
}

#[test]
fn every_test_that_is_named_exists() {
    for (name, tests) in rows() {
        for test in tests {
            let (file, function) = place(test);
            let source = std::fs::read_to_string(&file)
                .unwrap_or_else(|error| panic!("{name}: {}: {error}", file.display()));
            assert!(is_a_test(&source, function), "{name}: {} has no test {function}", file.display());
        }
    }
}

/// `s061_…` and `s022_to_s024_…`: the numbers in a test's name say which rows must name it.
#[test]
fn every_test_that_is_named_after_a_scenario_is_in_its_row() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("it/browser");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let module = path.file_stem().unwrap().to_string_lossy().into_owned();
        let source = std::fs::read_to_string(&path).unwrap();
        for function in source.split("async fn ").skip(1).filter_map(|it| it.split('(').next()) {
            for number in numbers_of(function) {
                seen += 1;
                let is_named = rows().iter().any(|(row, tests)| {
                    *row == number.to_string()
                        && tests.contains(&format!("browser::{module}::{function}").as_str())
                });
                assert!(is_named, "row {number} does not name browser::{module}::{function}");
            }
        }
    }
    assert!(seen >= 100, "only {seen} names with numbers were found");
}

fn numbers_of(function: &str) -> Vec<u32> {
    let number = |word: &str| word.strip_prefix('s').filter(|it| it.len() == 3)?.parse::<u32>().ok();
    let words: Vec<&str> = function.split('_').collect();
    let named: Vec<u32> =
        words.iter().map_while(|word| number(word).or((*word == "to").then_some(0))).collect();
    match named[..] {
        [first, 0, last] => (first..=last).collect(),
        _ => named.into_iter().filter(|number| *number > 0).collect(),
    }
}

#[test]
fn numbers_are_read_from_names() {
    assert_eq!(numbers_of("s022_to_s024_a_dialog"), [22, 23, 24]);
    assert_eq!(numbers_of("s003_s010_a_confirm"), [3, 10]);
    assert_eq!(numbers_of("stage"), [] as [u32; 0]);
    assert_eq!(numbers_of("to_be"), [] as [u32; 0]);
}
