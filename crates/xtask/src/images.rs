//! `cargo xtask images`: the pictures of timelines in `docs/images`, taken by the Chromium at hand.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::shell;

/// Pictures, and the recordings that they show.
const TIMELINES: [(&str, &str); 3] =
    [("nested", "confirm-in-nested-oopif"), ("flood", "flood-of-alerts"), ("demo", "demo")];

/// Wide enough for the lanes and the snapshot beside them.
const SIZE: &str = "--window-size=1200,520";

/// Makes each timeline, opens it and takes its picture.
///
/// # Errors
/// When the command cannot be built, a recording is not there, or the browser does not do it.
pub(crate) fn run() -> Result<()> {
    let browser = chromium_launcher::find()?;
    shell::run(&mut shell::cargo(&["build", "--quiet", "-p", "supervisor-cli"]))?;
    let folder = tempfile::tempdir()?;
    for (name, recording) in TIMELINES {
        let page = folder.path().join(format!("{name}.html"));
        let recording = format!("fixtures/transcripts/{recording}.cdp.jsonl");
        let mut timeline = shell::cargo(&["run", "--quiet", "-p", "supervisor-cli", "--", "timeline"]);
        shell::run(timeline.arg(recording).arg("-o").arg(&page))?;
        take(&browser.path, &page, folder.path(), &format!("docs/images/timeline-{name}.png"))?;
    }
    Ok(())
}

fn take(browser: &Path, page: &Path, folder: &Path, picture: &str) -> Result<()> {
    let picture = shell::root().join(picture);
    let mut command = Command::new(browser);
    // The page is ours: what keeps foreign ones in their place is not needed, and is not there for root.
    command.args(["--headless=new", "--no-sandbox", "--hide-scrollbars", SIZE]);
    command.arg(format!("--user-data-dir={}", folder.join("profile").display()));
    command.arg(format!("--screenshot={}", picture.display())).arg(format!("file://{}", page.display()));
    shell::output(&mut command)?;
    ensure!(picture.is_file(), "there is no {}", picture.display());
    println!("{}", picture.display());
    Ok(())
}
