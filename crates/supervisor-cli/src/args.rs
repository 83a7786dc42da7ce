//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::client::Question as _;
use crate::settings::{Flags, Layer, Level, LogKeys};
use crate::{
    bench_client, client, completions, config, demo, doctor, journal, man, mcp, probe, record, replay, serve,
    timeline, watch,
};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  refused or failed; standard error says what, why and what to do next
  2  the command line or the settings are wrong
  3  no browser was found, or no server
  128 + N  signal N ended `demo` or `probe`, after everything was stopped";

/// Keeps a browser task going: knows the open dialogs and the frames of a Chromium, answers, and never lets a call hang.
#[derive(Debug, Parser)]
#[command(name = "cdp-supervisor", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// The settings; without it config.yaml here, else in $XDG_CONFIG_HOME/cdp-supervisor
    #[arg(long, global = true, value_name = "FILE")]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) log: Flags<LogKeys>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the main job on a Chromium of its own, from the first alert to a frame three sites deep.
    Demo(demo::Args),
    /// Show what happens in a browser: one screen where dialogs can be answered, or one line an event.
    Watch(watch::Args),
    /// Serve the tools to an agent: an MCP server on standard input and output.
    Mcp(mcp::Args),
    /// Serve the tools to many clients on a socket, so that they share its tasks.
    Serve(serve::Args),
    /// Give a task of the server its browser.
    Connect(client::connect::Args),
    /// Show what the server knows of a browser: pages, frames, dialogs.
    Snapshot(client::snapshot::Args),
    /// Answer a dialog.
    Dialog(client::dialog::Args),
    /// Free a page that nobody can free by answering.
    Recover(client::recover::Args),
    /// Send a command of the Chrome DevTools Protocol.
    Cdp(client::cdp::Args),
    /// Evaluate JavaScript in a frame.
    Eval(client::eval::Args),
    /// Fetch the late result of a call that a dialog held.
    Result(client::result::Args),
    /// Show the last console errors and warnings.
    Console(client::console::Args),
    /// List all frames of a page.
    Frames(client::frames::Args),
    /// End a task's connection.
    Disconnect(client::disconnect::Args),
    /// Show the server's process and its tasks.
    Status(client::status::Args),
    /// Measure with real pages what a browser backend can do: dialogs, frames, calls, the bridge.
    Probe(probe::Args),
    /// Record everything that the browser says and is told, to replay it later.
    Record(record::Args),
    /// Replay a recording and print what it led to.
    Replay(replay::Args),
    /// Make a recording into one page that opens in a browser: lanes, dialogs, calls, snapshots.
    Timeline(timeline::Args),
    /// Print what was kept of tasks: their runs, and the events of each.
    Journal(journal::Args),
    /// Print the settings that hold, and where each comes from.
    Config(config::Args),
    /// Say what is found on this machine, and what to do about it.
    Doctor(doctor::Args),
    /// Print the completions for a shell.
    Completions(completions::Args),
    /// Write the manual pages.
    Man(man::Args),
    /// Hold many connections to one URL, so that a harness can measure the command itself.
    BenchClient(bench_client::Args),
}

impl Command {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        match self {
            Command::Watch(args) => args.settings(),
            Command::Record(args) => args.settings(),
            Command::Mcp(args) => args.settings(),
            Command::Serve(args) => args.settings(),
            Command::Probe(args) => args.settings(),
            Command::Config(args) => args.settings(),
            Command::Doctor(args) => args.settings(),
            Command::Connect(args) => args.settings(),
            Command::Snapshot(args) => args.settings(),
            Command::Dialog(args) => args.settings(),
            Command::Recover(args) => args.settings(),
            Command::Cdp(args) => args.settings(),
            Command::Eval(args) => args.settings(),
            Command::Result(args) => args.settings(),
            Command::Console(args) => args.settings(),
            Command::Frames(args) => args.settings(),
            Command::Disconnect(args) => args.settings(),
            Command::Status(args) => args.settings(),
            _ => Vec::new(),
        }
    }

    /// Whether wrong settings stop it.
    pub(crate) fn needs_settings(&self) -> bool {
        match self {
            Command::Config(args) => args.needs_settings(),
            Command::Journal(args) => args.needs_settings(),
            Command::Demo(_) | Command::Replay(_) | Command::Timeline(_) | Command::BenchClient(_) => false,
            Command::Completions(_) | Command::Man(_) | Command::Doctor(_) => false,
            _ => true,
        }
    }

    /// How long the file may become that is logged to: nobody looks after that of a server in the background.
    pub(crate) fn log_bound(&self) -> Option<u64> {
        match self {
            Command::Serve(args) if args.is_detached() => Some(crate::serve::detach::MAX_LOG),
            _ => None,
        }
    }

    /// What is logged where nobody chooses: what a command prints anyway is not told twice.
    pub(crate) fn usual_log_level(&self) -> Option<Level> {
        match self {
            Command::Demo(_) | Command::Watch(_) | Command::Record(_) | Command::Probe(_) => {
                Some(Level::Warn)
            }
            // What goes wrong is the answer of these, and what their connection says beside it is for nobody.
            Command::Connect(_)
            | Command::Snapshot(_)
            | Command::Dialog(_)
            | Command::Recover(_)
            | Command::Cdp(_)
            | Command::Eval(_)
            | Command::Result(_)
            | Command::Console(_)
            | Command::Frames(_)
            | Command::Disconnect(_)
            | Command::Status(_) => Some(Level::Off),
            // A thousand measured tasks that end with their sockets are no news, and a harness may never read what they say.
            Command::BenchClient(_) => Some(Level::Off),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_subcommand_has_examples_that_fit_a_terminal() {
        for command in Cli::command().get_subcommands() {
            let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            let begin = format!("Examples:\n  cdp-supervisor {}", command.get_name());
            assert!(
                help.contains(&begin) || command.get_name() == "result",
                "{}: {help}",
                command.get_name()
            );
            for line in help.lines().filter(|line| line.starts_with("  ")) {
                assert!(line.chars().count() <= 80, "{}: {line}", command.get_name());
            }
        }
    }
}
