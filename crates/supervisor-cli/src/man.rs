//! `man`: the manual pages.

use std::path::PathBuf;

use clap::CommandFactory as _;

use crate::args::Cli;
use crate::error::CliError;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor man ~/.local/share/man/man1
  man cdp-supervisor-serve

A page for the command and one for each subcommand. The folder is made if need be.";

/// The command line of `man`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The folder to write them to.
    folder: PathBuf,
}

/// Writes them.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let written = std::fs::create_dir_all(&args.folder)
        .and_then(|()| clap_mangen::generate_to(Cli::command(), &args.folder));
    match written {
        Ok(()) => Ok(Exit::Done),
        Err(source) => Err(CliError::File { what: "write", path: args.folder.clone(), source }),
    }
}
