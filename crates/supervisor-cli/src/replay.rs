//! `replay`: what a recording led to.

use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;
use supervisor::supervisor_core::At;
use supervisor_transcript::{Replayed, TranscriptError, check, replay, replay_until};

use crate::error::CliError;
use crate::exit::Exit;
use crate::screen::{Kind, Line, Screen};
use crate::shrink;
use crate::teller::Teller;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor replay run.cdp.jsonl            what happened, last snapshot
  cdp-supervisor replay run.cdp.jsonl --at 12.5  as it was after 12.5 s
  cdp-supervisor replay run.cdp.jsonl --check    is the same sent as recorded?
  cdp-supervisor replay run.cdp.jsonl --json | jq .snapshot.recent_dialogs
  cdp-supervisor replay run.cdp.jsonl --shrink dialog-lost -o small.cdp.jsonl

A damaged or cut recording is replayed up to the damage; then the exit code is 1, and standard error says where it \
is. A transcript of another client is replayed too; --check is for recordings of cdp-supervisor only.";

/// The command line of `replay`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// A recording of cdp-supervisor, or a transcript of another client.
    file: PathBuf,
    /// Print one JSON object with the snapshot, the events and the counts.
    #[arg(long)]
    json: bool,
    /// Stop so many seconds after the recording's start.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, conflicts_with = "check")]
    at: Option<Duration>,
    /// Compare what is sent with what was recorded; fail with the first difference.
    #[arg(long)]
    check: bool,
    #[command(flatten)]
    shrinking: shrink::ShrinkArgs,
}

/// Replays.
pub(crate) fn run(args: &Args) -> Result<Exit, CliError> {
    let read = std::fs::read(&args.file);
    let recording =
        read.map_err(|source| CliError::File { what: "read", path: args.file.clone(), source })?;
    if let Some(predicate) = &args.shrinking.shrink {
        shrink::run(&args.shrinking, predicate, &recording, |error| refused(args, error))?;
        return Ok(Exit::Done);
    }
    let replayed = replayed(args, &recording).map_err(|error| refused(args, error))?;
    match args.json {
        true => Screen::new().pretty(&Printed::from(&replayed))?,
        false => print(args, &replayed)?,
    }
    match replayed.damage {
        Some(damage) => Err(refused(args, damage.into())),
        None => Ok(Exit::Done),
    }
}

fn replayed(args: &Args, recording: &[u8]) -> Result<Replayed, TranscriptError> {
    match args.at {
        _ if args.check => check(recording),
        Some(at) => replay_until(recording, At(0).after(at)),
        None => replay(recording),
    }
}

fn refused(args: &Args, error: TranscriptError) -> CliError {
    CliError::Replay { path: args.file.clone(), error }
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

fn print(args: &Args, replayed: &Replayed) -> std::io::Result<()> {
    let screen = Screen::new();
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
}

impl<'a> From<&'a Replayed> for Printed<'a> {
    fn from(replayed: &'a Replayed) -> Self {
        Self {
            header: &replayed.header,
            snapshot: &replayed.snapshot,
            events: &replayed.events,
            counts: &replayed.counts,
            warnings: &replayed.warnings,
            damage: replayed.damage.as_ref(),
        }
    }
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "expected a number of seconds, such as 12.5".to_owned())?;
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| format!("expected a moment after the start: {error}"))
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
