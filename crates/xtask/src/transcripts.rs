//! `cargo xtask transcripts`: the recordings in `fixtures/transcripts`, made anew with a real Chromium.

mod scenario;
mod stage;

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;
use page_server::PageServer;
use supervisor::{StartOptions, Status, Supervisor};
use supervisor_transcript::{Reader, Writer, check};

use crate::shell;
use scenario::Scenario;
use stage::Stage;

/// For what the browser or the disk does next. A machine under load needs seconds; hours help nobody.
const PATIENCE: Duration = Duration::from_secs(30);

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The recordings to make; all when none is named.
    names: Vec<Scenario>,
}

/// Plays each scenario in a browser of its own and writes its recording, once it replays as it was recorded.
///
/// # Errors
/// When there is no Chromium, a scenario does not go as planned, or its recording does not pass its check.
pub(crate) fn run(args: &Args) -> Result<()> {
    let names = if args.names.is_empty() { Scenario::value_variants() } else { &args.names };
    let runtime = tokio::runtime::Runtime::new()?;
    for scenario in names {
        let name = scenario.name();
        let recording = runtime.block_on(record(*scenario)).with_context(|| format!("recording {name}"))?;
        let path = shell::root().join(format!("fixtures/transcripts/{name}.cdp.jsonl"));
        std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
        std::fs::write(&path, &recording).with_context(|| format!("writing {}", path.display()))?;
        println!("{name}: {} lines", recording.iter().filter(|byte| **byte == b'\n').count());
    }
    Ok(())
}

async fn record(scenario: Scenario) -> Result<Vec<u8>> {
    let server = PageServer::start(scenario::site()).await?;
    let launch = chromium_launcher::Launch::new(chromium_launcher::find()?);
    let browser = launch.site_per_process(true).map_test_hosts(true).start().await?;
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("recording");
    let played = play(scenario, &server, browser.ws_url(), &file).await;
    let version = browser.version().to_owned();
    browser.stop().await?;
    played?;
    with_header(&std::fs::read(&file)?, scenario, &version)
}

async fn play(scenario: Scenario, server: &PageServer, url: &str, file: &Path) -> Result<()> {
    let mut options = StartOptions::from(scenario.options());
    options.recording = Some(file.into());
    let supervisor = Supervisor::start();
    let task = supervisor.get_or_start(scenario.name(), url, options).await?;
    let played = scenario.play(&Stage::new(task, server)).await;
    supervisor.stop(scenario.name()).await;
    played?;
    whole(file)
}

/// It replays as it was recorded, and tells of the end.
fn whole(file: &Path) -> Result<()> {
    let replayed = check(&std::fs::read(file)?)?;
    ensure!(
        replayed.snapshot.status.status == Status::Stopped,
        "the recording does not tell of the task's end"
    );
    Ok(())
}

/// Adds what only we know: why it was made, and with which browser.
fn with_header(recording: &[u8], scenario: Scenario, browser: &str) -> Result<Vec<u8>> {
    let reader = Reader::new(recording)?;
    let mut header = reader.header().clone();
    header.why = Some(scenario.why().to_owned());
    header.browser = Some(browser.to_owned());
    header.recorded_with = Some("cargo xtask transcripts".to_owned());
    let mut text = Vec::with_capacity(recording.len());
    let mut writer = Writer::begin(&header, &mut text);
    for line in reader {
        writer.line(&line?.line, &mut text);
    }
    Ok(text)
}
