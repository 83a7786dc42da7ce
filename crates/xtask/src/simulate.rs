//! `cargo xtask simulate`: seeds of the simulator, optimised.

use anyhow::Result;

use crate::shell;

#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many seeds.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Inputs of the machine in each run, before everything is settled.
    #[arg(long, default_value_t = 1_000)]
    steps: u64,
    /// Go on after a failure.
    #[arg(long)]
    all: bool,
}

/// Builds the simulator with optimisation and runs it. It tells its progress, and of a failure the seed, the rule that was
/// broken, and where its recording is.
///
/// # Errors
/// When a rule was broken.
pub(crate) fn run(args: &Args) -> Result<()> {
    let (seeds, from, steps) = (args.seeds.to_string(), args.from.to_string(), args.steps.to_string());
    let mut words = vec!["run", "--quiet", "--release", "-p", "simulator", "--example", "simulate", "--"];
    words.extend(["--seeds", &seeds, "--from", &from, "--steps", &steps]);
    words.extend(args.all.then_some("--all"));
    shell::run(&mut shell::cargo(&words))
}
