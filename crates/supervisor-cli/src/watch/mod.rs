//! `watch`: what happens in a browser, on one screen or one line an event.

mod choosing;
mod interface;
mod keys;
mod layout;
mod lines;
mod log;
mod model;
mod pane;
#[cfg(test)]
mod pty;
mod rows;
#[cfg(test)]
mod samples;
mod terminal;
mod tree;
mod typing;
mod view;

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::time::Duration;

use supervisor::{Status, Supervisor, Task};

use crate::browser::{self, Browser};
use crate::error::CliError;
use crate::exit::Exit;
use crate::settings::{Flags, Layer, Loaded, Prepared, TaskKeys};
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor watch http://127.0.0.1:9222            by its debugging port
  cdp-supervisor watch ~/.config/chromium               by its user-data-dir
  cdp-supervisor watch --launch --policy auto-dismiss   its own
  cdp-supervisor watch --launch --json | grep dialog_opened

At a terminal it is one screen, where dialogs can be answered: `?` shows the keys. To a pipe, and with --lines, it is \
one line an event.

Ctrl-C ends it with exit code 0; dialogs that are still open are dismissed first. Under `must-respond` a dialog that \
nobody answers is dismissed after 300 s. A line of --json is an event; `{\"snapshot\": …}` is first and comes again \
after `{\"lagged\": N}`, which says that N events were missed.";

/// The only task of this process.
const TASK: &str = "watch";

/// How long a paused reader may take for the last lines.
const LAST_LINES: Duration = Duration::from_secs(1);

/// The command line of `watch`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: Browser,
    /// Print each event as one line of JSON.
    #[arg(long)]
    json: bool,
    /// Print each event as one line also at a terminal.
    #[arg(long, conflicts_with = "json")]
    lines: bool,
    #[command(flatten)]
    task: Flags<TaskKeys>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        [self.task.layer()].into_iter().chain(self.browser.settings()).collect()
    }

    fn shape(&self) -> Shape {
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
        match self.json {
            true => Shape::Json,
            false if self.lines || !terminal || is_dumb => Shape::Lines,
            false => Shape::Screen,
        }
    }
}

/// How it is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    /// One screen, where dialogs can be answered.
    Screen,
    /// One line an event.
    Lines,
    /// The same as JSON.
    Json,
}

/// Watches until a signal comes or the browser is gone for good.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let launched = tokio::select! {
        _ = signals.next() => return Ok(Exit::Done),
        launched = args.browser.launched() => launched?,
    };
    let prepared = Arc::new(Prepared::new(&loaded, launched.as_ref()));
    let supervisor = Supervisor::start();
    // A task of its own: a reader that pauses holds up its lines, and not the signals.
    let mut watching = tokio::spawn(watch(supervisor.clone(), Arc::clone(&prepared), args.shape()));
    let watched = tokio::select! {
        _ = signals.next() => {
            supervisor.stop_all().await;
            // It ends once it has told the end.
            let _ = tokio::time::timeout(LAST_LINES, watching).await;
            Ok(Exit::Done)
        }
        watched = &mut watching => watched.unwrap_or_else(|error| Err(CliError::BrokeOff(error.to_string()))),
    };
    prepared.end().await;
    let stopped = browser::stop(launched).await;
    watched.and_then(|exit| stopped.map(|()| exit))
}

async fn watch(supervisor: Supervisor, prepared: Arc<Prepared>, shape: Shape) -> Result<Exit, CliError> {
    let endpoint = prepared.endpoint.as_ref().ok_or(CliError::NoUrl)?;
    let started = prepared.start(&supervisor, TASK, endpoint).await;
    let task = started.map_err(|failure| CliError::Start { endpoint: endpoint.to_string(), failure })?;
    match shape {
        Shape::Lines => lines::run(&task, false).await?,
        Shape::Json => lines::run(&task, true).await?,
        Shape::Screen => interface::run(&task, &supervisor).await?,
    }
    ended(&task)
}

fn ended(task: &Task) -> Result<Exit, CliError> {
    let status = &task.snapshot().status;
    if status.status == Status::Stopped {
        return Ok(Exit::Done);
    }
    let reason = status.reason.clone().unwrap_or_else(|| crate::teller::word(&status.status));
    Err(CliError::Ended { endpoint: task.endpoint().to_string(), reason })
}
