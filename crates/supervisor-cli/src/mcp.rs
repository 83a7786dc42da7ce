//! `mcp`: the tools for an agent, on standard input and output.

use supervisor::Supervisor;
use supervisor_mcp::{Defaults, McpServer};

use crate::browser::{self, Browser};
use crate::error::CliError;
use crate::exit::Exit;
use crate::settings::{Flags, Layer, Loaded, Prepared, TaskKeys};
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor mcp                         the agent connects
  cdp-supervisor mcp http://127.0.0.1:9222   `default` is connected at start
  cdp-supervisor mcp --launch                the same, with a browser of its own

In the configuration of an MCP client:
  {\"mcpServers\": {\"cdp-supervisor\": {
    \"command\": \"cdp-supervisor\", \"args\": [\"mcp\", \"http://127.0.0.1:9222\"]}}}

Standard output carries only the protocol. It ends with its standard input, or with a signal: dialogs that are still \
open are dismissed first, and a browser of its own is closed. Settings, the URL among them, come from config.yaml and \
variables too (`cdp-supervisor config`).";

/// The command line of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: Browser,
    #[command(flatten)]
    task: Flags<TaskKeys>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        [self.task.layer()].into_iter().chain(self.browser.settings()).collect()
    }
}

/// Serves until the input ends or a signal comes.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let launched = tokio::select! {
        _ = signals.next() => return Ok(Exit::Done),
        launched = args.browser.launched() => launched?,
    };
    let prepared = Prepared::new(&loaded, launched.as_ref());
    let served = serve(prepared.defaults(), &mut signals).await;
    prepared.end().await;
    let stopped = browser::stop(launched).await;
    served.and(stopped).map(|()| Exit::Done)
}

async fn serve(defaults: Defaults, signals: &mut Signals) -> Result<(), CliError> {
    let server = McpServer::new(Supervisor::start(), defaults);
    let serving = tokio::spawn({
        let server = server.clone();
        async move { server.serve_stdio().await }
    });
    let served = tokio::select! {
        _ = signals.next() => Ok(()),
        served = serving => match served {
            Ok(served) => served.map_err(CliError::Client),
            Err(error) => Err(CliError::BrokeOff(error.to_string())),
        },
    };
    server.end().await;
    served
}
