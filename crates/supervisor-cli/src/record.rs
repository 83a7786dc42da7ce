//! `record`: everything that a browser says and is told, into a file that replays.

mod attempt;
mod progress;

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use supervisor::{RecordingProgress, Snapshot, Status, Supervisor, Task};
use tokio::time::{MissedTickBehavior, interval};

use crate::browser::{self, Browser};
use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::settings::{self, Flags, Layer, Loaded, Prepared, TaskKeys};
use crate::signals::Signals;

use attempt::Attempt;
use progress::Progress;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor record http://127.0.0.1:9222 -o run.cdp.jsonl
  cdp-supervisor record --launch -o run.cdp.jsonl --policy auto-dismiss
  cdp-supervisor record http://127.0.0.1:9222 -o run.cdp.jsonl --redact
  cdp-supervisor replay run.cdp.jsonl

It supervises as `watch` does while it records, beside whatever drives the browser. Ctrl-C ends it: everything is in \
the file then. A long recording has parts (run.cdp.jsonl, run.cdp.jsonl.1, …), all of which `replay` reads; beyond \
--recording-max-mb the oldest is dropped, and what is left still replays. When it does not connect, no file is left.

A recording holds page texts, typed answers and results of calls (with --redact: none of them), and never cookies or \
Authorization headers. It is for its owner alone.";

/// The only task of this process.
const TASK: &str = "record";

/// The command line of `record`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    browser: Browser,
    /// The file: one that does not exist yet. Or a folder, for a new file in it.
    #[arg(short, long = "output", value_name = "FILE")]
    output: Option<String>,
    /// Replace a recording that is there already.
    #[arg(long)]
    force: bool,
    /// Why it is made, for its header.
    #[arg(long, value_name = "TEXT")]
    why: Option<String>,
    /// Print what was recorded as one JSON object.
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    task: Flags<TaskKeys>,
}

impl Args {
    /// Its part of the settings.
    pub(crate) fn settings(&self) -> Vec<Layer> {
        let output = self.output.as_deref().map(settings::output);
        [self.task.layer()].into_iter().chain(self.browser.settings()).chain(output).collect()
    }
}

/// Records until a signal comes, the browser is gone for good or the disk is full.
pub(crate) async fn run(args: Args, loaded: Loaded) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let attempt = Attempt::begin(check(&args, &loaded)?);
    let launched = tokio::select! {
        _ = signals.next() => return Ok(Exit::Done),
        launched = args.browser.launched() => launched?,
    };
    let mut prepared = Prepared::new(&loaded, launched.as_ref());
    if let Some(recording) = prepared.recording() {
        recording.overwrite = args.force;
        recording.why = args.why;
    }
    let supervisor = Supervisor::start();
    let started = start(&supervisor, &prepared, &mut signals).await;
    if !matches!(started, Ok(Some(_))) {
        attempt.forget();
    }
    let recorded = match started {
        Ok(Some(task)) => record(&supervisor, &task, &mut signals, args.json).await,
        Ok(None) => Ok(Exit::Done),
        Err(error) => Err(error),
    };
    prepared.end().await;
    let stopped = browser::stop(launched).await;
    recorded.and_then(|exit| stopped.map(|()| exit))
}

/// Before a browser is started or asked.
fn check<'a>(args: &Args, loaded: &'a Loaded) -> Result<&'a Path, CliError> {
    match &loaded.settings.recording.path {
        None => Err(CliError::NoOutput),
        Some(path) if path.is_file() && !args.force => Err(CliError::RecordingExists(path.clone())),
        Some(path) => Ok(path),
    }
}

/// Connects; nothing when a signal comes first.
async fn start(
    supervisor: &Supervisor,
    prepared: &Prepared,
    signals: &mut Signals,
) -> Result<Option<Task>, CliError> {
    let endpoint = prepared.endpoint.as_ref().ok_or(CliError::NoUrl)?;
    let started = tokio::select! {
        _ = signals.next() => {
            supervisor.stop_all().await;
            return Ok(None);
        }
        started = prepared.start(supervisor, TASK, endpoint) => started,
    };
    started.map(Some).map_err(|failure| CliError::Start { endpoint: endpoint.to_string(), failure })
}

async fn record(
    supervisor: &Supervisor,
    task: &Task,
    signals: &mut Signals,
    json: bool,
) -> Result<Exit, CliError> {
    let mut progress = Progress::begin(task);
    let ended = watch(task, signals, &mut progress).await;
    let before_stop = task.snapshot();
    supervisor.stop_all().await;
    progress.end();
    told(task, &before_stop, json)?;
    ended
}

/// Shows how far it is, until there is a reason to end.
async fn watch(task: &Task, signals: &mut Signals, progress: &mut Progress) -> Result<Exit, CliError> {
    let mut ticks = interval(progress.every());
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        tokio::select! {
            _ = signals.next() => return Ok(Exit::Done),
            () = task.wait_for_end() => return ended(task),
            _ = ticks.tick() => progress.show(task),
        }
        if let Some(why) = recording(task).failure {
            return Err(CliError::RecordingEnded(why));
        }
    }
}

fn recording(task: &Task) -> RecordingProgress {
    task.recording().unwrap_or_default()
}

fn ended(task: &Task) -> Result<Exit, CliError> {
    let status = &task.snapshot().status;
    if status.status == Status::Stopped {
        return Ok(Exit::Done);
    }
    let reason = status.reason.clone().unwrap_or_else(|| crate::teller::word(&status.status));
    Err(CliError::Ended { endpoint: task.endpoint().to_string(), reason })
}

/// What was recorded, as `--json` prints it.
#[derive(Serialize)]
struct Recorded {
    file: PathBuf,
    messages: u64,
    bytes: u64,
    dialogs: u64,
    dropped_parts: u64,
    lost_lines: u64,
}

fn told(task: &Task, last: &Snapshot, json: bool) -> std::io::Result<()> {
    let progress = recording(task);
    let recorded = Recorded {
        dialogs: last.counts.dialogs_seen,
        messages: progress.messages,
        bytes: progress.bytes,
        dropped_parts: progress.dropped_parts,
        lost_lines: progress.lost_lines,
        file: progress.path,
    };
    match json {
        true => Screen::new().json(&recorded),
        false => Screen::new().text(&format!(
            "{}: {}",
            recorded.file.display(),
            progress::sentence(&recording(task), last)
        )),
    }
}

/// How often a line comes where nothing can be refreshed.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// How often the line of a terminal is refreshed: often enough to look alive.
const REFRESH_EVERY: Duration = Duration::from_millis(250);
