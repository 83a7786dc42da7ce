//! `cargo xtask test`

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

use crate::planted::Outputs;
use crate::{browser, drivers, shell};

/// Tests that need a Chromium stand in a module of this name, so that they can be left out and told by name.
pub(crate) const BROWSER_TESTS: &str = "browser::";

/// Tells a test that no browser may be started.
const NO_BROWSER: &str = "CDP_SUPERVISOR_NO_BROWSER";

/// Has what a test printed that passed come out too.
const SHOW_OUTPUT: &str = "--show-output";

/// Tells the tests which browser to run on.
const BROWSER: &str = "CDP_SUPERVISOR_BROWSER";

#[derive(Default, clap::Args)]
pub(crate) struct Args {
    /// Leave out the tests that need a Chromium, and say which. Refused in CI.
    #[arg(long)]
    no_browser: bool,
    /// Handed to `cargo test`, as in `cargo xtask test -- name_of_test -- --nocapture`.
    #[arg(last = true)]
    rest: Vec<String>,
}

/// Runs all tests, then those that need a browser once more, on the headless shell.
///
/// # Errors
/// When a test fails, or when the Chromium that they need is not to be had.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.no_browser && shell::in_ci() {
        bail!("--no-browser in CI: there each test must run");
    }
    let has_headless_shell = !args.no_browser && browser::ensure()?;
    if !args.no_browser {
        drivers::ensure()?;
    }
    let mut outputs = Outputs::begin()?;
    let mut totals = stream(&mut command(args), &mut outputs)?;
    if has_headless_shell && is_for_all(args) {
        totals.add_all(&stream(&mut on_headless_shell(), &mut outputs)?);
    }
    println!("\ntotal: {} passed, {} failed, {} skipped", totals.passed, totals.failed, totals.skipped);
    if args.no_browser {
        tell_what_was_left_out()?;
    }
    let clean = outputs.end()?;
    if !totals.succeeded {
        bail!("cargo test failed");
    }
    if !clean {
        bail!("a planted token came out: see above");
    }
    Ok(())
}

/// Whoever picks tests, or a browser, gets those and no second run.
fn is_for_all(args: &Args) -> bool {
    args.rest.is_empty() && std::env::var_os(BROWSER).is_none_or(|name| name.is_empty())
}

fn on_headless_shell() -> Command {
    let mut command = shell::cargo(&["test", "--all-features", "-p", "integration-tests", "--test", "it"]);
    command.args(["--", SHOW_OUTPUT, BROWSER_TESTS]).env(BROWSER, browser::HEADLESS_SHELL);
    command
}

fn command(args: &Args) -> Command {
    let mut command = shell::cargo(&["test", "--all-features"]);
    if !args.rest.iter().any(|word| word == "-p" || word == "--package") {
        command.arg("--workspace");
    }
    if shell::in_ci() {
        command.arg("--no-fail-fast").env("INSTA_UPDATE", "no");
    }
    command.args(&args.rest);
    let separator = (!args.rest.iter().any(|word| word == "--")).then_some("--");
    command.args(separator).arg(SHOW_OUTPUT);
    if args.no_browser {
        command.args(["--skip", BROWSER_TESTS]).env(NO_BROWSER, "1");
    }
    command
}

#[derive(Debug, Default, PartialEq)]
struct Totals {
    succeeded: bool,
    passed: u64,
    failed: u64,
    skipped: u64,
}

/// Runs `cargo test`, passing its lines on as they come and adding up its result lines. What tests printed that passed is
/// kept and not shown.
fn stream(command: &mut Command, outputs: &mut Outputs) -> Result<Totals> {
    println!("{}", shell::shown(command));
    outputs.catch(command);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(errors) = child.stderr.take() {
        let mut kept = outputs.stream("stderr")?;
        std::thread::spawn(move || {
            pass_on(errors, |line| kept.write_all(line).and_then(|()| io::stderr().write_all(line)))
        });
    }
    let mut totals = Totals::default();
    let mut of_passed = false;
    if let Some(lines) = child.stdout.take() {
        let mut kept = outputs.stream("stdout")?;
        pass_on(lines, |line| {
            kept.write_all(line)?;
            let text = String::from_utf8_lossy(line);
            of_passed = is_of_passed(of_passed, &text);
            totals.add(&text);
            if of_passed { Ok(()) } else { io::stdout().write_all(line) }
        })?;
    }
    totals.succeeded = child.wait()?.success();
    Ok(totals)
}

fn pass_on(from: impl io::Read, mut line_came: impl FnMut(&[u8]) -> io::Result<()>) -> io::Result<()> {
    for line in BufReader::new(from).split(b'\n') {
        line_came(&[&line?[..], b"\n"].concat())?;
    }
    Ok(())
}

/// Whether this line is within what tests printed that passed.
fn is_of_passed(before: bool, line: &str) -> bool {
    match line.trim_end() {
        "successes:" => true,
        "failures:" => false,
        line => before && !line.starts_with("test result: "),
    }
}

impl Totals {
    fn add_all(&mut self, other: &Totals) {
        self.succeeded &= other.succeeded;
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }

    /// Adds one `test result: ok. 3 passed; 0 failed; 1 ignored; …`; any other line adds nothing.
    fn add(&mut self, line: &str) {
        let Some(counts) = line.strip_prefix("test result: ") else { return };
        for part in counts.split(['.', ';']) {
            let mut words = part.split_whitespace();
            let (Some(Ok(count)), Some(what)) = (words.next().map(str::parse::<u64>), words.next()) else {
                continue;
            };
            match what {
                "passed" => self.passed += count,
                "failed" => self.failed += count,
                "ignored" | "filtered" => self.skipped += count,
                _ => {}
            }
        }
    }
}

fn tell_what_was_left_out() -> Result<()> {
    let mut list =
        shell::cargo(&["test", "--quiet", "--workspace", "--all-features", "--tests", "--", "--list"]);
    let output = shell::output(&mut list)?;
    let names: Vec<&str> = browser_tests(&output).collect();
    println!("\nNOT RUN, for want of a browser: {} tests", names.len());
    names.iter().for_each(|name| println!("  {name}"));
    Ok(())
}

fn browser_tests(list: &str) -> impl Iterator<Item = &str> {
    list.lines().filter_map(|line| line.strip_suffix(": test")).filter(|name| name.contains(BROWSER_TESTS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn result_lines_are_added_up() {
        let mut totals = Totals::default();
        totals.add(
            "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.05s",
        );
        totals.add("test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.00s");
        totals.add("test it::works ... ok");
        assert_eq!(totals, Totals { succeeded: false, passed: 7, failed: 2, skipped: 3 });
    }

    #[test]
    fn what_tests_printed_that_passed_is_not_shown() {
        let lines = [
            "test a ... ok",
            "successes:",
            "---- a stdout ----",
            "x",
            "successes:",
            "    a",
            "failures:",
            "y",
            "test result: FAILED.",
        ];
        let mut of_passed = false;
        let shown = lines.into_iter().filter(|line| {
            of_passed = is_of_passed(of_passed, line);
            !of_passed
        });
        assert_eq!(shown.collect::<Vec<_>>(), ["test a ... ok", "failures:", "y", "test result: FAILED."]);
    }

    #[test]
    fn the_tests_that_need_a_browser_are_told_by_their_module() {
        let list = "browser::dialogs::alert: test\nbrowser_model::orders: test\n\n2 tests, 0 benchmarks\n";
        assert_eq!(browser_tests(list).collect::<Vec<_>>(), ["browser::dialogs::alert"]);
    }

    #[test]
    fn a_failure_on_either_browser_is_a_failure() {
        let totals = |succeeded, passed, failed| Totals { succeeded, passed, failed, skipped: 1 };
        let mut both = totals(true, 3, 0);
        both.add_all(&totals(false, 1, 2));
        assert_eq!(both, Totals { succeeded: false, passed: 4, failed: 2, skipped: 2 });
    }

    #[test]
    fn picked_tests_run_once() {
        assert!(!is_for_all(&Args { no_browser: false, rest: vec!["one".to_owned()] }));
        assert!(shell::shown(&on_headless_shell()).ends_with("--test it -- --show-output browser::"));
    }

    #[test]
    fn without_a_browser_its_tests_are_skipped_by_name() {
        let args = |rest: &[&str]| Args {
            no_browser: true,
            rest: rest.iter().map(|word| word.to_string()).collect(),
        };
        assert!(shell::shown(&command(&args(&["one"]))).ends_with("one -- --show-output --skip browser::"));
        assert!(
            shell::shown(&command(&args(&["--", "--nocapture"])))
                .ends_with("-- --nocapture --show-output --skip browser::")
        );
    }
}
