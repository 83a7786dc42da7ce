//! `watch`: what happens in a browser, one line an event.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use supervisor::{Observed, Recorded, Snapshot, Status, Supervisor, Task};

use crate::browser::{self, Browser};
use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::settings::{Flags, Layer, Loaded, Prepared, TaskKeys};
use crate::signals::Signals;
use crate::teller::Teller;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor watch http://127.0.0.1:9222            by its debugging port
  cdp-supervisor watch ~/.config/chromium               by its user-data-dir
  cdp-supervisor watch --launch --policy auto-dismiss   its own
  cdp-supervisor watch --launch --json | grep dialog_opened

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
    #[command(flatten)]
    task: Flags<TaskKeys>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        [self.task.layer()].into_iter().chain(self.browser.settings()).collect()
    }
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
    let mut watching = tokio::spawn(watch(supervisor.clone(), Arc::clone(&prepared), args.json));
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

async fn watch(supervisor: Supervisor, prepared: Arc<Prepared>, json: bool) -> Result<Exit, CliError> {
    let endpoint = prepared.endpoint.as_ref().ok_or(CliError::NoUrl)?;
    let started = prepared.start(&supervisor, TASK, endpoint).await;
    let task = started.map_err(|failure| CliError::Start { endpoint: endpoint.to_string(), failure })?;
    let mut events = task.events();
    let mut view = View::new(json);
    view.beginning(&task)?;
    while let Some(observed) = events.recv().await {
        match observed {
            Observed::Event(event) => view.event(&event)?,
            Observed::Lagged(missed) => view.lagged(missed, &task)?,
        }
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

/// What is printed.
struct View {
    screen: Screen,
    json: bool,
    teller: Teller,
    /// The time of the last event: lines that are about no event come at the same time.
    at: Duration,
    /// The last event that the snapshot has which was printed last.
    version: u64,
}

impl View {
    fn new(json: bool) -> Self {
        Self { screen: Screen::new(), json, teller: Teller::default(), at: Duration::ZERO, version: 0 }
    }

    fn beginning(&mut self, task: &Task) -> std::io::Result<()> {
        let snapshot = task.snapshot();
        if !self.json {
            let browser = snapshot.status.browser.as_deref().unwrap_or("a browser");
            self.say(&Line::new(Kind::Good, format!("watching {browser} at {}", task.endpoint())))?;
        }
        self.present(&snapshot)
    }

    fn present(&mut self, snapshot: &Snapshot) -> std::io::Result<()> {
        self.version = snapshot.version;
        if self.json {
            return self.screen.json(&json!({ "snapshot": snapshot }));
        }
        let lines = self.teller.present(snapshot);
        lines.iter().try_for_each(|line| self.say(line))
    }

    fn event(&mut self, recorded: &Recorded) -> std::io::Result<()> {
        if recorded.seq <= self.version {
            return Ok(());
        }
        if self.json {
            return self.screen.json(recorded);
        }
        self.at = Duration::from_micros(recorded.at.0);
        let lines = self.teller.tell(&recorded.event);
        lines.iter().try_for_each(|line| self.say(line))
    }

    fn lagged(&mut self, missed: u64, task: &Task) -> std::io::Result<()> {
        match self.json {
            true => self.screen.json(&json!({ "lagged": missed }))?,
            false => self.say(&Line::new(
                Kind::Warn,
                format!("{missed} events were missed; this is what is there now"),
            ))?,
        }
        self.present(&task.snapshot())
    }

    fn say(&self, line: &Line) -> std::io::Result<()> {
        self.screen.line(self.at, line)
    }
}
