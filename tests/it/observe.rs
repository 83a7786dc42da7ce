//! Every transcript of another client ends in the state that was worked out for it.
//!
//! Adding a case is adding a file to `fixtures/foreign` and its end to `fixtures/expected`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use supervisor_core::{DialogView, FrameView, Machine, PageView, Snapshot};
use supervisor_transcript::{Driver, Reader, observe, observe_until, replay};

#[test]
fn every_transcript_of_another_client_ends_as_worked_out() {
    let names = names("foreign", ".jsonl");
    assert_eq!(names, self::names("expected", ".json"), "a transcript and its end have one name");
    for name in names {
        let expected = std::fs::read_to_string(file("expected", &name, ".json")).expect("an expected end");
        let expected: Value = serde_json::from_str(&expected).expect("an expected end is JSON");
        let end = end_of(&transcript(&name));
        for part in ["pages", "pending", "recent", "dialogs_seen"] {
            assert_eq!(pretty(&end[part]), pretty(&expected[part]), "{part} of {name}");
        }
    }
}

#[test]
fn nothing_is_sent_and_every_line_is_understood() {
    for name in names("foreign", ".jsonl") {
        let transcript = transcript(&name);
        let replayed = replay(&transcript).expect("a transcript");
        assert_eq!(replayed.sends, [], "{name}");
        assert_eq!(replayed.counts.faults, [], "{name}");
        assert_eq!(replayed.counts.unknown_lines.count, 0, "{name}");
        let lines = transcript.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        assert_eq!(replayed.counts.inputs as usize, lines.count(), "{name}");
        // The recorder wrote a line of its own when the socket was closed.
        let closed = std::str::from_utf8(&transcript).expect("text").contains("\"#closed\"");
        assert_eq!(replayed.counts.meters.protocol_violations, u64::from(closed), "{name}");
    }
}

#[test]
fn a_moment_of_a_transcript_shows_what_was_open_then() {
    let transcript = transcript("alert");
    let open = observe_until(&transcript, supervisor_core::At(1_320_000)).expect("a transcript").snapshot;
    assert_eq!((open.pending_dialogs.len(), open.pending_dialogs[0].message.as_str()), (1, "hello"));
    let between = observe_until(&transcript, supervisor_core::At(1_700_000)).expect("a transcript").snapshot;
    assert_eq!((between.pending_dialogs.len(), between.recent_dialogs.len()), (0, 1));
}

#[test]
fn a_damaged_transcript_is_observed_up_to_the_damage() {
    let transcript = transcript("confirm");
    let cut = &transcript[..transcript.len() - 20];
    let replayed = observe(cut).expect("a transcript");
    assert_eq!(replayed.damage.map(|damage| (damage.line, damage.cut)), Some((44, true)));
}

fn end_of(transcript: &[u8]) -> Value {
    let snapshot = observe(transcript).expect("a transcript").snapshot;
    let reader = Reader::foreign(transcript).expect("a transcript");
    let mut driver = Driver::new(reader.header());
    for line in reader {
        driver.feed(&line.expect("a whole line").line).transpose().expect("no fault");
    }
    summary(&snapshot, driver.machine())
}

/// What another client's transcript leads to, as the expected ends are written.
pub(crate) fn summary(snapshot: &Snapshot, machine: &Machine) -> Value {
    json!({
        "pages": snapshot.pages.iter().map(|it| page(it, machine)).collect::<Vec<_>>(),
        "pending": snapshot.pending_dialogs.iter().map(pending).collect::<Vec<_>>(),
        "recent": snapshot.recent_dialogs.iter().map(recent).collect::<Vec<_>>(),
        "dialogs_seen": snapshot.counts.dialogs_seen,
    })
}

fn page(page: &PageView, machine: &Machine) -> Value {
    let mut frames = machine.frames(Some(&page.target_id)).expect("a page");
    frames.sort_by(|a, b| a.frame_id.cmp(&b.frame_id));
    json!({
        "target_id": page.target_id,
        "url": page.url,
        "crashed": page.crashed,
        "frames": frames.iter().map(frame).collect::<Vec<_>>(),
        "blocked": page.blocked.as_ref().map(|blocked| blocked.reason),
    })
}

fn frame(frame: &FrameView) -> Value {
    json!({
        "frame_id": frame.frame_id,
        "parent_frame_id": frame.parent_frame_id,
        "url": frame.url,
        "is_oopif": frame.is_oopif,
    })
}

fn pending(dialog: &DialogView) -> Value {
    let DialogView { kind, message, frame_id, answerable, .. } = dialog;
    json!({"type": kind, "message": message, "frame_id": frame_id, "answerable": answerable})
}

fn recent(dialog: &DialogView) -> Value {
    let DialogView { kind, message, frame_id, closed_by, accepted, reason, user_input, .. } = dialog;
    json!({
        "type": kind,
        "message": message,
        "frame_id": frame_id,
        "closed_by": closed_by,
        "accepted": accepted,
        "reason": reason,
        "user_input": user_input,
    })
}

fn pretty(value: &Value) -> String {
    serde_json::to_string_pretty(value).expect("JSON")
}

fn transcript(name: &str) -> Vec<u8> {
    std::fs::read(file("foreign", name, ".jsonl")).expect("a transcript")
}

fn file(folder: &str, name: &str, end: &str) -> PathBuf {
    self::folder(folder).join(format!("{name}{end}"))
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures").join(name)
}

fn names(folder: &str, end: &str) -> BTreeSet<String> {
    let entries = std::fs::read_dir(self::folder(folder)).expect("a folder of fixtures");
    let files = entries.map(|entry| entry.expect("a file").file_name().into_string().expect("a plain name"));
    let names: BTreeSet<_> = files.filter_map(|file| file.strip_suffix(end).map(str::to_owned)).collect();
    assert!(!names.is_empty(), "no fixtures in {folder}");
    names
}
