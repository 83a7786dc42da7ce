//! `cargo xtask transcripts`: the recordings in `fixtures/transcripts`, made anew with a real Chromium.

mod changes;

use std::panic::AssertUnwindSafe;
use std::path::Path;

use anyhow::{Context, Result, anyhow, bail, ensure};
use futures_util::FutureExt;
use integration_tests::scenes::{self, Played, Scene};
use supervisor_transcript::{Reader, Writer};

use crate::shell;

/// The recording that the demo makes of itself.
const DEMO: &str = "demo";

#[derive(clap::Args)]
pub(crate) struct Args {
    /// The recordings to make; all when none is named.
    names: Vec<String>,
}

/// Plays each scene in a browser of its own, writes its recording, once that replays to what was seen, and says what is
/// otherwise than in the recording that was there.
///
/// # Errors
/// When there is no such scene, no Chromium, a scene does not go as planned, or its recording gives something else.
pub(crate) fn run(args: &Args) -> Result<()> {
    let all = scenes::scenes();
    let known = |name: &&String| *name == DEMO || all.iter().any(|scene| scene.name == *name);
    if let Some(unknown) = args.names.iter().find(|name| !known(name)) {
        bail!("there is no scene {unknown:?}; they are in tests/src/scenes");
    }
    let is_wanted = |name: &str| args.names.is_empty() || args.names.iter().any(|wanted| wanted == name);
    let runtime = tokio::runtime::Runtime::new()?;
    let mut failed = Vec::new();
    for scene in all.iter().filter(|scene| is_wanted(scene.name)) {
        match runtime.block_on(record(scene)) {
            Ok(recording) => write(&scene.file(), &recording)?,
            Err(error) => {
                println!("{}: {error:#}", scene.name);
                failed.push(scene.name);
            }
        }
    }
    if is_wanted(DEMO) {
        write(&scenes::folder().join("demo.cdp.jsonl"), &demo()?)?;
    }
    ensure!(failed.is_empty(), "not recorded: {}", failed.join(", "));
    Ok(())
}

fn write(path: &Path, recording: &[u8]) -> Result<()> {
    let before = std::fs::read(path).unwrap_or_default();
    let name = path.file_name().unwrap_or_default().to_string_lossy().replace(".cdp.jsonl", "");
    println!("{name}: {} lines{}", lines(recording), changes::between(&before, recording));
    std::fs::write(path, recording).with_context(|| format!("writing {}", path.display()))
}

fn lines(recording: &[u8]) -> usize {
    recording.iter().filter(|byte| **byte == b'\n').count()
}

async fn record(scene: &Scene) -> Result<Vec<u8>> {
    // A scene is made of what tests are made of, and fails as they do.
    let played = AssertUnwindSafe(scenes::play(scene)).catch_unwind().await;
    let played = played.map_err(|_| anyhow!("it did not go as planned, see above"))?;
    scenes::agree(scene, &played).map_err(|differs| anyhow!("live is not replay: {differs}"))?;
    with_header(&played, scene)
}

/// Adds what only we know: why it was made, and with which browser.
fn with_header(played: &Played, scene: &Scene) -> Result<Vec<u8>> {
    let reader = Reader::new(&played.recording)?;
    let mut header = reader.header().clone();
    header.why = Some(scene.why.to_owned());
    header.browser = Some(played.browser.clone());
    header.recorded_with = Some("cargo xtask transcripts".to_owned());
    let mut text = Vec::with_capacity(played.recording.len());
    let mut writer = Writer::begin(&header, &mut text);
    for line in reader {
        writer.line(&line?.line, &mut text);
    }
    Ok(text)
}

fn demo() -> Result<Vec<u8>> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("demo.cdp.jsonl");
    let mut demo = shell::cargo(&["run", "--quiet", "-p", "supervisor-cli", "--", "demo", "--record"]);
    let told = shell::output(demo.arg(&file))?;
    ensure!(file.exists(), "the demo recorded nothing: {told}");
    Ok(std::fs::read(file)?)
}
