use std::time::Duration;

use serde_json::json;
use supervisor_core::{ConsoleLevel, Event, limits};

use crate::rig::Rig;

fn say(rig: &mut Rig, kind: &str, text: &str) {
    rig.event("SP", "Runtime.consoleAPICalled", json!({"type": kind, "args": [{"type": "string", "value": text}],
        "executionContextId": 1, "timestamp": 1.0, "stackTrace": {"callFrames": [{"functionName": "", "scriptId": "1",
        "url": "http://a.test/x.js", "lineNumber": 4, "columnNumber": 2}]}}));
}

#[test]
fn complaints_are_kept_with_their_frame_and_place_and_talk_is_only_counted() {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    say(&mut rig, "log", "talk");
    say(&mut rig, "error", "bad");
    let console = rig.machine.console(None);
    let entry = &console.errors[0];
    assert_eq!(
        (entry.text.as_str(), entry.line, entry.frame_id.as_ref().unwrap().as_str()),
        ("bad", Some(4), "P")
    );
    assert_eq!(rig.snapshot().counts.meters.console_calls, 1);
}

#[test]
fn an_exception_has_its_description() {
    let mut rig = Rig::with_page();
    rig.event(
        "SP",
        "Runtime.exceptionThrown",
        json!({"timestamp": 1.0, "exceptionDetails": {"exceptionId": 1,
        "text": "Uncaught", "lineNumber": 1, "columnNumber": 2,
        "exception": {"type": "object", "description": "TypeError: x is not a function"}}}),
    );
    let entry = rig.machine.console(None).errors[0].clone();
    assert_eq!(
        (entry.level, entry.text.as_str()),
        (ConsoleLevel::Exception, "TypeError: x is not a function")
    );
}

#[test]
fn a_flood_becomes_ten_events_a_second_and_leaves_the_other_ring_alone() {
    let mut rig = Rig::with_page();
    say(&mut rig, "warning", "careful");
    for n in 0..10_000 {
        say(&mut rig, "error", &format!("e{n}"));
        rig.advance(Duration::from_micros(100));
    }
    rig.advance(Duration::from_millis(100));
    let events = rig.events.iter().filter(|event| matches!(event, Event::ConsoleGathered { .. })).count();
    assert!((10..=13).contains(&events), "{events} events");
    let console = rig.machine.console(None);
    assert_eq!((console.errors.len(), console.warnings.len()), (limits::MAX_CONSOLE_ENTRIES, 1));
    assert_eq!(console.errors.last().unwrap().text, "e9999");
    assert_eq!(console.dropped, 10_000 - limits::MAX_CONSOLE_ENTRIES as u64);
}

#[test]
fn long_entries_are_cut_and_the_ring_is_bounded_in_bytes() {
    let mut rig = Rig::with_page();
    for _ in 0..limits::MAX_CONSOLE_ENTRIES {
        say(&mut rig, "error", &"x".repeat(10_000));
    }
    rig.advance(Duration::from_millis(100));
    let console = rig.machine.console(None);
    assert!(console.errors.iter().all(|entry| entry.truncated && entry.text.len() == limits::MAX_SHOWN_TEXT));
    assert!(console.errors.iter().map(|entry| entry.text.len()).sum::<usize>() <= limits::MAX_CONSOLE_BYTES);
}
