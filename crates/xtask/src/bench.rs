//! `cargo xtask bench`: builds the supervisor, the floor and the peers, measures them in one run, and writes the tables
//! into `docs/performance.md`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::shell;

/// What is written by hand stands around the tables.
const DOCUMENT: &str = "docs/performance.md";
const BEGIN: &str = "<!-- cargo xtask bench writes from here -->";
const END: &str = "<!-- to here -->";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Less of everything.
    #[arg(long)]
    quick: bool,
    /// How often we and the floor are measured in one run; the figures are medians. Peers are measured in the first round of
    /// the first run.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// How many runs, one table each.
    #[arg(long, default_value_t = 1)]
    runs: usize,
    /// Only these workloads: flood, idle, loaded, churn, crowd, inside. Nothing is written then.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only these contenders, and the floor. Nothing is written then.
    #[arg(long, value_delimiter = ',')]
    with: Vec<String>,
    /// Without chromiumoxide, puppeteer-core and playwright-core, which have to be fetched. Nothing is written then.
    #[arg(long)]
    no_peers: bool,
    /// Without the tables of how the figures grow, which take minutes.
    #[arg(long)]
    no_series: bool,
}

/// Prints the tables; writes them where nothing was left out.
///
/// # Errors
/// When something cannot be built or fetched, or when we or the floor fail a workload.
pub(crate) fn run(args: &Args) -> Result<()> {
    build()?;
    let peers = if args.no_peers { None } else { Some(peers()?) };
    let mut report = String::new();
    for run in 1..=args.runs {
        let series = !args.no_series && run == args.runs;
        report.push_str(&measure(args, peers.as_deref().filter(|_| run == 1), (run, series))?);
    }
    print!("{report}");
    if args.only.is_empty() && args.with.is_empty() && !args.no_peers {
        write(&report)?;
        println!("written to {DOCUMENT}");
    }
    Ok(())
}

fn build() -> Result<()> {
    shell::run(&mut shell::cargo(&["build", "--release", "-p", "supervisor-cli", "-p", "bench"]))
}

/// Builds and fetches the peers into a folder of their own. None of them is a dependency of the workspace.
fn peers() -> Result<PathBuf> {
    let (from, to) = (shell::root().join("crates/bench/peers"), shell::root().join("target/bench/peers"));
    std::fs::create_dir_all(&to)?;
    let target = shell::root().join("target/bench/chromiumoxide");
    let mut cargo = shell::cargo(&["build", "--release", "--locked", "--manifest-path"]);
    cargo.arg(from.join("chromiumoxide/Cargo.toml")).arg("--target-dir").arg(&target);
    shell::run(&mut cargo)?;
    std::fs::copy(target.join("release/bench-chromiumoxide"), to.join("bench-chromiumoxide"))?;
    for script in std::fs::read_dir(from.join("node"))? {
        let script = script?;
        std::fs::copy(script.path(), to.join(script.file_name()))?;
    }
    shell::run(Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(&to))?;
    Ok(to)
}

fn measure(args: &Args, peers: Option<&Path>, (run, series): (usize, bool)) -> Result<String> {
    let root = shell::root();
    let mut bench = Command::new(root.join("target/release/bench"));
    bench.arg("--built").arg(root.join("target/release")).args(["--rounds", &args.rounds.to_string()]);
    bench.args(args.quick.then_some("--quick")).args(series.then_some("--series"));
    for (name, values) in [("--only", &args.only), ("--with", &args.with)] {
        bench.args((!values.is_empty()).then(|| format!("{name}={}", values.join(","))));
    }
    if let Some(peers) = peers {
        bench.arg("--peers").arg(peers);
    }
    let before = load();
    let tables = shell::output(bench.stderr(std::process::Stdio::inherit()))?;
    let (rounds, size) = (args.rounds, if args.quick { ", shorter workloads" } else { "" });
    Ok(format!(
        "Run {run}: {} processors, load {before} before and {} after, {rounds} rounds{size}.\n\n{tables}\n",
        std::thread::available_parallelism().map_or(0, usize::from),
        load(),
    ))
}

/// What else the machine did: the load of the last minute, where the system tells it.
fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned()
}

fn write(report: &str) -> Result<()> {
    let path = shell::root().join(DOCUMENT);
    let document = std::fs::read_to_string(&path)?;
    let document = replaced(&document, report).with_context(|| format!("{DOCUMENT} has no place for it"))?;
    Ok(std::fs::write(path, document)?)
}

fn replaced(document: &str, report: &str) -> Option<String> {
    let (before, rest) = document.split_once(BEGIN)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{BEGIN}\n\n{}\n\n{END}{after}", report.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_marks_is_replaced() {
        let document = format!("a\n{BEGIN}\nold\n{END}\nb\n");
        let once = replaced(&document, "| new |\n").unwrap();
        assert_eq!(once, format!("a\n{BEGIN}\n\n| new |\n\n{END}\nb\n"));
        assert_eq!(replaced(&once, "| new |\n").unwrap(), once);
        assert_eq!(replaced("no marks", ""), None);
        let kept = std::fs::read_to_string(shell::root().join(DOCUMENT)).unwrap();
        assert!(replaced(&kept, "").is_some(), "{DOCUMENT}");
    }
}
