//! The `cdp-supervisor` command.

mod args;
mod bench_client;
mod demo;
mod error;
mod escape;
mod exit;
mod logging;
mod mcp;
mod replay;
mod screen;
mod signals;
mod teller;
mod watch;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use error::CliError;
use exit::Exit;

fn main() -> ExitCode {
    let cli = Cli::parse();
    logging::start(&cli.logging, cli.command.usual_log_level());
    match run(cli.command) {
        Ok(exit) => exit.into(),
        Err(error) => error.report().into(),
    }
}

fn run(command: Command) -> Result<Exit, CliError> {
    match command {
        Command::Demo(args) => asynchronous(demo::run(args)),
        Command::Watch(args) => asynchronous(watch::run(args)),
        Command::Mcp(args) => asynchronous(mcp::run(args)),
        Command::Replay(args) => replay::run(&args),
        Command::BenchClient(args) => asynchronous(bench_client::run(args)),
    }
}

/// Does not wait for what still blocks a thread, such as a write to a pipe that nobody reads: all that has to be cleaned
/// up is by then.
fn asynchronous(command: impl Future<Output = Result<Exit, CliError>>) -> Result<Exit, CliError> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(CliError::Runtime)?;
    let ended = runtime.block_on(command);
    runtime.shutdown_background();
    ended
}
