//! `cargo xtask fuzz`: the fuzz targets, each for a while, beginning with what is in the recordings.

use std::path::Path;

use anyhow::{Context, Result, bail};
use simulator::targets::{TARGETS, seeds};

use crate::shell;

/// Folders with recordings and transcripts.
const RECORDINGS: [&str; 2] = ["fixtures/transcripts", "fixtures/foreign"];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The targets; all when none is named.
    targets: Vec<String>,
    /// How long each is fuzzed, in seconds.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Only write what they begin with, to `fuzz/corpus`.
    #[arg(long)]
    corpus_only: bool,
}

/// Writes the seeds, then runs cargo-fuzz, which needs a nightly compiler.
///
/// # Errors
/// When there is no such target, cargo-fuzz is not there, or a target failed: then its input is in `fuzz/artifacts`.
pub(crate) fn run(args: &Args) -> Result<()> {
    let is_target = |name: &String| TARGETS.iter().any(|(known, _)| known == name);
    if let Some(unknown) = args.targets.iter().find(|name| !is_target(name)) {
        bail!("there is no target {unknown}; expected {}", TARGETS.map(|(name, _)| name).join(", "));
    }
    println!("{} seeds in fuzz/corpus", write_corpus()?);
    if args.corpus_only {
        return Ok(());
    }
    let is_wanted = |name: &str| args.targets.is_empty() || args.targets.iter().any(|wanted| wanted == name);
    for (name, _) in TARGETS.into_iter().filter(|(name, _)| is_wanted(name)) {
        fuzz(name, args.seconds)
            .context("is cargo-fuzz installed, and a nightly compiler? See docs/fuzzing.md")?;
    }
    Ok(())
}

/// Each file is named after its bytes, as libFuzzer does it: what is there already stays one file.
fn write_corpus() -> Result<usize> {
    let mut count = 0;
    for folder in RECORDINGS {
        for file in std::fs::read_dir(shell::root().join(folder))? {
            let path = file?.path();
            if path.extension().is_none_or(|ext| ext != "jsonl") {
                continue;
            }
            for seed in seeds(&std::fs::read(&path)?) {
                write_seed(seed.target, &seed.bytes)?;
                count += 1;
            }
        }
    }
    Ok(count)
}

fn write_seed(target: &str, bytes: &[u8]) -> Result<()> {
    let folder = shell::root().join("fuzz/corpus").join(target);
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join(format!("seed-{:016x}", fingerprint(bytes))), bytes)?)
}

/// FNV-1a: enough to tell seeds apart.
fn fingerprint(bytes: &[u8]) -> u64 {
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01B3);
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, step)
}

fn fuzz(target: &str, seconds: u64) -> Result<()> {
    let mut cargo = std::process::Command::new("cargo");
    cargo.args(["+nightly", "fuzz", "run", "--sanitizer", "none", target, "--"]);
    cargo.args([format!("-max_total_time={seconds}"), "-print_final_stats=1".to_owned()]);
    // What runs this is a stable cargo, which must not stand in the way of the other.
    for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "RUSTDOC"] {
        cargo.env_remove(name);
    }
    shell::run(cargo.current_dir(Path::new(&shell::root())))
}
