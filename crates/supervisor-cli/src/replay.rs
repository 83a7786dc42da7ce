//! `replay`: what a recording led to.

use std::borrow::Cow;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Serialize;
use supervisor::supervisor_core::At;
use supervisor_transcript::{
    Imported, Predicate, Redactor, Replayed, TranscriptError, check, redact, replay, replay_until,
};

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::shrink;
use crate::source::{Program, Source};
use crate::teller::Teller;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor replay run.cdp.jsonl            what happened, last snapshot
  cdp-supervisor replay run.cdp.jsonl --at 12.5  as it was after 12.5 s
  cdp-supervisor replay run.cdp.jsonl --check    is the same sent as recorded?
  cdp-supervisor replay run.cdp.jsonl --json | jq .snapshot.recent_dialogs
  cdp-supervisor replay run.cdp.jsonl --shrink dialog-lost -o small.cdp.jsonl
  cdp-supervisor replay run.cdp.jsonl --redact -o shared.cdp.jsonl
  DEBUG=pw:protocol node my.js 2> pw.log; cdp-supervisor replay pw.log

Older parts (run.cdp.jsonl.1, …) are read too. A damaged or cut recording is replayed up to the damage; then the exit \
code is 1, and standard error says where it is. A transcript of another client and a log of Playwright or Puppeteer are \
replayed as an observer; --check is for recordings of cdp-supervisor only.";

/// The command line of `replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recording, a transcript of another client, or a log of Playwright or Puppeteer.
    file: PathBuf,
    /// Print one JSON object with the snapshot, the events and the counts.
    #[arg(long)]
    json: bool,
    /// Stop so many seconds after the recording's start.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "check", allow_negative_numbers = true)]
    at: Option<Duration>,
    /// Compare what is sent with what was recorded; fail with the first difference.
    #[arg(long)]
    check: bool,
    /// Take the file for a log of this program; otherwise that is told by what is in it.
    #[arg(long, value_enum, value_name = "PROGRAM")]
    import: Option<Program>,
    /// Write what is replayed, or what --shrink leaves of it, to a new file: all parts in one, a log as a transcript.
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["json", "at", "check"])]
    output: Option<PathBuf>,
    /// Replace the texts of pages and the answers in what is written, so that it can be shared.
    #[arg(long, requires = "output", conflicts_with = "shrink")]
    redact: bool,
    #[command(flatten)]
    shrinking: shrink::ShrinkArgs,
}

/// Replays, or writes what would be replayed.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let source = Source::read(&args.file, args.import)?;
    match (&args.output, &args.shrinking.shrink) {
        (Some(output), Some(predicate)) => shrunk(args, &source, predicate, output),
        (Some(output), None) => write(&source, output, args.redact),
        (None, _) => show(args, &source),
    }
}

fn show(args: &Args, source: &Source) -> Result<Exit, CliError> {
    let replayed = replayed(args, &source.bytes).map_err(|error| source.refused(error))?;
    match args.json {
        true => Screen::new().pretty(&Printed::new(&replayed, source))?,
        false => print(args, &replayed, source)?,
    }
    match replayed.damage {
        Some(damage) => Err(source.refused(damage.into())),
        None => Ok(Exit::Done),
    }
}

fn shrunk(args: &Args, source: &Source, predicate: &Predicate, output: &Path) -> Result<Exit, CliError> {
    let found =
        shrink::run(&args.shrinking, predicate, &source.bytes).map_err(|error| source.refused(error))?;
    written(output, &found.recording)?;
    Ok(Exit::Done)
}

/// A redacted one is written only when it replays to the redacted events.
fn write(source: &Source, output: &Path, redacted: bool) -> Result<Exit, CliError> {
    let bytes = match redacted {
        true => Cow::Owned(redact(&source.bytes).map_err(|error| source.refused(error))?),
        false => Cow::Borrowed(&source.bytes),
    };
    if redacted && !is_redacted(&source.bytes, &bytes).map_err(|error| source.refused(error))? {
        let why = "its redacted copy does not replay to the redacted events; please report it".to_owned();
        return Err(CliError::BrokeOff(why));
    }
    written(output, &bytes)?;
    Screen::new().text(&format!("{}: {} bytes", output.display(), bytes.len()))?;
    Ok(Exit::Done)
}

fn is_redacted(original: &[u8], copy: &[u8]) -> Result<bool, TranscriptError> {
    let redactor = Redactor::of(original);
    let (original, copy) = (replay(original)?.events, replay(copy)?.events);
    let same = |(event, copied): (&_, &_)| serde_json::to_value(copied).ok() == Some(redactor.event(event));
    Ok(original.len() == copy.len() && original.iter().zip(&copy).all(same))
}

/// Into a new file, for its owner alone.
fn written(path: &Path, bytes: &[u8]) -> Result<(), CliError> {
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let written = file.and_then(|mut file| file.write_all(bytes));
    written.map_err(|source| CliError::File { what: "write", path: path.to_owned(), source })
}

fn replayed(args: &Args, recording: &[u8]) -> Result<Replayed, TranscriptError> {
    match args.at {
        _ if args.check => check(recording),
        Some(at) => replay_until(recording, At(0).after(at)),
        None => replay(recording),
    }
}

/// The lines of the events, for a screen.
pub(crate) fn print_events(screen: Screen, replayed: &Replayed) -> std::io::Result<()> {
    let mut teller = Teller::default();
    for recorded in &replayed.events {
        let at = Duration::from_micros(recorded.at.0);
        teller.tell(&recorded.event).iter().try_for_each(|line| screen.line(at, line))?;
    }
    Ok(())
}

fn print(args: &Args, replayed: &Replayed, source: &Source) -> std::io::Result<()> {
    let screen = Screen::new();
    if let Some(Imported { messages, unknown, .. }) = &source.imported {
        let text = format!("{messages} messages of a protocol log; {} are cut or no messages", unknown.count);
        screen.line(Duration::ZERO, &Line::new(Kind::Note, text))?;
    }
    print_events(screen, replayed)?;
    let end = Duration::from_micros(replayed.events.last().map_or(0, |last| last.at.0));
    for line in summary(args, replayed) {
        screen.line(end, &line)?;
    }
    screen.pretty(&replayed.snapshot)
}

fn summary(args: &Args, replayed: &Replayed) -> Vec<Line> {
    let counts = &replayed.counts;
    let mut lines = vec![Line::new(
        Kind::Note,
        format!(
            "{} inputs, {} events, {} messages sent; {} lines not understood, {} lost while recording",
            counts.inputs,
            replayed.events.len(),
            replayed.sends.len(),
            counts.unknown_lines.count,
            counts.lost_lines,
        ),
    )];
    lines.extend(replayed.warnings.iter().map(|warning| Line::new(Kind::Warn, warning)));
    lines.extend(counts.faults.iter().map(|fault| {
        Line::new(Kind::Bad, format!("line {}: the machine failed inside: {}", fault.line, fault.message))
    }));
    if args.check {
        lines.push(Line::new(Kind::Good, "every message is sent as it was recorded"));
    }
    lines
}

/// What `--json` prints: the sent messages are left out, the recording has them.
#[derive(Serialize)]
struct Printed<'a> {
    header: &'a supervisor_transcript::Header,
    snapshot: &'a supervisor::Snapshot,
    events: &'a [supervisor::Recorded],
    counts: &'a supervisor_transcript::Counts,
    warnings: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    damage: Option<&'a supervisor_transcript::Damage>,
    /// What was not understood of a log.
    #[serde(skip_serializing_if = "Option::is_none")]
    import: Option<ImportCounts<'a>>,
}

#[derive(Serialize)]
struct ImportCounts<'a> {
    messages: u64,
    unknown: &'a supervisor_transcript::Unknown,
}

impl<'a> Printed<'a> {
    fn new(replayed: &'a Replayed, source: &'a Source) -> Self {
        let import = source.imported.as_ref();
        Self {
            header: &replayed.header,
            snapshot: &replayed.snapshot,
            events: &replayed.events,
            counts: &replayed.counts,
            warnings: &replayed.warnings,
            damage: replayed.damage.as_ref(),
            import: import.map(|it| ImportCounts { messages: it.messages, unknown: &it.unknown }),
        }
    }
}

/// Reads a time on the command line.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let moment = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    moment.ok_or_else(|| "expected seconds since the start, such as 0 or 12.5".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_have_fractions_and_no_sign() {
        assert_eq!(seconds("12.5"), Ok(Duration::from_millis(12_500)));
        for wrong in ["-1", "soon", "NaN", "1e300", ""] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}
