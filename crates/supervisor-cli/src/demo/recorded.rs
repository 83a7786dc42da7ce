//! Without a browser: a recording of the demo.

use std::time::Duration;

use chromium_launcher::LauncherError;
use supervisor_transcript::{Replayed, drive};

use crate::error::CliError;
use crate::exit::Exit;
use crate::teller::Teller;

use super::narrate::Narrator;

/// What `cdp-supervisor demo --record` made.
const RECORDING: &str = include_str!("../../../../fixtures/transcripts/demo.cdp.jsonl");

/// Says why there is no browser, and shows the recording.
pub(super) fn show(narrator: &Narrator, why: &LauncherError) -> Result<Exit, CliError> {
    narrator.bad(&why.to_string())?;
    let replayed =
        drive(RECORDING).map_err(|error| CliError::Replay { path: "the bundled recording".into(), error })?;
    let browser = replayed.header.browser.as_deref().unwrap_or("a browser");
    narrator.title(&format!(
        "instead, a recording of {browser} is replayed; no browser takes part in what follows"
    ))?;
    tell(narrator, &replayed)?;
    narrator.snapshot("as it was at the end of the recording", &replayed.snapshot)?;
    Ok(Exit::NoBrowser)
}

fn tell(narrator: &Narrator, replayed: &Replayed) -> Result<(), CliError> {
    let mut teller = Teller::default();
    for recorded in &replayed.events {
        let at = Duration::from_micros(recorded.at.0);
        for line in teller.tell(&recorded.event) {
            narrator.line(at, &line)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use supervisor::Status;

    use super::*;

    #[test]
    fn the_bundled_recording_shows_the_whole_demo() {
        let replayed = drive(RECORDING).unwrap();
        assert!(replayed.header.why.is_some() && replayed.header.browser.is_some());
        assert_eq!(replayed.snapshot.status.status, Status::Stopped);
        assert!(replayed.snapshot.pending_dialogs.is_empty());
        let agents = replayed.snapshot.recent_dialogs.iter();
        assert_eq!(
            agents.filter(|dialog| dialog.closed_by.is_some_and(|by| by.as_str() == "agent")).count(),
            8
        );
    }
}
