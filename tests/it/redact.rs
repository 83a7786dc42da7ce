//! Every recording that is redacted replays to the redacted events, whole or with lines missing or doubled.

use serde_json::Value;
use supervisor_transcript::{Redactor, import, redact, replay};

#[test]
fn every_redacted_recording_replays_to_the_redacted_events() {
    for (name, recording) in recordings() {
        assert_same(&name, &recording);
    }
}

#[test]
fn a_recording_with_lines_missing_or_doubled_does_too() {
    for (name, recording) in recordings() {
        let lines: Vec<&[u8]> = recording.split_inclusive(|byte| *byte == b'\n').collect();
        // A prime, so that every kind of line takes its turn.
        for at in (1..lines.len()).step_by(101) {
            let without = [&lines[..at], &lines[at + 1..]].concat().concat();
            let doubled = [&lines[..at], &lines[at..=at], &lines[at..]].concat().concat();
            assert_same(&format!("{name} without line {}", at + 1), &without);
            assert_same(&format!("{name} with line {} twice", at + 1), &doubled);
        }
    }
}

#[test]
fn nothing_that_was_typed_or_shown_is_left() {
    let log = import(&read("logs/playwright.txt")).expect("a log").transcript;
    let redacted = String::from_utf8(redact(&log).expect("a transcript")).expect("text");
    for text in ["an alert", "from another process", "your name", "nobody", "typed"] {
        assert!(!redacted.contains(text), "{text}");
    }
    assert_eq!(redacted.len(), log.len());
}

fn assert_same(name: &str, recording: &[u8]) {
    let redactor = Redactor::of(recording);
    let original = replay(recording).expect("a recording").events;
    let expected: Vec<Value> = original.iter().map(|event| redactor.event(event)).collect();
    let replayed = replay(&redact(recording).expect("a recording")).expect("a recording").events;
    let events: Vec<Value> = replayed.iter().map(|it| serde_json::to_value(it).expect("JSON")).collect();
    let differs = events.iter().zip(&expected).find(|(event, expected)| event != expected);
    assert_eq!(differs, None, "{name}");
    assert_eq!(events.len(), expected.len(), "{name}");
}

fn recordings() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for folder in ["transcripts", "foreign"] {
        for entry in std::fs::read_dir(path(folder)).expect("a folder of recordings") {
            let name = entry.expect("a file").file_name().into_string().expect("a plain name");
            if name.ends_with(".jsonl") {
                found.push((name.clone(), read(&format!("{folder}/{name}"))));
            }
        }
    }
    assert!(found.len() > 40, "{} recordings", found.len());
    found
}

fn read(name: &str) -> Vec<u8> {
    std::fs::read(path(name)).expect("a fixture")
}

fn path(name: &str) -> String {
    format!("{}/../fixtures/{name}", env!("CARGO_MANIFEST_DIR"))
}
