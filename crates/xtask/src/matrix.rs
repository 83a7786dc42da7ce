//! `cargo xtask matrix`: the browser tests on every kind of browser that is supported, and what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use integration_tests::NOT_RUN;

use crate::test::BROWSER_TESTS;
use crate::{browser, old_shells, shell};

/// Where the result goes.
const REPORT: &str = "docs/matrix.md";

/// What is written above and below the table: how to read it, and why browsers differ.
const HEAD: &str = include_str!("matrix/head.md");
const DIFFERENCES: &str = include_str!("matrix/differences.md");

/// Installed browsers, by name.
const INSTALLED: [&str; 2] = ["chromium", browser::HEADLESS_SHELL];

/// Major versions of older headless shells: one that names no frame's parent and no dialog's frame, one from the middle,
/// and one from before navigations were told when they start.
const OLDER: [u32; 3] = [138, 123, 111];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Run only these: a browser's name, or the major version of an older shell. The report is not written then.
    only: Vec<String>,
}

/// Runs the browser tests on each browser and writes `docs/matrix.md`.
///
/// # Errors
/// When a browser cannot be had, or a test failed on one of them.
pub(crate) fn run(args: &Args) -> Result<()> {
    browser::ensure()?;
    shell::run(&mut test_run(&["--no-run"]))?;
    let mut columns = Vec::new();
    for wanted in wanted(args) {
        let column = column(&wanted)?;
        print!("{}", report_of(std::slice::from_ref(&column)));
        columns.push(column);
    }
    if args.only.is_empty() {
        fs::write(shell::root().join(REPORT), report(&columns)).context("writing the report")?;
        println!("written: {REPORT}");
    }
    let failed: usize = columns.iter().map(|column| column.failures().count()).sum();
    if failed > 0 {
        bail!("{failed} failures");
    }
    Ok(())
}

fn wanted(args: &Args) -> Vec<String> {
    let all = INSTALLED.map(str::to_owned).into_iter().chain(OLDER.map(|major| major.to_string()));
    all.filter(|name| args.only.is_empty() || args.only.contains(name)).collect()
}

/// The tests of one browser.
struct Column {
    /// What it is, and its version.
    title: String,
    /// By name.
    tests: BTreeMap<String, Outcome>,
}

/// What became of a test.
#[derive(Debug, Clone, PartialEq)]
enum Outcome {
    Passed,
    Failed,
    /// It cannot be run on this browser; why.
    NotRun(String),
}

impl Column {
    fn failures(&self) -> impl Iterator<Item = &str> {
        self.tests.iter().filter(|(_, outcome)| **outcome == Outcome::Failed).map(|(name, _)| name.as_str())
    }

    /// The tests that were not run, by their reasons.
    fn left_out(&self) -> BTreeMap<&str, Vec<&str>> {
        let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (name, outcome) in &self.tests {
            if let Outcome::NotRun(reason) = outcome {
                reasons.entry(reason).or_default().push(name);
            }
        }
        reasons
    }

    /// How many of a module's tests passed; if that is not all of them, what became of the others.
    fn cell(&self, module: &str) -> String {
        let tests = self.tests.iter().filter(|(name, _)| module_of(name) == module);
        let outcomes: Vec<_> = tests.map(|(_, outcome)| outcome).collect();
        let not_run = outcomes.iter().filter(|it| matches!(it, Outcome::NotRun(_))).count();
        let passed = outcomes.iter().filter(|it| ***it == Outcome::Passed).count();
        let ran = outcomes.len() - not_run;
        let mut cell = if passed == ran { passed.to_string() } else { format!("**{passed} of {ran}**") };
        if not_run > 0 {
            let _ = write!(cell, ", {not_run} not run");
        }
        cell
    }
}

fn column(name: &str) -> Result<Column> {
    let program = match name.parse() {
        Ok(major) => old_shells::get(major)?.to_string_lossy().into_owned(),
        Err(_) => name.to_owned(),
    };
    let found = chromium_launcher::find_named(&program)?;
    println!("== {}", found.version);
    let mut command =
        test_run(&["--no-fail-fast", "--", BROWSER_TESTS, "--show-output", "--test-threads", "2"]);
    command.env("CDP_SUPERVISOR_BROWSER", &program).env("RUST_BACKTRACE", "0");
    let output = command.stderr(Stdio::inherit()).output().context("cannot start cargo test")?;
    let output = String::from_utf8_lossy(&output.stdout);
    let tests = outcomes(&output);
    if tests.is_empty() || tests.values().any(|outcome| *outcome == Outcome::Failed) {
        println!("{output}");
    }
    if tests.is_empty() {
        bail!("no test ran on {}", found.version);
    }
    Ok(Column { title: title(&program, &found.version), tests })
}

fn test_run(arguments: &[&str]) -> Command {
    let mut command = shell::cargo(&["test", "-p", "integration-tests", "--test", "it"]);
    command.args(arguments);
    command
}

/// `test browser::crash::it_crashes ... ok`, a line each; what is ignored counts for nothing.
fn outcomes(output: &str) -> BTreeMap<String, Outcome> {
    let named = output.lines().filter_map(|line| line.strip_prefix("test ")?.split_once(" ... "));
    let ran = named.filter(|(name, outcome)| name.contains(BROWSER_TESTS) && !outcome.starts_with("ignored"));
    let told = |outcome: &str| if outcome.trim() == "ok" { Outcome::Passed } else { Outcome::Failed };
    let mut tests: BTreeMap<String, Outcome> =
        ran.map(|(name, outcome)| (short(name), told(outcome))).collect();
    for (name, reason) in left_out(output) {
        if let Some(outcome) = tests.get_mut(&short(name)).filter(|outcome| **outcome == Outcome::Passed) {
            *outcome = Outcome::NotRun(reason.to_owned());
        }
    }
    tests
}

/// What tests printed that passed: who says there that it was not run, and why.
fn left_out(output: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut speaks = None;
    output.lines().filter_map(move |line| {
        if let Some(name) = line.strip_prefix("---- ").and_then(|line| line.strip_suffix(" stdout ----")) {
            speaks = Some(name);
        }
        Some((speaks?, line.strip_prefix(NOT_RUN)?))
    })
}

fn short(test: &str) -> String {
    test.replace(BROWSER_TESTS, "")
}

fn module_of(test: &str) -> &str {
    test.rsplit_once("::").map_or("", |(module, _)| module)
}

/// A headless shell calls itself a Chromium, or `HeadlessChrome`.
fn title(program: &str, version: &str) -> String {
    let kind = if program.contains("headless-shell") { "headless shell" } else { "Chromium" };
    let number = version.split(' ').find(|word| word.starts_with(|c: char| c.is_ascii_digit()));
    format!("{kind} {}", number.unwrap_or(version))
}

fn table(columns: &[Column]) -> String {
    let names = columns.iter().flat_map(|column| column.tests.keys());
    let modules: BTreeSet<&str> = names.map(|name| module_of(name)).collect();
    let mut text = String::from("| tests |");
    let cells = |cells: &mut dyn Iterator<Item = String>| {
        cells.fold(String::new(), |row, cell| row + " " + &cell + " |")
    };
    text += &cells(&mut columns.iter().map(|column| column.title.clone()));
    text += "\n|---|";
    text += &"---:|".repeat(columns.len());
    for module in modules {
        let row = cells(&mut columns.iter().map(|column| column.cell(module)));
        let _ = write!(text, "\n| `{module}` |{row}");
    }
    text + "\n"
}

fn report(columns: &[Column]) -> String {
    format!("{HEAD}\n{}\n{DIFFERENCES}", report_of(columns))
}

/// The table, and below it what failed and what was not run.
fn report_of(columns: &[Column]) -> String {
    let mut text = table(columns);
    for column in columns {
        for failure in column.failures() {
            let _ = write!(text, "\n* {} fails `{failure}`", column.title);
        }
        for (reason, tests) in column.left_out() {
            let tests: Vec<String> = tests.iter().map(|test| format!("`{test}`")).collect();
            let _ = write!(text, "\n* {} does not run {}: {reason}", column.title, tests.join(", "));
        }
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\nrunning 3 tests\ntest browser::crash::one ... ok\ntest browser::crash::two ... FAILED\n\
        test browser::popup::three ... ok\ntest purity::four ... ok\n\
        test popup::browser::five ... ignored\ntest browser::popup::six ... ok\n\nsuccesses:\n\n\
        ---- browser::crash::one stdout ----\na word\n\n---- browser::popup::six stdout ----\nnot run: it is too old\n\n\
        test result: FAILED. 4 passed; 1 failed;";

    #[test]
    fn each_browser_test_counts_for_its_module() {
        let column = Column {
            title: title("chromium", "Chromium 156.0.1 built on a system 12"),
            tests: outcomes(OUTPUT),
        };
        assert_eq!([column.cell("crash"), column.cell("popup")], ["**1 of 2**", "1, 1 not run"]);
        assert_eq!(column.failures().collect::<Vec<_>>(), ["crash::two"]);
        let expected = "| tests | Chromium 156.0.1 |\n|---|---:|\n| `crash` | **1 of 2** |\n| `popup` | 1, 1 not run |\n";
        assert_eq!(table(&[column]), expected);
    }

    #[test]
    fn the_report_names_each_failure_and_what_was_not_run() {
        let column =
            Column { title: title("chromium-headless-shell-1", "HeadlessChrome 1"), tests: outcomes(OUTPUT) };
        let report = report(&[column]);
        assert!(report.contains("* headless shell 1 fails `crash::two`\n"));
        assert!(report.contains("* headless shell 1 does not run `popup::six`: it is too old\n"));
    }
}
