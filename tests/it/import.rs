//! The protocol logs of Playwright and Puppeteer replay to what the two saw themselves, and so does our own recording of each run.
//!
//! `tests/driver-logs` makes them.

use std::path::Path;

use serde_json::{Value, json};
use supervisor_core::{Command, DialogView, FrameView, Machine, Snapshot};
use supervisor_transcript::{Driver, Entry, Reader, import};

#[test]
fn the_log_of_playwright_replays_to_what_it_saw() {
    assert_eq!(unknown_lines_when_replayed("playwright"), 0);
}

#[test]
fn the_log_of_puppeteer_replays_to_what_it_saw() {
    assert_eq!(unknown_lines_when_replayed("puppeteer-core"), 0);
}

/// Its logger cuts texts after 10,000 characters: two long scripts that Puppeteer sends.
#[test]
fn the_log_of_an_older_puppeteer_replays_to_what_it_saw() {
    assert_eq!(unknown_lines_when_replayed("puppeteer-core-24"), 2);
}

#[test]
fn our_own_recording_of_each_run_replays_to_the_same() {
    for name in ["playwright", "puppeteer-core", "puppeteer-core-24"] {
        let recording = read(&format!("{name}.cdp.jsonl"));
        supervisor_transcript::check(&recording).unwrap_or_else(|error| panic!("{name}: {error}"));
        // The driver answered, so for the task somebody else did.
        is_as_seen(name, Reader::new(&recording).expect("a recording"), "remote");
    }
}

fn unknown_lines_when_replayed(name: &str) -> u64 {
    let imported = import(&read(&format!("{name}.txt"))).expect("a log");
    is_as_seen(name, Reader::foreign(&imported.transcript).expect("a transcript"), "agent");
    imported.unknown.count
}

/// Its end, or the moment before it was stopped, is what the driver saw.
fn is_as_seen<'a>(name: &str, reader: Reader<impl Iterator<Item = &'a [u8]>>, closed_by: &str) {
    let mut driver = Driver::new(reader.header());
    for line in reader.map(|line| line.expect("a whole line").line) {
        if matches!(line.entry, Entry::Host { command: Command::Stop, .. }) {
            break;
        }
        driver.feed(&line).transpose().expect("no fault");
    }
    let snapshot = driver.snapshot();
    let seen: Value = serde_json::from_slice(&read(&format!("{name}.seen.json"))).expect("JSON");
    assert_eq!(pages(&snapshot, driver.machine()), sorted(&seen["pages"]), "pages of {name}");
    let dialogs: Vec<Value> = snapshot.recent_dialogs.iter().map(|it| dialog(it, closed_by)).collect();
    assert_eq!(Value::from(dialogs), seen["dialogs"], "dialogs of {name}");
}

/// The frames of each page, each with its URL and its parent's.
fn pages(snapshot: &Snapshot, machine: &Machine) -> Value {
    let frames = snapshot.pages.iter().map(|page| machine.frames(Some(&page.target_id)).expect("a page"));
    sorted(&frames.map(|frames| frames.iter().map(|it| frame(it, &frames)).collect::<Value>()).collect())
}

fn frame(frame: &FrameView, all: &[FrameView]) -> Value {
    let parent = all.iter().find(|it| Some(&it.frame_id) == frame.parent_frame_id.as_ref());
    json!({"url": frame.url, "parent": parent.map(|it| &it.url)})
}

/// Clients and trees have orders of their own.
fn sorted(pages: &Value) -> Value {
    let sort = |values: Vec<Value>| {
        let mut values = values;
        values.sort_by_key(Value::to_string);
        Value::from(values)
    };
    let frames = |page: &Value| sort(page.as_array().expect("frames").clone());
    sort(pages.as_array().expect("pages").iter().map(frames).collect())
}

fn dialog(dialog: &DialogView, by: &str) -> Value {
    let DialogView { kind, message, accepted, user_input, closed_by, .. } = dialog;
    assert_eq!(json!(closed_by), by);
    json!({"type": kind, "message": message, "accepted": accepted, "user_input": user_input})
}

fn read(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/logs");
    std::fs::read(folder.join(name)).expect("a fixture")
}
