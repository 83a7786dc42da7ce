//! The docs say what is recorded: each row of their tables has its recordings, and each recording its row and its scene.

use std::collections::BTreeSet;
use std::path::Path;

use integration_tests::scenes::{folder, missing, scenes, table};
use supervisor_transcript::Reader;

const DOCS: &str = include_str!("../../docs/recordings.md");

/// The least that there must be.
const RECORDINGS: usize = 40;

const SUFFIX: &str = ".cdp.jsonl";

/// What is recorded by itself and is no scene.
const DEMO: &str = "demo";

fn recorded() -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder()).expect("a folder of recordings");
    let names = entries.map(|entry| entry.expect("a file").file_name().to_string_lossy().into_owned());
    names
        .map(|name| name.strip_suffix(SUFFIX).unwrap_or_else(|| panic!("{name} is no recording")).to_owned())
        .collect()
}

#[test]
fn each_row_has_its_recordings_and_each_recording_its_row() {
    let (rows, recorded) = (table(DOCS), recorded());
    assert_eq!(unmapped(&rows, &recorded), Vec::<String>::new());
    assert!(
        rows.len() > 30 && recorded.len() >= RECORDINGS,
        "{} rows, {} recordings",
        rows.len(),
        recorded.len()
    );
}

/// What is wrong, in words.
fn unmapped(rows: &[integration_tests::scenes::Row], recorded: &BTreeSet<String>) -> Vec<String> {
    let without = rows.iter().filter(|row| row.recordings.is_empty());
    let named: BTreeSet<String> = rows.iter().flat_map(|row| row.recordings.iter().cloned()).collect();
    without
        .map(|row| format!("no recording for the row `{}`", row.what))
        .chain(named.difference(recorded).map(|name| format!("a row names {name}, which is not there")))
        .chain(recorded.difference(&named).map(|name| format!("{name} has no row")))
        .collect()
}

#[test]
fn a_row_without_a_recording_and_a_recording_without_a_row_are_told() {
    let docs = "## The recordings of this repository\n| what | recordings |\n|---|---|\n| a | `one` `two` |\n| b | |\n## Next\n| c | `three` |\n";
    let recorded = ["two", "four"].map(str::to_owned).into();
    let expected = ["no recording for the row `b`", "a row names one, which is not there", "four has no row"];
    assert_eq!(unmapped(&table(docs), &recorded), expected);
}

#[test]
fn each_scene_is_recorded_and_its_recording_shows_what_it_is_there_for() {
    let mut names: BTreeSet<String> = [DEMO.to_owned()].into();
    for scene in scenes() {
        assert!(names.insert(scene.name.to_owned()), "two scenes are called {}", scene.name);
        let recording = std::fs::read(scene.file()).unwrap_or_else(|error| panic!("{}: {error}", scene.name));
        assert_eq!(missing(scene.shows, &recording), None, "{}", scene.name);
        has_header(&recording, scene.why, &scene.file());
    }
    assert_eq!(recorded(), names);
}

fn has_header(recording: &[u8], why: &str, path: &Path) {
    let reader = Reader::new(recording).expect("a recording");
    let header = reader.header();
    assert_eq!(header.why.as_deref(), Some(why), "{}: made by an earlier scene", path.display());
    assert!(header.browser.as_deref().is_some_and(|browser| browser.contains(' ')), "{}", path.display());
}
