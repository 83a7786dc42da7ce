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
    /// Run the whole actor tree, on paused time and over sockets in memory. Steps are then things that happen, not inputs.
    #[arg(long)]
    actors: bool,
}

/// Builds the simulator with optimisation and runs it. It tells its progress, and of a failure the seed, the rule that was
/// broken, and where its recording is.
///
/// # Errors
/// When a rule was broken.
pub(crate) fn run(args: &Args) -> Result<()> {
    if args.actors { run_actors(args) } else { run_machine(args) }
}

fn run_actors(args: &Args) -> Result<()> {
    let mut cargo =
        shell::cargo(&["test", "--quiet", "--release", "-p", "supervisor", "--test", "simulated"]);
    cargo.args(["--", "--nocapture"]);
    // What is simulated is the same, and it is there sooner.
    cargo.env("CARGO_PROFILE_RELEASE_LTO", "off").env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    let settings = [("SEEDS", args.seeds), ("FROM", args.from), ("STEPS", args.steps)];
    for (name, number) in settings {
        cargo.env(format!("CDP_SIMULATE_{name}"), number.to_string());
    }
    shell::run(&mut cargo)
}

fn run_machine(args: &Args) -> Result<()> {
    let (seeds, from, steps) = (args.seeds.to_string(), args.from.to_string(), args.steps.to_string());
    let mut words = vec!["run", "--quiet", "--release", "-p", "simulator", "--example", "simulate", "--"];
    words.extend(["--seeds", &seeds, "--from", &from, "--steps", &steps]);
    words.extend(args.all.then_some("--all"));
    shell::run(&mut shell::cargo(&words))
}
