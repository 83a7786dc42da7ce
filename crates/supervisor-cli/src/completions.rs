//! `completions`: what a shell needs to complete the command line.

use std::io::Write as _;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Cli;
use crate::error::CliError;
use crate::exit::Exit;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor completions bash > /etc/bash_completion.d/cdp-supervisor
  cdp-supervisor completions zsh > ~/.zfunc/_cdp-supervisor
  cdp-supervisor completions fish | source          for this shell only
  source <(cdp-supervisor completions bash)         for this shell only";

/// The command line of `completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The shell.
    shell: Shell,
}

/// Prints them.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut command, name, &mut text);
    std::io::stdout().write_all(&text)?;
    Ok(Exit::Done)
}
