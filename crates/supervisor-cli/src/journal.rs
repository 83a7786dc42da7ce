//! `journal`: what was kept of earlier and of running tasks.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use clap::Subcommand;
use serde::Serialize;
use serde_json::json;
use supervisor::journal::{Found, JournalCopy, Run, RunId, Summary, journals};

use crate::error::CliError;
use crate::escape;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::settings::{Loaded, journal};
use crate::when::utc;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor journal list                which runs there are
  cdp-supervisor journal list --json | jq -r .task
  cdp-supervisor journal export default      every event of every run of it
  cdp-supervisor journal export default --last | grep dialog_ended
  cdp-supervisor journal list --dir /srv/agent/journal

A run is one task on one browser, from its start to its end. `export` prints a line `{\"run\": …}`, then one line an \
event, for each run, oldest first. Processes that write at this moment are not disturbed; what they did in the last \
quarter of a second may be missing.

The journal holds page texts and typed answers.";

const LIST_EXAMPLES: &str = "\
Examples:
  cdp-supervisor journal list
  cdp-supervisor journal list --json | jq -r .task";

const EXPORT_EXAMPLES: &str = "\
Examples:
  cdp-supervisor journal export default
  cdp-supervisor journal export default --last | grep dialog_ended";

/// The command line of `journal`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Action,
    /// The folder of the journals, or of one; by default that of the settings
    #[arg(long, global = true, value_name = "FOLDER")]
    dir: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the runs that are kept, oldest first.
    #[command(after_help = LIST_EXAMPLES)]
    List {
        /// Print each as one line of JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the events of a task as JSON, one a line.
    #[command(after_help = EXPORT_EXAMPLES)]
    Export {
        /// The task.
        task: String,
        /// Only its last run.
        #[arg(long)]
        last: bool,
    },
}

impl Args {
    /// They say where the journals are.
    pub(crate) fn needs_settings(&self) -> bool {
        self.dir.is_none()
    }
}

/// Lists or exports.
pub(crate) fn run(args: &Args, loaded: &Loaded) -> Result<Exit, CliError> {
    let Some(root) = args.dir.clone().or_else(|| journal::root(loaded)) else {
        return Err(CliError::NoJournal("neither XDG_STATE_HOME nor HOME says where it is".to_owned()));
    };
    let kept = kept(&root)?;
    match &args.action {
        Action::List { json } => list(&kept, *json)?,
        Action::Export { task, last } => export(&kept, task, *last, &root)?,
    }
    Ok(Exit::Done)
}

/// The runs that are kept, as `list` prints them.
pub(crate) fn listed(loaded: &Loaded) -> serde_json::Value {
    let kept = journal::root(loaded).and_then(|root| kept(&root).ok()).unwrap_or_default();
    let runs = kept.iter().flat_map(|kept| kept.runs.iter().map(move |run| json!(Listed::new(kept, run))));
    runs.collect()
}

/// A journal and its runs.
struct Kept {
    found: Found,
    copy: JournalCopy,
    runs: Vec<Summary>,
}

/// A journal that cannot be read does not hide the others.
fn kept(root: &Path) -> Result<Vec<Kept>, CliError> {
    if let Err(source) = std::fs::read_dir(root)
        && source.kind() != std::io::ErrorKind::NotFound
    {
        return Err(CliError::File { what: "read", path: root.to_owned(), source });
    }
    Ok(journals(root).into_iter().filter_map(read).collect())
}

fn read(found: Found) -> Option<Kept> {
    let folder = found.folder.clone();
    let read = JournalCopy::of(&folder).and_then(|copy| copy.runs().map(|runs| (copy, runs)));
    match read {
        Ok((copy, runs)) => {
            copy.repairs().iter().for_each(|said| note(&folder, said));
            Some(Kept { found, copy, runs })
        }
        Err(error) => {
            note(&folder, &format!("it cannot be read ({error})"));
            None
        }
    }
}

fn note(folder: &Path, what: &str) {
    eprintln!("{}", escape::line(&format!("{}: {what}", folder.display())));
}

/// One run, as `list` prints it.
#[derive(Serialize)]
struct Listed<'a> {
    #[serde(flatten)]
    summary: &'a Summary,
    process: Option<u32>,
    /// Whether that process lives.
    live: bool,
    folder: &'a Path,
}

impl<'a> Listed<'a> {
    fn new(kept: &'a Kept, summary: &'a Summary) -> Self {
        let Found { process, folder, .. } = &kept.found;
        Self { summary, process: *process, live: kept.found.is_live(), folder }
    }

    fn text(&self) -> String {
        let Summary { id, run, events, .. } = self.summary;
        let process = match (self.process, self.live) {
            (Some(process), true) => format!("process {process}, which runs"),
            (Some(process), false) => format!("process {process}"),
            (None, _) => "a host".to_owned(),
        };
        let (began, task) = (utc(run.started_unix_us / 1_000_000), &run.task);
        let text = format!("{began}  {task}  {events} events  {}  (run {id} of {process})", run.endpoint);
        escape::line(&text).into_owned()
    }
}

fn list(kept: &[Kept], json: bool) -> Result<(), CliError> {
    let screen = Screen::new();
    let runs = kept.iter().flat_map(|kept| kept.runs.iter().map(move |run| Listed::new(kept, run)));
    for listed in runs {
        if json { screen.json(&listed)? } else { screen.text(&listed.text())? }
    }
    Ok(())
}

fn export(kept: &[Kept], task: &str, last: bool, root: &Path) -> Result<(), CliError> {
    let all = kept.iter().flat_map(|kept| kept.runs.iter().map(move |run| (kept, run)));
    let mut wanted: Vec<_> = all.filter(|(_, summary)| summary.run.task == task).collect();
    if wanted.is_empty() {
        return Err(CliError::NoJournal(nothing(kept, task, root)));
    }
    if last {
        wanted.drain(..wanted.len() - 1);
    }
    let mut out = BufWriter::new(std::io::stdout().lock());
    for (kept, summary) in wanted {
        print_run(&mut out, &kept.copy, summary.id, &summary.run)?;
    }
    Ok(out.flush()?)
}

fn nothing(kept: &[Kept], task: &str, root: &Path) -> String {
    let tasks: std::collections::BTreeSet<&str> =
        kept.iter().flat_map(|kept| &kept.runs).map(|summary| summary.run.task.as_str()).collect();
    let there = match tasks.is_empty() {
        true => "nothing is".to_owned(),
        false => format!("there is: {}", tasks.into_iter().collect::<Vec<_>>().join(", ")),
    };
    format!("no run of a task `{task}` is kept in {}; {there}", root.display())
}

fn print_run(
    out: &mut impl std::io::Write,
    copy: &JournalCopy,
    id: RunId,
    run: &Run,
) -> Result<(), CliError> {
    let kept = copy.read(id).map_err(CliError::Journal)?;
    let about = json!({"run": {"id": id, "task": run.task, "started_unix_us": run.started_unix_us,
        "endpoint": run.endpoint, "unreadable": kept.unreadable, "missing": kept.missing}});
    writeln!(out, "{}", escape::json(&about.to_string()))?;
    for event in &kept.events {
        let event = serde_json::to_string(event).map_err(std::io::Error::from)?;
        writeln!(out, "{}", escape::json(&event))?;
    }
    Ok(())
}
