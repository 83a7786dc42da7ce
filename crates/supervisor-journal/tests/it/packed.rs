//! What is read of a block is what was written, for every event of real browsers that there is.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use supervisor_core::Recorded;
use supervisor_journal::Block;

/// The events of all recordings, each recording's its own run.
fn runs() -> Vec<Vec<Recorded>> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let recordings = files.filter(|file| file.extension().is_some_and(|it| it == "jsonl"));
    recordings
        .map(|file| supervisor_transcript::drive(&fs::read(file).unwrap()).unwrap().events)
        .filter(|events| !events.is_empty())
        .collect()
}

#[test]
fn events_of_real_browsers_are_read_as_they_were_written() {
    let mut kinds = BTreeSet::new();
    let (mut packed, mut as_json) = (0, 0);
    for events in runs() {
        let blocks = Block::of(&events);
        let read: Vec<Recorded> = blocks.iter().flat_map(Block::events).collect();
        assert!(read == events, "they differ");
        packed += blocks.iter().map(Block::size).sum::<usize>();
        for event in &events {
            let json = serde_json::to_value(event).unwrap();
            as_json += json.to_string().len();
            kinds.extend(json.get("event").and_then(Value::as_str).map(str::to_owned));
        }
    }
    assert!(kinds.len() > 40, "{kinds:?}");
    assert!(2 * packed < as_json, "{packed} bytes, {as_json} as JSON");
}
