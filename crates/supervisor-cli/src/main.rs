//! The `cdp-supervisor` command.

mod args;
mod bench_client;
mod browser;
mod client;
mod completions;
mod config;
mod demo;
mod doctor;
mod error;
mod escape;
mod exit;
mod journal;
mod logging;
mod man;
mod mcp;
mod probe;
mod record;
mod replay;
mod screen;
mod serve;
mod settings;
mod shrink;
mod signals;
mod socket;
mod source;
mod teller;
mod timeline;
mod watch;
mod when;
mod workers;

use std::process::ExitCode;

use clap::Parser as _;

use args::{Cli, Command};
use error::CliError;
use exit::Exit;
use settings::{Around, Loaded};

fn main() -> ExitCode {
    let ended = begin(Cli::parse());
    logging::finish();
    match ended {
        Ok(exit) => exit.into(),
        Err(error) => error.report().into(),
    }
}

fn begin(cli: Cli) -> Result<Exit, CliError> {
    let loaded = load(&cli)?;
    logging::start(&loaded, cli.command.usual_log_level(), cli.command.log_bound());
    run(cli.command, loaded)
}

fn load(cli: &Cli) -> Result<Loaded, CliError> {
    let flags: Vec<_> = std::iter::once(cli.log.layer()).chain(cli.command.settings()).collect();
    let around = Around::here();
    match settings::load(cli.config.as_deref(), flags.clone(), &around) {
        Ok(loaded) => Ok(loaded),
        Err(error) if !cli.command.needs_settings() => Ok(settings::without_layers(flags, &around, &error)),
        Err(error) => Err(error.into()),
    }
}

fn run(command: Command, loaded: Loaded) -> Result<Exit, CliError> {
    match command {
        Command::Demo(args) => asynchronous(demo::run(args)),
        Command::Watch(args) => asynchronous(watch::run(args, loaded)),
        Command::Mcp(args) => asynchronous(mcp::run(args, loaded)),
        Command::Serve(args) if args.detach => serve::detach::run(&args, &loaded),
        Command::Serve(args) => asynchronous(serve::run(args, loaded)),
        Command::Connect(args) => asynchronous(client::ask(args, loaded)),
        Command::Snapshot(args) => asynchronous(client::ask(args, loaded)),
        Command::Dialog(args) => asynchronous(client::ask(args, loaded)),
        Command::Recover(args) => asynchronous(client::ask(args, loaded)),
        Command::Cdp(args) => asynchronous(client::ask(args, loaded)),
        Command::Eval(args) => asynchronous(client::ask(args, loaded)),
        Command::Result(args) => asynchronous(client::ask(args, loaded)),
        Command::Console(args) => asynchronous(client::ask(args, loaded)),
        Command::Frames(args) => asynchronous(client::ask(args, loaded)),
        Command::Disconnect(args) => asynchronous(client::ask(args, loaded)),
        Command::Status(args) => asynchronous(client::status::run(args, loaded)),
        Command::Probe(args) => asynchronous(probe::run(args, loaded)),
        Command::Record(args) => asynchronous(record::run(args, loaded)),
        Command::Replay(args) => replay::run(&args),
        Command::Timeline(args) => timeline::run(&args),
        Command::Journal(args) => journal::run(&args, &loaded),
        Command::Config(args) => config::run(&args, &loaded),
        Command::Doctor(args) => asynchronous(doctor::run(args, loaded)),
        Command::Completions(args) => completions::run(&args),
        Command::Man(args) => man::run(&args),
        Command::BenchClient(args) => asynchronous(bench_client::run(args)),
    }
}

/// Does not wait for what still blocks a thread, such as a write to a pipe that nobody reads: all that has to be cleaned
/// up is by then.
fn asynchronous(command: impl Future<Output = Result<Exit, CliError>>) -> Result<Exit, CliError> {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(workers::number()?).enable_all();
    let runtime = builder.build().map_err(CliError::Runtime)?;
    let ended = runtime.block_on(command);
    runtime.shutdown_background();
    ended
}
