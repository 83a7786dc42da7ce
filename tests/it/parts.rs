//! Recordings in parts: each part can be replayed without those before, and all together are the whole.

use serde_json::Value;
use supervisor_core::At;
use supervisor_transcript::{
    Driver, Entry, Header, Line, Reader, Redactor, Replayed, TranscriptError, Writer, check, drive, redact,
};

use crate::replay::recordings;

/// Lines between two parts: a prime, so that parts begin everywhere.
const LINES: usize = 23;

/// The recording in parts, as the recorder writes them: a part begins before an input.
fn in_parts(recording: &[u8]) -> Vec<Vec<u8>> {
    let reader = Reader::new(recording).expect("a recording");
    let header = reader.header().clone();
    let mut driver = Driver::new(&header);
    let mut parts = vec![Vec::new()];
    let mut writer = Writer::begin(&header, &mut parts[0]);
    let mut since = 0;
    for numbered in reader {
        let line = numbered.expect("a whole line").line;
        since += 1;
        if since > LINES && line.input().is_some() {
            since = 0;
            parts.push(beginning(&header, parts.len() + 1, &mut writer, &driver, line.at));
        }
        driver.feed(&line).transpose().expect("no fault");
        writer.line(&line, parts.last_mut().expect("a part"));
    }
    parts
}

fn beginning(header: &Header, number: usize, writer: &mut Writer, driver: &Driver, at: At) -> Vec<u8> {
    let mut part = Vec::new();
    let header = Header { part: u32::try_from(number).expect("few parts"), ..header.clone() };
    writer.part(&header, &mut part);
    writer.checkpoint(at, &driver.machine().checkpoint(), &mut part);
    part
}

fn assert_ends_like(part: &Replayed, whole: &Replayed, name: &str) {
    let from = whole.events.len() - part.events.len();
    assert_eq!(part.events, whole.events[from..], "{name}");
    assert_eq!(part.snapshot, whole.snapshot, "{name}");
    assert_eq!(part.counts.wrong_checkpoints, [], "{name}");
}

#[test]
fn all_parts_together_are_the_whole() {
    for (name, recording) in recordings() {
        let (whole, parts) = (drive(&recording).expect("whole"), in_parts(recording.as_bytes()));
        assert!(parts.len() > 1, "{name} has {} lines", recording.lines().count());
        let together = check(&parts.concat()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(together.events.len(), whole.events.len(), "{name}");
        assert_ends_like(&together, &whole, &name);
        assert_eq!(together.warnings, whole.warnings, "{name}");
    }
}

#[test]
fn the_last_parts_are_enough_for_the_end() {
    for (name, recording) in recordings() {
        let (whole, parts) = (drive(&recording).expect("whole"), in_parts(recording.as_bytes()));
        for first in 1..parts.len() {
            let last = check(&parts[first..].concat()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_ends_like(&last, &whole, &format!("{name} from part {}", first + 1));
            assert!(
                last.warnings.iter().any(|said| said.contains(&format!("begins with part {}", first + 1)))
            );
        }
    }
}

#[test]
fn a_part_that_is_missing_in_the_middle_is_told_and_bridged() {
    for (name, recording) in recordings() {
        let (whole, parts) = (drive(&recording).expect("whole"), in_parts(recording.as_bytes()));
        if parts.len() < 3 {
            continue;
        }
        let (first, last) = (&parts[0], parts.last().expect("parts"));
        let replayed = drive(&[&first[..], last].concat()).expect("parts");
        let of_last = drive(last).expect("a part").events;
        assert_eq!(replayed.events[replayed.events.len() - of_last.len()..], of_last, "{name}");
        assert_eq!(
            (replayed.snapshot, replayed.counts.wrong_checkpoints),
            (whole.snapshot, vec![]),
            "{name}"
        );
        assert!(replayed.warnings.iter().any(|said| said.contains("are missing")), "{name}");
    }
}

#[test]
fn redacted_parts_replay_to_the_redacted_events() {
    for (name, recording) in recordings() {
        let parts = in_parts(recording.as_bytes());
        for part in [parts.concat(), parts[1..].concat()] {
            let redactor = Redactor::of(&part);
            let expected = drive(&part).expect("parts").events;
            let expected: Vec<Value> = expected.iter().map(|event| redactor.event(event)).collect();
            let replayed = drive(&redact(&part).expect("parts")).expect("redacted parts");
            let events: Vec<Value> =
                replayed.events.iter().map(|it| serde_json::to_value(it).expect("JSON")).collect();
            let differs = events.iter().zip(&expected).find(|(event, expected)| event != expected);
            assert_eq!(differs, None, "{name}");
            assert_eq!(events.len(), expected.len(), "{name}");
            assert_eq!(replayed.counts.wrong_checkpoints, [], "{name}");
        }
    }
}

#[test]
fn after_lines_were_lost_a_checkpoint_heals() {
    let (name, recording) = recordings().swap_remove(0);
    let parts = in_parts(recording.as_bytes());
    let mut lossy: Vec<u8> =
        parts[0].split_inclusive(|byte| *byte == b'\n').take(9).flatten().copied().collect();
    Writer::begin(&Header::new(Default::default(), ""), &mut Vec::new()).lost(At(0), 5, &mut lossy);
    // The header of the second part is left out: the recorder goes on in the same file.
    lossy.extend(parts[1].split_inclusive(|byte| *byte == b'\n').skip(1).flatten());
    lossy.extend(parts[2..].concat());
    let replayed = drive(&lossy).expect("a recording");
    assert_eq!(replayed.snapshot, drive(&recording).expect("whole").snapshot, "{name}");
    assert_eq!((replayed.counts.lost_lines, replayed.counts.wrong_checkpoints), (5, vec![]));
    assert!(matches!(check(&lossy), Err(TranscriptError::Lost { lines: 5, .. })));
}

#[test]
fn a_checkpoint_that_is_not_what_the_replay_knows_fails_the_check() {
    let (_, recording) = recordings().swap_remove(0);
    let parts = in_parts(recording.as_bytes());
    let together = String::from_utf8(parts.concat()).expect("text");
    let changed = together.replacen(r#""was_connected":true"#, r#""was_connected":false"#, 1);
    assert_ne!(changed, together);
    let error = check(&changed).expect_err("another state");
    assert!(matches!(error, TranscriptError::Checkpoint(_)), "{error}");
    let unreadable = together.replacen(r#""was_connected":true"#, r#""was_connected":7"#, 1);
    let replayed = drive(&unreadable).expect("a recording");
    assert!(replayed.counts.wrong_checkpoints[0].message.contains("cannot be read"));
    assert_eq!(
        replayed.events,
        drive(&recording).expect("whole").events,
        "and the machine goes on as it was"
    );
}

#[test]
fn the_header_of_another_recording_is_an_unknown_line() {
    let mut all = recordings();
    let (first, second) = (all.swap_remove(0).1, all.swap_remove(0).1);
    let other = second.lines().next().expect("a header");
    let replayed = drive(&format!("{first}{other}\n")).expect("a recording");
    assert_eq!(replayed.counts.unknown_lines.count, 1);
    assert!(replayed.counts.unknown_lines.first[0].why.contains("another recording"));
    let cut = &other[..other.len() / 2];
    assert!(drive(&format!("{first}{cut}")).expect("a recording").damage.expect("damage").cut);
}

/// What is never written is nothing that the machine reads.
#[test]
fn a_recording_without_secrets_replays_to_the_same() {
    for (name, recording) in recordings() {
        let reader = Reader::new(&recording).expect("a recording");
        let mut written = Vec::new();
        let mut writer = Writer::begin(reader.header(), &mut written);
        for numbered in reader {
            let line: Line<'_> = numbered.expect("a whole line").line;
            let is_send = matches!(line.entry, Entry::Send { .. });
            let kept = line.clone().without_secrets();
            assert!(!is_send || kept == line, "{name}: nothing that the machine sends by itself is a secret");
            writer.line(&kept, &mut written);
        }
        assert_eq!(
            check(&written).expect("a recording").events,
            drive(&recording).expect("whole").events,
            "{name}"
        );
    }
}
