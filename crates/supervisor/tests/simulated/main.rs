//! The whole actor tree on paused time, against the browser model, over sockets in memory. Everything that waits, waits for
//! this clock, so a run of minutes takes no time, and a seed is a run that can be had again.
//!
//! `cargo xtask simulate --actors` runs many seeds; then these are read from the environment.
#![cfg(test)]

mod host;
mod network;
mod run;
mod stops;

use std::path::PathBuf;

/// Enough for every kind of fault; more is another command's work.
const SEEDS: u64 = 20;

const OPS: u64 = 120;

#[test]
fn seeds_break_no_rule() {
    let from = setting("CDP_SIMULATE_FROM", 1);
    let (seeds, ops) = (setting("CDP_SIMULATE_SEEDS", SEEDS), setting("CDP_SIMULATE_STEPS", OPS));
    let mut failures = 0;
    let mut total = run::Report::default();
    for seed in from..from + seeds {
        let folder = tempfile::tempdir().unwrap();
        match run::seed(seed, ops, &folder.path().join("recording")) {
            Ok(report) => total.add(&report),
            Err(found) => {
                failures += 1;
                println!("seed {seed}: {found}\n  recording: {}", kept(seed, folder).display());
            }
        }
        if seed % 100 == 0 {
            println!("seed {seed}: {total:?}");
        }
    }
    println!("{seeds} seeds, {failures} failures; {total:?}");
    assert_eq!(failures, 0);
    assert!(total.answered > seeds && total.inputs > 20 * seeds / 2, "too little happened: {total:?}");
}

/// The recording of a run that failed, where it stays.
fn kept(seed: u64, folder: tempfile::TempDir) -> PathBuf {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("actors-{seed}.cdp.jsonl"));
    let _ = std::fs::copy(folder.path().join("recording"), &target);
    target
}

fn setting(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}
