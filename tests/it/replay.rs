//! Every recording of a real browser replays: it sends what was sent, and its events and last snapshot are reviewed.
//!
//! Adding a case is adding a scene to `tests/src/scenes`, or a file to `fixtures/transcripts`; `rows.rs` wants it in the docs.

use std::sync::Arc;

use serde_json::{Value, json};
use supervisor_core::{Command, Recorded, Snapshot};
use supervisor_transcript::{Driver, Entry, Reader, Replayed, check, drive};

/// So many lines apart are the places where recordings are cut and spoilt: primes, so that every kind of line has its turn.
const CUT_EVERY: usize = 5;
const SPOILT_EVERY: usize = 7;

/// Longer texts of events are cut; the snapshot has them in full.
const SHOWN: usize = 60;

#[test]
fn every_recording_sends_what_it_sent_and_ends_as_reviewed() {
    insta::glob!("../../fixtures/transcripts", "*.cdp.jsonl", |path| {
        let recording = std::fs::read(path).expect("a fixture");
        let replayed = check(&recording).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        insta::assert_json_snapshot!(summary(&replayed, &before_stop(&recording)));
    });
}

/// What a recording shows of a session that went on must be what it showed then.
#[test]
fn the_first_lines_of_a_recording_give_the_first_of_its_events() {
    for (name, recording) in recordings() {
        let whole = drive(&recording).expect("a recording").events;
        let lines: Vec<&str> = recording.split_inclusive('\n').collect();
        for end in (1..lines.len()).step_by(CUT_EVERY) {
            let part = drive(&lines[..end].concat()).expect("a recording").events;
            assert_eq!(part, whole[..part.len()], "{name}, {end} lines");
        }
    }
}

#[test]
fn a_line_less_twice_or_too_late_is_no_reason_to_fail_inside() {
    for (name, recording) in recordings() {
        let lines: Vec<&str> = recording.split_inclusive('\n').collect();
        for at in (1..lines.len()).step_by(SPOILT_EVERY) {
            for changed in spoiled(&lines, at) {
                let replayed = drive(&changed).expect("a recording");
                assert_eq!(replayed.counts.faults, [], "{name}, line {}", at + 1);
            }
        }
    }
}

/// The recording without one line, with it twice, and with it after the next.
fn spoiled(lines: &[&str], at: usize) -> [String; 3] {
    let (before, line, after) = (&lines[..at], &lines[at..=at], &lines[at + 1..]);
    let (next, rest) = after.split_at(after.len().min(1));
    [[before, after].concat(), [before, line, line, after].concat(), [before, next, line, rest].concat()]
        .map(|lines| lines.concat())
}

pub(crate) fn recordings() -> Vec<(String, String)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../fixtures/transcripts");
    let entries =
        std::fs::read_dir(folder).expect("a folder of recordings").map(|entry| entry.expect("a file").path());
    let found: Vec<_> = entries
        .filter(|path| path.to_string_lossy().ends_with(".cdp.jsonl"))
        .map(|path| (path.display().to_string(), std::fs::read_to_string(&path).expect("a recording")))
        .collect();
    assert!(!found.is_empty(), "no recordings in {folder}");
    found
}

/// What must be the same on every machine and in every build.
fn summary(replayed: &Replayed, before_stop: &Snapshot) -> Value {
    assert_eq!(replayed.counts.faults, [], "the machine failed");
    json!({
        "why": replayed.header.why,
        "events": replayed.events.iter().map(line).collect::<Vec<_>>(),
        "snapshot_before_stop": before_stop,
        "status": replayed.snapshot.status,
        "unknown_lines": replayed.counts.unknown_lines,
    })
}

/// The last snapshot that shows pages: a task that has stopped has none. That of the end when it was not stopped.
fn before_stop(recording: &[u8]) -> Arc<Snapshot> {
    let reader = Reader::new(recording).expect("a recording");
    let mut driver = Driver::new(reader.header());
    for line in reader.map(|line| line.expect("a whole line").line) {
        if matches!(line.entry, Entry::Host { command: Command::Stop, .. }) {
            break;
        }
        driver.feed(&line).transpose().expect("no fault");
    }
    driver.snapshot()
}

/// An event in one line: when, what, and those of its fields that are plain.
fn line(recorded: &Recorded) -> String {
    let event = serde_json::to_value(&recorded.event).expect("an event is JSON");
    let fields = event.as_object().expect("an event is an object").iter();
    let plain = fields.filter(|(name, _)| *name != "event").filter_map(|(name, value)| shown(name, value));
    let words = std::iter::once(event["event"].as_str().unwrap_or_default().to_owned()).chain(plain);
    format!("{:?} {}", recorded.at, words.collect::<Vec<_>>().join(" "))
}

fn shown(name: &str, value: &Value) -> Option<String> {
    let text = match value {
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => text[..text.floor_char_boundary(SHOWN)].to_owned(),
        Value::Null | Value::Array(_) | Value::Object(_) => return None,
    };
    Some(format!("{name}={text}"))
}
