//! The recording of `--record`: waited for, checked, and given a header that says what it is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use supervisor::Status;
use supervisor_transcript::{Replayed, TranscriptError, Writer, check};
use tokio::time::{Instant, sleep};

use crate::error::CliError;

use super::narrate::Narrator;

const WHY: &str = "The demo: each kind of dialog answered, a popup that asks at once, calls that a dialog blocks, and a \
                   question from the third of three nested sites.";

/// The recording's thread has nothing else to do than to write; a disk that needs longer is full or gone.
const LIMIT: Duration = Duration::from_secs(5);

/// How often the file is looked at until it is whole: nobody tells when its thread has written the last line.
const LOOK_AGAIN: Duration = Duration::from_millis(10);

/// Waits until the recording is whole, checks that it replays to what was sent, and completes its header.
pub(super) async fn finish(narrator: &Narrator, path: PathBuf) -> Result<(), CliError> {
    let (recording, replayed) = whole(&path).await?;
    write(&path, &completed(&recording, &replayed))?;
    narrator.good(&format!("recorded to {}, and it replays to the same", path.display()))?;
    Ok(())
}

async fn whole(path: &Path) -> Result<(String, Replayed), CliError> {
    let deadline = Instant::now() + LIMIT;
    loop {
        let recording = read(path)?;
        match replayed(&recording) {
            Ok(replayed) => return Ok((recording, replayed)),
            Err(why) if Instant::now() >= deadline => {
                return Err(CliError::Recording { path: path.to_owned(), why });
            }
            Err(_) => sleep(LOOK_AGAIN).await,
        }
    }
}

/// A recording that was made to its end ends with the task's.
fn replayed(recording: &str) -> Result<Replayed, String> {
    let replayed = check(recording).map_err(|error: TranscriptError| error.to_string())?;
    match replayed.snapshot.status.status {
        Status::Stopped | Status::Failed => Ok(replayed),
        status => {
            Err(format!("expected it to end with the task stopped, got {}", crate::teller::word(&status)))
        }
    }
}

fn completed(recording: &str, replayed: &Replayed) -> Vec<u8> {
    let mut header = replayed.header.clone();
    header.why = Some(WHY.to_owned());
    header.browser = replayed.snapshot.status.browser.clone();
    header.recorded_with = Some(concat!("cdp-supervisor ", env!("CARGO_PKG_VERSION")).to_owned());
    let mut text = Vec::with_capacity(recording.len() + WHY.len());
    let _ = Writer::begin(&header, &mut text);
    let lines = recording.split_once('\n').map_or("", |(_, lines)| lines);
    text.extend_from_slice(lines.as_bytes());
    text
}

fn read(path: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(path).map_err(|source| CliError::File {
        what: "read",
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &[u8]) -> Result<(), CliError> {
    std::fs::write(path, text).map_err(|source| CliError::File {
        what: "write",
        path: path.to_owned(),
        source,
    })
}
