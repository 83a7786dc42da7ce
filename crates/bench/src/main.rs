//! `bench`: measures the supervisor beside its peers and the physical floor, in one run, and prints the ratios.

mod contender;
mod measure;
mod report;
mod run;
mod server;

use std::path::PathBuf;

use anyhow::Result;
use clap::Parser;

/// Measures the supervisor beside its peers. `cargo xtask bench` builds what it needs.
#[derive(Parser)]
pub(crate) struct Args {
    /// The folder of the built programs.
    #[arg(long, default_value = "target/release")]
    built: PathBuf,
    /// The folder of the peers; without it only the floor and we are measured.
    #[arg(long)]
    peers: Option<PathBuf>,
    /// Less of everything, once.
    #[arg(long)]
    quick: bool,
    /// How often each contender is measured; the figures are medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only these workloads: flood, idle, loaded, churn, crowd.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Only these contenders, and the floor.
    #[arg(long, value_delimiter = ',')]
    with: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let results = run::run(&Args::parse()).await?;
    print!("{}", report::table(&results));
    Ok(())
}
