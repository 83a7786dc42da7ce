//! `cargo xtask ci`

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};

use crate::{shell, test, tidy};

/// How one step ended.
enum Outcome {
    Ok,
    Failed,
    /// It could not be tried; it is not counted as passed.
    NotChecked(&'static str),
}

struct Step {
    name: &'static str,
    run: fn() -> Result<Outcome>,
}

/// Cheap steps first. Each runs whatever the others said, so that one run tells all.
const STEPS: [Step; 7] = [
    Step { name: "format", run: format },
    Step { name: "tidy", run: || tidy::run().map(ok) },
    Step { name: "clippy", run: clippy },
    Step { name: "test", run: || test::run(&test::Args::default()).map(ok) },
    Step { name: "doc", run: doc },
    Step { name: "dependencies", run: dependencies },
    Step { name: "advisories", run: advisories },
];

/// Runs every step and prints a table of them.
///
/// # Errors
/// When a step failed.
pub(crate) fn run() -> Result<()> {
    let rows: Vec<Row> = STEPS.iter().map(timed).collect();
    println!("\n== summary");
    rows.iter().for_each(Row::print);
    let failed: Vec<&str> =
        rows.iter().filter(|row| matches!(row.outcome, Outcome::Failed)).map(|row| row.name).collect();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

struct Row {
    name: &'static str,
    outcome: Outcome,
    took: Duration,
}

impl Row {
    fn print(&self) {
        let outcome = match self.outcome {
            Outcome::Ok => "ok",
            Outcome::Failed => "FAILED",
            Outcome::NotChecked(_) => "not checked",
        };
        println!("{:<14}{:<13}{:>7.1} s", self.name, outcome, self.took.as_secs_f64());
    }
}

fn timed(step: &Step) -> Row {
    println!("\n== {}", step.name);
    let start = Instant::now();
    let outcome = (step.run)().unwrap_or_else(|error| {
        println!("{}: {error:#}", step.name);
        Outcome::Failed
    });
    if let Outcome::NotChecked(why) = outcome {
        println!("{}: NOT CHECKED ({why})", step.name);
    }
    let took = start.elapsed();
    println!("-- {}: {:.1} s", step.name, took.as_secs_f64());
    Row { name: step.name, outcome, took }
}

fn ok(_: ()) -> Outcome {
    Outcome::Ok
}

fn announced(command: &mut Command) -> Result<Outcome> {
    println!("{}", shell::shown(command));
    shell::run(command).map(ok)
}

fn format() -> Result<Outcome> {
    announced(&mut shell::cargo(&["fmt", "--all", "--check"]))
}

fn clippy() -> Result<Outcome> {
    let arguments = ["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"];
    announced(&mut shell::cargo(&arguments))
}

fn doc() -> Result<Outcome> {
    let mut command = shell::cargo(&["doc", "--no-deps", "--workspace", "--all-features"]);
    announced(command.env("RUSTDOCFLAGS", "-D warnings"))
}

fn dependencies() -> Result<Outcome> {
    announced(&mut shell::cargo(&["deny", "check", "bans", "licenses", "sources"]))
}

/// The advisories are only worth something when they are fresh, and not every network lets them through.
fn advisories() -> Result<Outcome> {
    if shell::output(&mut shell::cargo(&["deny", "--version"])).is_err() {
        bail!("cargo-deny is not installed");
    }
    if shell::output(&mut shell::cargo(&["deny", "fetch", "db"])).is_err() {
        return Ok(Outcome::NotChecked("database out of reach"));
    }
    announced(&mut shell::cargo(&["deny", "check", "advisories"]))
}
