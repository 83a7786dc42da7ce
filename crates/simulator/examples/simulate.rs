//! Runs seeds of the simulator: `cargo xtask simulate` runs this, optimised.
// A program, unlike the crate: it looks at the clock and writes files.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use std::panic;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use simulator::{Failure, Report, Shrunk, play, simulate};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(2);

/// Runs that a failure is shrunk with at most.
const SHRINK_TRIES: u64 = 1_500;

/// The command line.
#[derive(Debug, Parser)]
struct Args {
    /// How many seeds.
    #[arg(long, default_value_t = 1_000)]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 1)]
    from: u64,
    /// Inputs of the machine in each run, before everything is settled.
    #[arg(long, default_value_t = 1_000)]
    steps: u64,
    /// Where a failure is written.
    #[arg(long, default_value = "target/simulator")]
    out: PathBuf,
    /// Goes on after a failure.
    #[arg(long)]
    all: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    // A broken rule is a panic that is caught; only what was found at the end is worth a line.
    panic::set_hook(Box::new(|_| {}));
    let mut total = Total::default();
    let (begun, mut told) = (Instant::now(), Instant::now());
    for seed in args.from..args.from.saturating_add(args.seeds) {
        match simulate(seed, args.steps) {
            Ok(report) => total.add(&report),
            Err(failure) => {
                total.failures += 1;
                tell(&failure, &args.out);
                if !args.all {
                    break;
                }
            }
        }
        if told.elapsed() >= TELL_EVERY {
            told = Instant::now();
            eprintln!("seed {seed}: {}", total.line(begun.elapsed()));
        }
    }
    println!("{}", total.line(begun.elapsed()));
    println!("{}", total.met());
    if total.failures > 0 { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

fn tell(failure: &Failure, out: &Path) {
    println!("{failure}");
    let Shrunk { failure: small, tries } = failure.shrunk(SHRINK_TRIES);
    let told = play(&small.plan, &small.ops, true).err().map(|failure| *failure).unwrap_or(small);
    let seed = told.plan.seed;
    let lines = told.recording.iter().filter(|byte| **byte == b'\n').count();
    println!("  shrunk in {tries} runs to {} ops, {lines} lines: {}", told.ops.len(), told.message);
    let story = format!("{told}\n\nplan: {:?}\n\nops: {:#?}\n\n{}\n", told.plan, told.ops, told.story);
    let recording = out.join(format!("seed-{seed}.cdp.jsonl"));
    let written = std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(&recording, &told.recording))
        .and_then(|()| std::fs::write(out.join(format!("seed-{seed}.txt")), story));
    match written {
        Ok(()) => println!("  recording: {}; what happened: seed-{seed}.txt beside it", recording.display()),
        Err(error) => println!("  it could not be written to {}: {error}", out.display()),
    }
}

/// What all runs met.
#[derive(Debug, Default)]
struct Total {
    seeds: u64,
    failures: u64,
    steps: u64,
    answered: u64,
    connections: u64,
    dialogs: u64,
    overlaps: u64,
    bridged: u64,
    swaps: u64,
    crashes: u64,
    popups: u64,
    restores: u64,
    guards: u64,
}

impl Total {
    fn add(&mut self, report: &Report) {
        self.seeds += 1;
        self.steps += report.steps;
        self.answered += report.answered;
        self.connections += u64::from(report.connections);
        self.dialogs += u64::from(report.tally.dialogs);
        self.overlaps += u64::from(report.tally.overlaps);
        self.bridged += u64::from(report.tally.bridged);
        self.guards += u64::from(report.guards);
        self.swaps += u64::from(report.tally.swaps);
        self.crashes += u64::from(report.tally.crashes);
        self.popups += u64::from(report.tally.popups);
        self.restores += u64::from(report.tally.restores);
    }

    fn line(&self, took: Duration) -> String {
        let Self { seeds, steps, failures, .. } = self;
        let rate = *steps as f64 / took.as_secs_f64().max(0.001);
        format!("{seeds} seeds and {steps} steps without a violation, {failures} failures; {rate:.0} steps/s")
    }

    fn met(&self) -> String {
        let Self { answered, connections, guards, dialogs, bridged, overlaps, .. } = self;
        let Self { swaps, crashes, popups, restores, .. } = self;
        format!(
            "met: {connections} connections and {guards} of guards, {answered} requests answered, {dialogs} dialogs and \
             {bridged} by the bridge, {overlaps} overlaps, \
             {swaps} process swaps, {crashes} renderer crashes, {popups} popups, {restores} cache restores"
        )
    }
}
