//! `bench-client`: many tasks at one URL, so that a harness from outside can measure this very binary.

use std::io::Write as _;
use std::path::Path;
use std::time::Duration;

use supervisor::journal::{Bounds, JournalError, Keeper, SledJournal};
use supervisor::{Bridge, DialogPolicy, Options, StartOptions, Supervisor, Task};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::browser::shown;
use crate::error::CliError;
use crate::exit::Exit;
use crate::signals::Signals;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor bench-client --url ws://127.0.0.1:9222/devtools/browser/ID
  cdp-supervisor bench-client --url ws://127.0.0.1:9000/ --conns 1000

Each task has a connection of its own, accepts every dialog at once and is journalled, in a folder that is thrown away. \
When all are attached, READY is printed. It ends when the sockets were closed, or with a signal; it never connects again.";

/// What is printed once every task is attached.
const READY: &str = "READY";

/// A thousand sockets at once overflow the queue of most listeners, and the system tries again a second later, then two, …
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a browser may take to announce its first page: it does so in the handshake, and one without pages never does.
const FIRST_PAGE: Duration = Duration::from_secs(1);

/// How long the journal may take for what is left.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// The command line of `bench-client`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// ws://HOST:PORT/…, as of a browser or of a page: the same for all tasks.
    #[arg(long)]
    url: String,
    /// How many tasks, each with a connection of its own.
    #[arg(long, value_name = "M", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    conns: u32,
}

/// Supervises until the sockets close or a signal comes.
pub(crate) async fn run(args: Args) -> Result<Exit, CliError> {
    let mut signals = Signals::listen().map_err(CliError::Runtime)?;
    allow_many_files();
    let scratch = Scratch::new()?;
    let supervisor = Supervisor::start();
    let ended = tokio::select! {
        _ = signals.next() => Ok(()),
        ended = supervise(&supervisor, &args, &scratch.keeper) => ended,
    };
    supervisor.stop_all().await;
    scratch.close();
    ended.map(|()| Exit::Done)
}

/// Each connection is a file, and the system's usual limit is low so that old programs work: the limit that this process
/// may give itself is taken. Where that fails, connecting says why.
fn allow_many_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

async fn supervise(supervisor: &Supervisor, args: &Args, journal: &Keeper) -> Result<(), CliError> {
    let tasks = start_all(supervisor, args, journal).await?;
    let mut out = std::io::stdout();
    writeln!(out, "{READY}").and_then(|()| out.flush())?;
    for task in tasks {
        task.wait_for_end().await;
    }
    Ok(())
}

/// All at once, each until it is attached.
async fn start_all(supervisor: &Supervisor, args: &Args, journal: &Keeper) -> Result<Vec<Task>, CliError> {
    let mut starting: JoinSet<Result<Task, CliError>> = JoinSet::new();
    for number in 0..args.conns {
        let (supervisor, url, options) = (supervisor.clone(), args.url.clone(), options(journal.clone()));
        starting.spawn(async move {
            let started = supervisor.get_or_start(format!("bench-{number}"), &url, options).await;
            let task = started.map_err(|failure| CliError::Start { endpoint: shown(&url), failure })?;
            // A browser without a page is attached too.
            let _ = task.wait_for(|snapshot| !snapshot.pages.is_empty(), FIRST_PAGE).await;
            Ok(task)
        });
    }
    let mut tasks = Vec::new();
    while let Some(started) = starting.join_next().await {
        tasks.push(started.map_err(|error| CliError::BrokeOff(error.to_string()))??);
    }
    Ok(tasks)
}

fn options(journal: Keeper) -> StartOptions {
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoAccept;
    options.bridge = Bridge::Off;
    options.reconnect.tries = 0;
    let mut start = StartOptions::from(options);
    start.journal = Some(journal);
    start.start_timeout = START_TIMEOUT;
    start
}

/// A journal that is thrown away.
struct Scratch {
    folder: TempDir,
    keeper: Keeper,
}

impl Scratch {
    fn new() -> Result<Self, CliError> {
        let folder = tempfile::tempdir().map_err(CliError::Runtime)?;
        let keeper = journal(folder.path()).map_err(|error| CliError::BrokeOff(error.to_string()))?;
        Ok(Self { folder, keeper })
    }

    /// Once the tasks have stopped: what they said last is written before its folder goes.
    fn close(self) {
        let _ = self.keeper.barrier(LAST_WRITES);
        drop(self.folder);
    }
}

fn journal(folder: &Path) -> Result<Keeper, JournalError> {
    Keeper::start(SledJournal::open(folder, Bounds::default())?).map(|(keeper, _)| keeper)
}
