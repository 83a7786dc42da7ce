//! What is otherwise in a recording that was made anew. Orders are races and ids are new each time, so kinds of lines and of
//! events are counted.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use integration_tests::scenes::Shown;
use supervisor::Event;
use supervisor_transcript::drive;

/// The kinds of which there are more or fewer, a line each; empty when there are none.
pub(super) fn between(before: &[u8], after: &[u8]) -> String {
    if before.is_empty() {
        return ", new".to_owned();
    }
    let (before, after) = (kinds(before), kinds(after));
    let mut said = String::new();
    for kind in before.keys().chain(after.keys().filter(|kind| !before.contains_key(*kind))) {
        let count = |kinds: &Kinds| kinds.get(kind).copied().unwrap_or_default();
        let (then, now) = (count(&before), count(&after));
        if then != now {
            // Writing into a string does not fail.
            let _ = write!(said, "\n  {kind}: {then} → {now}");
        }
    }
    said
}

type Kinds = BTreeMap<String, usize>;

fn kinds(recording: &[u8]) -> Kinds {
    let text = String::from_utf8_lossy(recording);
    let lines = text.lines().filter_map(Shown::of).map(|line| line.head);
    let events = drive(recording).map(|replayed| replayed.events).unwrap_or_default();
    let names = events.iter().map(|recorded| format!("event {}", name_of(&recorded.event)));
    let mut kinds = Kinds::new();
    for kind in lines.chain(names) {
        *kinds.entry(kind).or_default() += 1;
    }
    kinds
}

fn name_of(event: &Event) -> String {
    let event = serde_json::to_value(event).unwrap_or_default();
    event["event"].as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEMO: &str = include_str!("../../../../fixtures/transcripts/demo.cdp.jsonl");

    #[test]
    fn what_is_missing_is_counted_and_the_same_is_nothing() {
        assert_eq!(between(DEMO.as_bytes(), DEMO.as_bytes()), "");
        let without: String = DEMO
            .split_inclusive('\n')
            .filter(|line| !line.contains("dialogOpening") && !line.contains("DialogOpening"))
            .collect();
        let said = between(DEMO.as_bytes(), without.as_bytes());
        assert!(said.contains("recv Page.javascriptDialogOpening: ") && said.contains(" → 0"), "{said}");
        assert!(said.contains("event dialog_opened: "), "{said}");
        assert_eq!(between(b"", DEMO.as_bytes()), ", new");
    }
}
