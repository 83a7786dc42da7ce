//! The command line.

use clap::{Parser, Subcommand};

use crate::logging::{Level, Logging};
use crate::{bench_client, demo, mcp, replay, watch};

const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  refused or failed; standard error says what, why and what to do next
  2  the command line is wrong
  3  no browser was found
  128 + N  signal N ended `demo`, after everything was stopped";

/// Keeps a browser task going: knows the open dialogs and the frames of a Chromium, answers, and never lets a call hang.
#[derive(Debug, Parser)]
#[command(name = "cdp-supervisor", version, after_help = EXIT_CODES)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) logging: Logging,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show the main job on a Chromium of its own, from the first alert to a frame three sites deep.
    Demo(demo::Args),
    /// Print what happens in a browser, one line an event.
    Watch(watch::Args),
    /// Serve the tools to an agent: an MCP server on standard input and output.
    Mcp(mcp::Args),
    /// Replay a recording and print what it led to.
    Replay(replay::Args),
    /// Hold many connections to one URL, so that a harness can measure the command itself.
    BenchClient(bench_client::Args),
}

impl Command {
    /// A thousand measured tasks that end with their sockets are no news, and a harness may never read what they say.
    pub(crate) fn usual_log_level(&self) -> Level {
        match self {
            Command::BenchClient(_) => Level::Off,
            _ => Level::Warn,
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
}
