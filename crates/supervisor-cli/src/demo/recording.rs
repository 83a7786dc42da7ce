//! The recording of `--record`: checked, and given a header that says what it is.

use std::path::{Path, PathBuf};

use supervisor::Status;
use supervisor_transcript::{Replayed, TranscriptError, Writer, check};

use crate::error::CliError;

use super::narrate::Narrator;

const WHY: &str = "The demo: each kind of dialog answered, a popup that asks at once, calls that a dialog blocks, and a \
                   question from the third of three nested sites.";

/// Checks that the recording is whole, and completes its header. All of it is written when its task has stopped.
pub(super) fn finish(narrator: &Narrator, path: PathBuf) -> Result<(), CliError> {
    let recording = read(&path)?;
    let replayed = replayed(&recording).map_err(|why| CliError::Recording { path: path.clone(), why })?;
    write(&path, &completed(&recording, &replayed))?;
    narrator.good(&format!("recorded to {}, and it replays to the same", path.display()))?;
    Ok(())
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
