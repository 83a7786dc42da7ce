//! `replay --shrink`: a recording made small, for a bug report or a test.

use std::time::{Duration, Instant};

use serde_json::Value;
use supervisor_transcript::{Predicate, Progress, Shrunk, TranscriptError, shrink};

/// How often progress is told.
const TELL_EVERY: Duration = Duration::from_secs(1);

/// What belongs to `--shrink`.
#[derive(Debug, clap::Args)]
pub(crate) struct ShrinkArgs {
    /// Make the recording small: leave out what it can as long as it still shows this, one of panic (the machine fails
    /// inside), dialog-lost (a dialog opens and is neither pending nor ended), snapshot-differs (the snapshot is not what
    /// the events give), check-differs (another message is sent than was recorded), differs-from=FILE (the last snapshot is
    /// not the expected one in this file, and stays wrong as it is: a snapshot as `--json` prints it, or a part of one),
    /// event=NAME (such an event happens).
    #[arg(
        long,
        value_name = "PREDICATE",
        value_parser = predicate,
        requires = "output",
        conflicts_with_all = ["check", "at", "json"]
    )]
    pub(crate) shrink: Option<Predicate>,
    /// How long to look for a smaller one, in seconds.
    #[arg(long, value_name = "SECONDS", requires = "shrink", default_value_t = 60)]
    within: u64,
}

/// A predicate, with the expected snapshot read from its file.
fn predicate(text: &str) -> Result<Predicate, String> {
    let Some(file) = text.strip_prefix("differs-from=") else { return text.parse() };
    let read = std::fs::read_to_string(file).map_err(|error| format!("reading {file}: {error}"))?;
    let mut expected: Value = serde_json::from_str(&read).map_err(|error| {
        format!("{file} is no JSON ({error}); expected a snapshot as `replay --json` prints it")
    })?;
    // What `replay --json` prints has it among other things.
    let snapshot = expected.get_mut("snapshot").map(Value::take);
    Ok(Predicate::DiffersFrom(Box::new(snapshot.unwrap_or(expected))))
}

/// Shrinks, and tells how far.
pub(crate) fn run(
    args: &ShrinkArgs,
    predicate: &Predicate,
    recording: &[u8],
) -> Result<Shrunk, TranscriptError> {
    // What is looked for may be a failure inside: it is caught, and not worth a line each time.
    std::panic::set_hook(Box::new(|_| {}));
    let mut teller = Teller::new(Duration::from_secs(args.within));
    let found = shrink(recording, predicate, |progress| teller.tell(progress))?;
    eprintln!("{}", summary(&found, teller.is_out_of_time));
    Ok(found)
}

fn summary(found: &Shrunk, is_out_of_time: bool) -> String {
    let Progress { left, before, tries } = found.progress;
    let end = if is_out_of_time { "time is up; --within gives more" } else { "none of them can be left out" };
    format!("{left} of {before} inputs, after {tries} tries; {end}")
}

/// Tells how far it is, and when it is enough.
struct Teller {
    ends: Instant,
    told: Instant,
    is_out_of_time: bool,
}

impl Teller {
    fn new(within: Duration) -> Self {
        let now = Instant::now();
        Self { ends: now + within, told: now, is_out_of_time: false }
    }

    fn tell(&mut self, progress: &Progress) -> bool {
        let now = Instant::now();
        if now.duration_since(self.told) >= TELL_EVERY {
            self.told = now;
            eprintln!("{} of {} inputs left, {} tries", progress.left, progress.before, progress.tries);
        }
        self.is_out_of_time = now >= self.ends;
        !self.is_out_of_time
    }
}
