//! `mcp`: the tools for an agent, on standard input and output.

use std::time::Duration;

use supervisor::{Endpoint, Options, Supervisor};
use supervisor_mcp::{Defaults, McpServer};

use crate::error::CliError;
use crate::exit::Exit;
use crate::signals::Signals;
use crate::watch::{Policy, launch};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor mcp                         the agent names it, by browser_connect
  cdp-supervisor mcp http://127.0.0.1:9222   `default` is connected at start
  cdp-supervisor mcp --launch                the same, with a browser of its own

In the configuration of an MCP client:
  {\"mcpServers\": {\"cdp-supervisor\": {
    \"command\": \"cdp-supervisor\", \"args\": [\"mcp\", \"http://127.0.0.1:9222\"]}}}

Standard output carries only the protocol. It ends with its standard input, or with a signal: dialogs that are still \
open are dismissed first, and a browser of its own is closed. Without a URL, the variable BROWSER_CDP_URL is taken.";

/// Names the browser where the command line does not.
const URL_VARIABLE: &str = "BROWSER_CDP_URL";

/// The command line of `mcp`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// http://HOST:PORT, ws://HOST:PORT/devtools/browser/ID, ws://HOST:PORT/devtools/page/ID, wss://…, or a user-data-dir.
    url: Option<String>,
    /// Start a browser of its own, without a window and with a profile that is thrown away.
    #[arg(long, conflicts_with = "url")]
    launch: bool,
    /// Who answers dialogs, unless the agent chooses otherwise.
    #[arg(long, value_enum, default_value = "must-respond")]
    policy: Policy,
    /// After how many seconds a dialog that nobody answers is dismissed, under `must-respond`.
    #[arg(long, value_name = "SECONDS", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=2_592_000))]
    dialog_timeout: u64,
}

/// Serves until the input ends or a signal comes.
pub(crate) async fn run(args: Args) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let launched = match args.launch {
        false => None,
        true => tokio::select! {
            _ = signals.next() => return Ok(Exit::Done),
            launched = launch() => Some(launched?),
        },
    };
    let url = launched.as_ref().map(|running| running.ws_url().to_owned()).or(args.url).or_else(url_variable);
    let served = match defaults(url.as_deref(), args.policy, args.dialog_timeout) {
        Ok(defaults) => serve(defaults, &mut signals).await,
        Err(error) => Err(error),
    };
    let stopped = match launched {
        Some(running) => running.stop().await.map_err(CliError::Launch),
        None => Ok(()),
    };
    served.and(stopped).map(|()| Exit::Done)
}

fn url_variable() -> Option<String> {
    std::env::var(URL_VARIABLE).ok().filter(|url| !url.is_empty())
}

fn defaults(url: Option<&str>, policy: Policy, dialog_timeout: u64) -> Result<Defaults, CliError> {
    let mut options = Options::default();
    options.dialog_policy = policy.into();
    options.dialog_timeout = Duration::from_secs(dialog_timeout);
    let defaults = Defaults::default().with_start(options);
    let Some(url) = url else { return Ok(defaults) };
    match Endpoint::parse(url) {
        Ok(endpoint) => Ok(defaults.with_endpoint(endpoint)),
        Err(failure) => Err(CliError::Start { endpoint: "this endpoint".to_owned(), failure }),
    }
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
    server.supervisor().stop_all().await;
    served
}
