//! `demo`: the main job, shown on a Chromium of its own.

mod browser;
mod frames;
mod narrate;
mod recorded;
mod recording;
mod stage;
mod steps;

use std::path::PathBuf;
use std::sync::Arc;

use chromium_launcher::Running;
use page_server::{PageServer, Site};
use supervisor::supervisor_core::dialog::ClosedBy;
use supervisor::{DialogPolicy, DialogView, Options, Recording, Snapshot, StartOptions, Supervisor};

use crate::error::CliError;
use crate::exit::Exit;
use crate::signals::{Signal, Signals};

use browser::Found;
use narrate::Narrator;
use stage::Stage;
pub(crate) use stage::StepFailed;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor demo                             installs a Chromium if need be
  cdp-supervisor demo --no-install                does not install anything
  CHROME=/opt/chrome/chrome cdp-supervisor demo   with this browser
  cdp-supervisor demo --record demo.cdp.jsonl     for `cdp-supervisor replay`

It installs only as root on Debian or Ubuntu, and says so; elsewhere it prints the command to run.

Exit codes: 0 when every dialog was answered and the deepest frame evaluated; 1 when a step failed; 3 without a \
Chromium, after a recording was shown; 130, 143, 129 after SIGINT, SIGTERM, SIGHUP.";

/// The only task of this process.
const TASK: &str = "demo";

/// The command line of `demo`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Do not install a Chromium where there is none.
    #[arg(long)]
    no_install: bool,
    /// Print each line as a JSON object, the snapshot last.
    #[arg(long)]
    json: bool,
    /// Record the session to a file that does not exist yet. It holds the pages' texts and the typed answers.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// Shows the main job, or a recording of it where there is no browser.
pub(crate) async fn run(args: Args) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    let narrator = Arc::new(Narrator::new(args.json));
    let browser = match browser::find_or_install(&narrator, !args.no_install, &mut signals).await? {
        Found::Browser(browser) => browser,
        Found::None(why) => return recorded::show(&narrator, &why),
        Found::Interrupted(signal) => return Ok(Exit::Signal(signal)),
    };
    let running = tokio::select! {
        signal = signals.next() => return Ok(Exit::Signal(signal)),
        running = browser::start(&narrator, browser) => running?,
    };
    live(&narrator, running, args.record, &mut signals).await
}

/// Plays on a browser that runs, and ends it whatever happens.
async fn live(
    narrator: &Arc<Narrator>,
    running: Running,
    record: Option<PathBuf>,
    signals: &mut Signals,
) -> Result<Exit, CliError> {
    let supervisor = Supervisor::start();
    let ws_url = running.ws_url().to_owned();
    // A task of its own: a reader that pauses holds up the lines, and not the signals.
    let mut playing = tokio::spawn(play(Arc::clone(narrator), supervisor.clone(), ws_url, record.clone()));
    let played = tokio::select! {
        signal = signals.next() => {
            playing.abort();
            Ok(Played::Interrupted(signal))
        }
        played = &mut playing => played.unwrap_or_else(|error| Err(CliError::BrokeOff(error.to_string()))),
    };
    let stopped = stop(narrator, &supervisor, running).await;
    if let Some(path) = record {
        recording::finish(narrator, path)?;
    }
    let exit = told(narrator, played?)?;
    stopped.map(|()| exit)
}

/// How the play ended.
enum Played {
    ToTheEnd(Arc<Snapshot>),
    Failed(StepFailed, Arc<Snapshot>),
    Interrupted(Signal),
}

async fn play(
    narrator: Arc<Narrator>,
    supervisor: Supervisor,
    ws_url: String,
    record: Option<PathBuf>,
) -> Result<Played, CliError> {
    let pages = PageServer::start(Site::demo()).await.map_err(CliError::Pages)?;
    let started = supervisor.get_or_start(TASK, &ws_url, options(record)).await;
    let task = started.map_err(|failure| CliError::Start { endpoint: ws_url, failure })?;
    let stage = Stage::new(task.clone(), pages, narrator);
    let played = steps::all(&stage).await;
    let snapshot = task.snapshot();
    Ok(match played {
        Ok(()) => Played::ToTheEnd(snapshot),
        Err(failed) => Played::Failed(failed, snapshot),
    })
}

fn options(record: Option<PathBuf>) -> StartOptions {
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::MustRespond;
    let mut start = StartOptions::from(options);
    start.recording = record.map(Recording::to);
    start
}

/// Answers what is open first: a dialog that outlives its last client can never be answered again.
async fn stop(narrator: &Narrator, supervisor: &Supervisor, running: Running) -> Result<(), CliError> {
    let task = supervisor.get(TASK).await;
    supervisor.stop_all().await;
    let stopped = running.stop().await.map_err(CliError::Launch);
    if let Some(task) = task {
        answered_by_stop(narrator, &task.snapshot())?;
    }
    stopped?;
    narrator.good("the supervisor has stopped, the browser is gone, its profile is deleted")?;
    Ok(())
}

fn answered_by_stop(narrator: &Narrator, last: &Snapshot) -> std::io::Result<()> {
    let by_stop = |dialog: &&DialogView| dialog.closed_by == Some(ClosedBy::AutoPolicy);
    let answered = last.recent_dialogs.iter().filter(by_stop);
    answered
        .map(|dialog| dialog.id)
        .try_for_each(|id| narrator.act(&format!("{id} dismissed while stopping")))
}

fn told(narrator: &Narrator, played: Played) -> Result<Exit, CliError> {
    match played {
        Played::ToTheEnd(snapshot) => {
            narrator.snapshot("as it was before stopping", &snapshot)?;
            Ok(Exit::Done)
        }
        Played::Failed(failed, snapshot) => {
            narrator.snapshot("as it was when the step failed", &snapshot)?;
            Err(failed.into())
        }
        Played::Interrupted(signal) => {
            narrator.note(&format!("ended by {signal}"))?;
            Ok(Exit::Signal(signal))
        }
    }
}
