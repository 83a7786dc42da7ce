//! Objects that come with console messages are let go: the page does not grow with what it logs.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::limits::OBJECTS_KEPT;
use supervisor_core::{Effect, Input};

use crate::rig::Rig;

const MOMENT: Duration = Duration::from_millis(1);

/// As Chromium writes it: the method first, and the session last.
fn logs(rig: &mut Rig, kind: &str, argument: &str) {
    let epoch = rig.epoch();
    let text = format!(
        r#"{{"method":"Runtime.consoleAPICalled","params":{{"type":"{kind}","args":[{argument}],"executionContextId":1,"timestamp":1.0}},"sessionId":"SP"}}"#
    );
    rig.input(Input::Received { epoch, text: &text });
}

const OBJECT: &str = r#"{"type":"object","className":"Object","description":"Object","objectId":"1.2.3"}"#;

fn released(rig: &Rig) -> Vec<Value> {
    rig.sent_as("Runtime.releaseObjectGroup").into_iter().cloned().collect()
}

#[test]
fn objects_of_talk_and_of_complaints_are_let_go_once_a_second() {
    for kind in ["log", "error"] {
        let mut rig = Rig::with_page();
        let before = rig.machine.holdings().passing_deadlines;
        for _ in 0..100 {
            logs(&mut rig, kind, OBJECT);
        }
        rig.advance(OBJECTS_KEPT - MOMENT);
        assert!(released(&rig).is_empty());
        assert_eq!(rig.machine.holdings().passing_deadlines, before + 1);
        logs(&mut rig, kind, OBJECT);
        rig.advance(MOMENT);
        assert_eq!(released(&rig).len(), 1, "{kind}");
        assert_eq!(released(&rig)[0]["sessionId"], "SP");
        assert_eq!(released(&rig)[0]["params"], json!({"objectGroup": "console"}));
        // What comes before it was done goes with them; a page that is blocked is asked once.
        logs(&mut rig, kind, OBJECT);
        rig.advance(10 * OBJECTS_KEPT);
        assert_eq!(released(&rig).len(), 1, "{kind}");
        rig.answer_all("Runtime.releaseObjectGroup", json!({}));
        logs(&mut rig, kind, OBJECT);
        rig.advance(OBJECTS_KEPT);
        assert_eq!(released(&rig).len(), 1, "{kind}: those that came later");
        let held = rig.machine.holdings();
        assert!(held.passing_deadlines <= before && held.deadlines > held.passing_deadlines, "{held:?}");
    }
}

#[test]
fn an_exception_has_an_object_too() {
    let mut rig = Rig::with_page();
    let details = json!({"exceptionId": 1, "text": "Uncaught", "lineNumber": 1, "columnNumber": 2,
        "exception": {"type": "object", "subtype": "error", "description": "Error: x", "objectId": "1.2.3"}});
    rig.event("SP", "Runtime.exceptionThrown", json!({"timestamp": 1.0, "exceptionDetails": details}));
    rig.advance(OBJECTS_KEPT);
    assert_eq!(released(&rig).len(), 1);
}

#[test]
fn without_objects_nothing_is_sent() {
    let mut rig = Rig::with_page();
    for kind in ["log", "error"] {
        logs(&mut rig, kind, r#"{"type":"string","value":"\"objectId\":\"1.2.3\""}"#);
    }
    rig.advance(10 * OBJECTS_KEPT);
    assert!(released(&rig).is_empty());
}

#[test]
fn a_page_that_is_gone_is_asked_nothing() {
    let mut rig = Rig::with_page();
    logs(&mut rig, "log", OBJECT);
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    let before = rig.effects.iter().filter(|it| matches!(it, Effect::Send { .. })).count();
    rig.advance(2 * OBJECTS_KEPT);
    assert_eq!(rig.effects.iter().filter(|it| matches!(it, Effect::Send { .. })).count(), before);
}
