//! `doctor`: what is found on this machine, and what to do about it.

mod browsers;
mod bundle;
mod endpoints;
mod finding;
mod folders;
mod machine;
mod network;
mod preferences;

use std::path::PathBuf;

use serde_json::json;

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::settings::{self, Flags, Layer, Loaded, SocketKey, TaskKeys};
use finding::{Finding, Level};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor doctor
  cdp-supervisor doctor --json | jq '.findings[] | select(.level != \"ok\")'
  cdp-supervisor doctor --bundle report.json      for a report of a fault
  cdp-supervisor doctor wss://host.example/… --connect

It looks at browsers, the network, endpoints, settings, folders and limits, and says what to do about what is not well. A browser \
on this machine is asked for its version; one elsewhere only with --connect, because some backends count each \
connection. The exit code is 1 when something is bad; warnings are not.

The bundle holds versions, findings, settings, the list of journalled runs, and the names of the environment's \
variables: no values, no page texts, no secrets.";

/// The command line of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where the browser is; without it as the settings say.
    url: Option<String>,
    /// Connect to the browser also where it is not on this machine.
    #[arg(long)]
    connect: bool,
    /// Print the findings as JSON.
    #[arg(long)]
    json: bool,
    /// Write all that helps to find a fault, without secrets, to a file that does not exist yet.
    #[arg(long, value_name = "FILE")]
    bundle: Option<PathBuf>,
    #[command(flatten)]
    socket: Flags<SocketKey>,
    #[command(flatten)]
    task: Flags<TaskKeys>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        let url = self.url.as_deref().map(settings::url);
        [self.task.layer(), self.socket.layer()].into_iter().chain(url).collect()
    }
}

/// Looks, and tells.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    let mut findings = preferences::look(&loaded);
    findings.extend(tokio::task::spawn_blocking(browsers::look).await.unwrap_or_default());
    findings.extend(network::look(&loaded));
    findings.extend(endpoints::look(&loaded, args.connect).await);
    findings.extend(folders::look(&loaded).await);
    findings.extend(machine::look());
    if let Some(path) = &args.bundle {
        bundle::write(path, &loaded, &findings)?;
    }
    print(&args, &findings)?;
    let is_bad = findings.iter().any(|finding| finding.level == Level::Bad);
    Ok(if is_bad { Exit::Failed } else { Exit::Done })
}

fn print(args: &Args, findings: &[Finding]) -> Result<(), CliError> {
    let screen = Screen::new();
    if args.json {
        screen.pretty(&json!({"version": env!("CARGO_PKG_VERSION"), "findings": findings}))?;
        return Ok(());
    }
    findings.iter().flat_map(Finding::lines).try_for_each(|line| screen.plain(&line))?;
    if let Some(path) = &args.bundle {
        screen.text(&format!("written to {}; read it before you hand it on", path.display()))?;
    }
    Ok(())
}
