//! `watch`: what happens in a browser, one line an event.

use std::time::Duration;

use chromium_launcher::{Launch, LauncherError, Running};
use clap::ValueEnum;
use serde_json::json;
use supervisor::{DialogPolicy, Endpoint, Observed, Options, Recorded, Snapshot, Status, Supervisor, Task};

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::signals::Signals;
use crate::teller::Teller;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor watch http://127.0.0.1:9222            by its debugging port
  cdp-supervisor watch ~/.config/chromium               by its user-data-dir
  cdp-supervisor watch --launch --policy auto-dismiss   its own; dismisses dialogs
  cdp-supervisor watch --launch --json | jq -c 'select(.event == \"dialog_opened\")'

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
    /// http://HOST:PORT, ws://HOST:PORT/devtools/browser/ID, ws://HOST:PORT/devtools/page/ID, wss://…, or a user-data-dir.
    #[arg(required_unless_present = "launch")]
    url: Option<String>,
    /// Start a browser of its own, without a window and with a profile that is thrown away.
    #[arg(long, conflicts_with = "url")]
    launch: bool,
    /// Who answers dialogs.
    #[arg(long, value_enum, default_value = "must-respond")]
    policy: Policy,
    /// Print each event as one line of JSON.
    #[arg(long)]
    json: bool,
}

/// Who answers dialogs.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Policy {
    /// Somebody else; the watchdog dismisses what nobody answers in time.
    MustRespond,
    /// Each dialog is dismissed at once.
    AutoDismiss,
    /// Each dialog is accepted at once.
    AutoAccept,
}

impl From<Policy> for DialogPolicy {
    fn from(policy: Policy) -> Self {
        match policy {
            Policy::MustRespond => DialogPolicy::MustRespond,
            Policy::AutoDismiss => DialogPolicy::AutoDismiss,
            Policy::AutoAccept => DialogPolicy::AutoAccept,
        }
    }
}

/// Watches until a signal comes or the browser is gone for good.
pub(crate) async fn run(args: Args) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let launched = match args.launch {
        false => None,
        true => tokio::select! {
            _ = signals.next() => return Ok(Exit::Done),
            launched = launch() => Some(launched?),
        },
    };
    let url = launched.as_ref().map(|running| running.ws_url().to_owned()).or(args.url).unwrap_or_default();
    let supervisor = Supervisor::start();
    // A task of its own: a reader that pauses holds up its lines, and not the signals.
    let mut watching = tokio::spawn(watch(supervisor.clone(), url, args.policy, args.json));
    let watched = tokio::select! {
        _ = signals.next() => {
            supervisor.stop_all().await;
            // It ends once it has told the end.
            let _ = tokio::time::timeout(LAST_LINES, watching).await;
            Ok(Exit::Done)
        }
        watched = &mut watching => watched.unwrap_or_else(|error| Err(CliError::BrokeOff(error.to_string()))),
    };
    let stopped = match launched {
        Some(running) => running.stop().await.map_err(CliError::Launch),
        None => Ok(()),
    };
    watched.and_then(|exit| stopped.map(|()| exit))
}

/// Starts a browser that is found on this machine.
pub(crate) async fn launch() -> Result<Running, CliError> {
    let found = tokio::task::spawn_blocking(chromium_launcher::find).await;
    let found = found.map_err(|error| CliError::BrokeOff(error.to_string()))?;
    let browser = found.map_err(|error| match error {
        LauncherError::NotFound { .. } | LauncherError::Unusable { .. } => CliError::NoBrowser(error),
        other => CliError::Launch(other),
    })?;
    Launch::new(browser).start().await.map_err(CliError::Launch)
}

async fn watch(supervisor: Supervisor, url: String, policy: Policy, json: bool) -> Result<Exit, CliError> {
    let mut options = Options::default();
    options.dialog_policy = policy.into();
    let started = supervisor.get_or_start(TASK, &url, options).await;
    let task = started.map_err(|failure| CliError::Start { endpoint: shown(&url), failure })?;
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

/// The endpoint without its secrets.
pub(crate) fn shown(url: &str) -> String {
    Endpoint::parse(url).map_or_else(|_| "this endpoint".to_owned(), |endpoint| endpoint.to_string())
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
