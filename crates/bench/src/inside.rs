//! What only a host can measure: `bench-inside` does, and says it in one line.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use bench::load::{PIECE, flood};
use tokio::process::Command;

use crate::contender::Contender;
use crate::measure::attach;

/// Reads are sampled for at least as long.
const LEAST: Duration = Duration::from_secs(2);

/// Nanoseconds of one read of the snapshot while a page floods: half of all took no longer, and the longest.
pub(crate) async fn snapshot(built: &Path, messages: usize) -> Result<[f64; 2]> {
    let mut pair = attach(&Contender::inside(built)).await?;
    let (piece, begin) = (flood(), Instant::now());
    let mut written = 0;
    while written < messages || begin.elapsed() < LEAST {
        pair.connection.write(&piece.bytes).await?;
        written += PIECE;
    }
    pair.connection.dialog(0).await?;
    pair.connection.hang_up().await;
    figures(&pair.running.last_words().await?)
}

/// What is replayed in a second of one processor: messages of a flood, events of frames.
pub(crate) async fn replay(built: &Path) -> Result<[f64; 2]> {
    let mut command = Command::new(built.join("bench-inside"));
    command.arg("replay").stdin(Stdio::null()).stderr(Stdio::inherit());
    let output = command.output().await.context("cannot start bench-inside")?;
    if !output.status.success() {
        bail!("bench-inside failed ({})", output.status);
    }
    figures(&String::from_utf8(output.stdout)?)
}

fn figures(line: &str) -> Result<[f64; 2]> {
    let (first, second) = line.trim().split_once(' ').with_context(|| format!("it said {line:?}"))?;
    Ok([first.parse()?, second.parse()?])
}
