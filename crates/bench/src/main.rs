//! `bench`: measures the supervisor beside its peers and the physical floor, in one run, and prints the ratios.

mod contender;
mod figure;
mod inside;
mod measure;
mod report;
mod run;
mod series;
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
    /// Less of everything.
    #[arg(long)]
    quick: bool,
    /// How often we and the floor are measured; the figures are medians. Peers are measured in the first round.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Only these workloads: flood, idle, loaded, churn, crowd, inside.
    #[arg(long, value_delimiter = ',')]
    only: Vec<String>,
    /// Also how the figures grow with tasks, frames and messages.
    #[arg(long)]
    series: bool,
    /// Run us under this program and its arguments, such as a profiler; its words are separated by spaces.
    #[arg(long, default_value = "", allow_hyphen_values = true)]
    under: String,
    /// Only these contenders, and the floor.
    #[arg(long, value_delimiter = ',')]
    with: Vec<String>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let contenders = run::contenders(&args);
    print!("{}", report::table(&run::run(&args, &contenders).await?));
    if args.series {
        print!("{}", series::tables(&contenders, run::scale(&args)).await?);
    }
    Ok(())
}
