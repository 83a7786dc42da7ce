//! `config`: the settings that hold, and where each comes from.

use std::io::Write as _;

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::settings::{self, Flags, Layer, Loaded, SocketKey, TaskKeys};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor config                        what holds here, and why
  cdp-supervisor config --config other.yaml    with another file
  cdp-supervisor config --json | jq '.settings[\"browser.cdp_url\"]'
  cdp-supervisor config --schema > config.schema.json

Takes the flags of the other subcommands, to see what they would change. Secrets are not shown. The file is \
config.yaml here, else in $XDG_CONFIG_HOME/cdp-supervisor; each key has a variable too, as in \
CDP_SUPERVISOR_BROWSER_CDP_URL.";

/// The command line of `config`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Print JSON: each key with its value and where it comes from.
    #[arg(long, conflicts_with = "schema")]
    json: bool,
    /// Print the JSON Schema of the file.
    #[arg(long)]
    schema: bool,
    /// Where the browser is.
    url: Option<String>,
    #[command(flatten)]
    task: Flags<TaskKeys>,
    #[command(flatten)]
    socket: Flags<SocketKey>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        let url = self.url.as_deref().map(settings::url);
        [self.task.layer(), self.socket.layer()].into_iter().chain(url).collect()
    }

    /// The schema is the same whatever the settings are.
    pub(crate) fn needs_settings(&self) -> bool {
        !self.schema
    }
}

/// Prints them.
pub(crate) fn run(args: &Args, loaded: &Loaded) -> Result<Exit, CliError> {
    match (args.schema, args.json) {
        (true, _) => std::io::stdout().write_all(settings::json_schema().as_bytes())?,
        (_, true) => Screen::new().pretty(&settings::shown_as_json(loaded))?,
        _ => Screen::new().text(&settings::shown_as_yaml(loaded))?,
    }
    Ok(Exit::Done)
}
