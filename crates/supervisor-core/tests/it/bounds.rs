//! Bounds that no other test is at: what happens there, and one beyond it.

use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::limits::{
    CONSOLE_GATHER, MAX_CALL_TIMEOUT, MAX_FRAMES, MAX_GONE_FRAMES, MAX_OBSERVED_FLIGHTS,
    MAX_RELEASED_SESSIONS, MAX_RESULT_WAITERS, MAX_SEEN_AT_ONCE, MAX_SEEN_ENDS, STOP_WAIT,
};
use supervisor_core::{Code, Command, Effect, Event, FrameId, Input, Options, Place};

use crate::rig::Rig;

const MOMENT: Duration = Duration::from_millis(1);

#[test]
fn what_the_console_says_after_the_first_is_gathered_for_so_long() {
    let mut rig = Rig::with_page();
    let say = |rig: &mut Rig| {
        let params = json!({"type": "error", "args": [{"type": "string", "value": "bad"}], "executionContextId": 1,
            "timestamp": 1.0});
        rig.event("SP", "Runtime.consoleAPICalled", params);
    };
    let told = |rig: &Rig| rig.events.iter().filter(|it| matches!(it, Event::ConsoleGathered { .. })).count();
    say(&mut rig);
    assert_eq!(told(&rig), 1, "the first at once");
    say(&mut rig);
    rig.advance(CONSOLE_GATHER - MOMENT);
    assert_eq!(told(&rig), 1);
    rig.advance(MOMENT);
    assert_eq!(told(&rig), 2);
}

#[test]
fn a_frame_that_went_long_ago_is_one_that_never_was() {
    let mut rig = Rig::with_page();
    let name = |n: usize| format!("F{n}");
    for n in 0..=MAX_GONE_FRAMES {
        rig.event("SP", "Page.frameAttached", json!({"frameId": name(n), "parentFrameId": "P"}));
        rig.event("SP", "Page.frameDetached", json!({"frameId": name(n), "reason": "remove"}));
    }
    let mut code = |n: usize| {
        let call = rig.call(Place::Frame(FrameId::from(name(n).as_str())), "DOM.getDocument");
        rig.code(call)
    };
    assert_eq!((code(1), code(MAX_GONE_FRAMES)), (Code::FrameGone, Code::FrameGone));
    assert_eq!(code(0), Code::FrameNotFound);
}

#[test]
fn a_session_that_was_let_go_long_ago_is_one_that_never_was() {
    let mut rig = Rig::with_page();
    for n in 0..=MAX_RELEASED_SESSIONS {
        rig.attach_page(&format!("T{n}"), &format!("S{n}"), json!({}));
        rig.event("", "Target.detachedFromTarget", json!({"sessionId": format!("S{n}")}));
    }
    let counts = |rig: &Rig| (rig.machine.meters().late_messages, rig.machine.meters().protocol_violations);
    let before = counts(&rig);
    rig.event("S1", "Page.frameDetached", json!({"frameId": "X", "reason": "remove"}));
    assert_eq!(counts(&rig), (before.0 + 1, before.1));
    rig.event("S0", "Page.frameDetached", json!({"frameId": "X", "reason": "remove"}));
    assert_eq!(counts(&rig), (before.0 + 1, before.1 + 1));
}

/// Without the checks of the rig, which look at all of it each time.
fn received(rig: &mut Rig, message: &Value) {
    let (epoch, text) = (rig.epoch(), message.to_string());
    rig.machine.step(rig.now, Input::Received { epoch, text: &text });
}

#[test]
fn frames_beyond_the_bound_are_not_taken_in_and_counted() {
    let mut rig = Rig::with_page();
    let attached = |n: usize| {
        let params = json!({"frameId": format!("F{n}"), "parentFrameId": "P"});
        json!({"method": "Page.frameAttached", "sessionId": "SP", "params": params})
    };
    for n in 1..MAX_FRAMES {
        received(&mut rig, &attached(n));
    }
    assert_eq!((rig.machine.holdings().frames, rig.machine.meters().dropped), (MAX_FRAMES, 0));
    received(&mut rig, &attached(MAX_FRAMES));
    assert_eq!((rig.machine.holdings().frames, rig.machine.meters().dropped), (MAX_FRAMES, 1));
}

#[test]
fn commands_of_an_observed_client_beyond_the_bound_are_counted() {
    let mut rig = Rig::observing();
    let command = |id: usize| json!({"id": id, "method": "Browser.getVersion", "params": {}}).to_string();
    for id in 1..=MAX_OBSERVED_FLIGHTS {
        rig.machine.step(rig.now, Input::Observed { text: &command(id) });
    }
    assert_eq!((rig.machine.holdings().flights, rig.machine.meters().dropped), (MAX_OBSERVED_FLIGHTS, 0));
    rig.machine.step(rig.now, Input::Observed { text: &command(MAX_OBSERVED_FLIGHTS + 1) });
    assert_eq!((rig.machine.holdings().flights, rig.machine.meters().dropped), (MAX_OBSERVED_FLIGHTS, 1));
}

#[test]
fn so_many_may_wait_for_one_late_result() {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    let held = rig.eval("P");
    rig.opening("SP", "P", "alert", "x");
    let call_id = rig.failure(held).detail.call_id.unwrap();
    rig.closed("SP", "P", true, "");
    for _ in 0..MAX_RESULT_WAITERS {
        let waits = rig.host(Command::Result { call_id, timeout_ms: None });
        assert_eq!(rig.outcome(waits), None);
    }
    let refused = rig.host(Command::Result { call_id, timeout_ms: None });
    assert_eq!(rig.code(refused), Code::Refused);
}

#[test]
fn a_deadline_may_be_a_day_and_no_longer() {
    let mut rig = Rig::with_page();
    let day = u64::try_from(MAX_CALL_TIMEOUT.as_millis()).unwrap();
    let mut call = |timeout_ms| {
        let (place, params) = (Place::Active, "{}".to_owned());
        let method = "DOM.getDocument".to_owned();
        rig.host(Command::Call { place, method, params, timeout_ms: Some(timeout_ms) })
    };
    let (longest, longer) = (call(day), call(day + 1));
    assert_eq!(rig.outcome(longest), None);
    assert_eq!(rig.code(longer), Code::InvalidArgument);
}

#[test]
fn stop_waits_so_long_for_its_answers_to_be_taken() {
    let mut rig = Rig::with_page_and(Options::default());
    rig.opening("SP", "P", "confirm", "?");
    rig.host(Command::Stop);
    assert_eq!(rig.sent_as("Page.handleJavaScriptDialog").len(), 1);
    let has_ended = |rig: &Rig| rig.effects.iter().any(|it| matches!(it, Effect::Ended));
    rig.advance(STOP_WAIT - MOMENT);
    assert!(!has_ended(&rig));
    rig.advance(MOMENT);
    assert!(has_ended(&rig));
}

#[test]
fn the_guard_remembers_so_many_dialogs_of_a_page_and_so_many_ends() {
    let mut rig = Rig::guarded_page();
    let watch = |rig: &Rig| rig.machine.state().guard.watches["P"].clone();
    for n in 0..=MAX_SEEN_AT_ONCE {
        rig.guard_opening(&format!("F{n}"), "confirm", "?");
    }
    let showing = watch(&rig).showing;
    assert_eq!(showing.len(), MAX_SEEN_AT_ONCE);
    assert_eq!(showing[0].dialog.frame, Some("F1".into()), "the oldest made room");

    let mut rig = Rig::guarded_page();
    for n in 0..=MAX_SEEN_ENDS {
        rig.guard_opening(&format!("F{n}"), "confirm", "?");
        rig.guard_closed(&format!("F{n}"), true);
    }
    let ends = watch(&rig).ends;
    assert_eq!(ends.len(), MAX_SEEN_ENDS);
    assert_eq!(ends[0].dialog.frame, Some("F1".into()), "the oldest made room");
}
