use std::time::Duration;

use serde_json::json;
use supervisor_core::limits::CONTEXT_WAIT;
use supervisor_core::{Body, Code, Command, Effect, Outcome, Place};

use crate::rig::{Rig, accept};

fn with_frames() -> Rig {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    rig.event("SP", "Page.frameAttached", json!({"frameId": "kid", "parentFrameId": "P"}));
    rig.context("SP", "kid", 2);
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.navigated("SB", "B", Some("P"), "http://b.test/");
    rig.context("SB", "B", 1);
    rig
}

#[test]
fn each_frame_is_evaluated_in_its_own_context() {
    let mut rig = with_frames();
    for (frame, session, context) in [("P", "SP", "U-SP-1"), ("kid", "SP", "U-SP-2"), ("B", "SB", "U-SB-1")] {
        rig.eval(frame);
        let sent = rig.sent.last().unwrap();
        assert_eq!(
            (&sent["sessionId"], &sent["params"]["uniqueContextId"]),
            (&json!(session), &json!(context))
        );
    }
}

#[test]
fn a_value_is_a_slice_of_the_reply() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    let id = rig.last_id("Runtime.evaluate");
    let text = format!(r#"{{"id":{id},"result":{{"result":{{"type":"object","value":{{"a":[1]}}}}}}}}"#);
    let epoch = rig.epoch();
    rig.input(supervisor_core::Input::Received { epoch, text: &text });
    let Some(Outcome::Value { body: Body::Slice(range), kind }) = rig.outcome(req) else { panic!("a value") };
    assert_eq!((&text[range.clone()], kind.as_str()), (r#"{"a":[1]}"#, "object"));
}

#[test]
fn what_was_thrown_is_told_with_its_place() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    let id = rig.last_id("Runtime.evaluate");
    let thrown = json!({"type": "object", "subtype": "error", "description": "Error: no\n    at x"});
    rig.reply(
        id,
        json!({"result": thrown, "exceptionDetails": {"exceptionId": 1, "text": "Uncaught",
        "lineNumber": 3, "columnNumber": 7, "exception": thrown}}),
    );
    let exception = rig.failure(req).detail.exception.clone().unwrap();
    assert_eq!((exception.text.as_str(), exception.line, exception.column), ("Error: no\n    at x", 3, 7));
}

#[test]
fn a_raw_call_goes_to_the_session_of_the_frame_or_says_why_not() {
    let mut rig = with_frames();
    rig.call(Place::Frame("B".into()), "DOM.getDocument");
    assert_eq!(rig.sent.last().unwrap()["sessionId"], "SB");
    rig.call(Place::Frame("P".into()), "DOM.getDocument");
    assert_eq!(rig.sent.last().unwrap()["sessionId"], "SP");
    let local = rig.call(Place::Frame("kid".into()), "DOM.getDocument");
    let never = rig.call(Place::Frame("nobody".into()), "DOM.getDocument");
    rig.event("SP", "Page.frameDetached", json!({"frameId": "kid", "reason": "remove"}));
    let gone = rig.call(Place::Frame("kid".into()), "DOM.getDocument");
    let codes = [rig.code(local), rig.code(never), rig.code(gone)];
    assert_eq!(codes, [Code::NotAnOopif, Code::FrameNotFound, Code::FrameGone]);
}

#[test]
fn while_a_dialog_is_open_only_what_needs_its_renderer_is_blocked() {
    let mut rig = with_frames();
    rig.opening("SP", "B", "confirm", "in b");
    let blocked = rig.eval("B");
    assert_eq!(rig.code(blocked), Code::BlockedByDialog);
    assert_eq!(rig.failure(blocked).detail.dialog.as_ref().unwrap().id.0, 1);
    let main = rig.eval("P");
    assert_eq!(rig.outcome(main), None, "the page's own renderer runs");
    rig.respond(None, accept());
    rig.closed("SP", "B", true, "");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    rig.opening("SP", "kid", "alert", "in the page");
    let codes = [rig.eval("P"), rig.eval("kid"), rig.call(Place::Active, "Input.dispatchMouseEvent")];
    assert!(codes.iter().all(|req| rig.code(*req) == Code::BlockedByDialog));
    let other = rig.eval("B");
    let browser = rig.call(Place::Active, "Target.getTargets");
    assert_eq!((rig.outcome(other), rig.outcome(browser)), (None, None));
}

#[test]
fn a_sandboxed_frame_of_the_pages_own_site_runs_while_the_page_has_a_dialog() {
    let mut rig = with_frames();
    for (frame, session) in [("X", "SX"), ("Y", "SY")] {
        rig.attach_iframe("SP", frame, session, "P");
        rig.navigated(session, frame, Some("P"), "http://a.test/boxed");
        rig.context_of(session, frame, 1, "://");
    }
    rig.opening("SP", "P", "alert", "in the page");
    let boxed = rig.eval("X");
    assert_eq!(rig.outcome(boxed), None);
    rig.closed("SP", "P", true, "");
    rig.opening("SP", "Y", "alert", "in a sandbox");
    let neighbour = rig.eval("X");
    assert_eq!(rig.code(neighbour), Code::BlockedByDialog, "the site's sandboxed frames share a process");
}

#[test]
fn a_popup_that_can_script_its_opener_is_blocked_with_it() {
    let mut rig = with_frames();
    rig.attach_page("Q", "SQ", json!({"openerId": "P", "canAccessOpener": true}));
    rig.navigated("SQ", "Q", None, "http://a.test:8080/popup");
    rig.attach_page("R", "SR", json!({}));
    rig.navigated("SR", "R", None, "http://a.test/");
    rig.opening("SQ", "Q", "prompt", "in the popup");
    let opener = rig.eval("P");
    assert_eq!(rig.code(opener), Code::BlockedByDialog);
    rig.context("SR", "R", 1);
    let stranger = rig.eval("R");
    assert_eq!(rig.outcome(stranger), None);
}

#[test]
fn a_dialog_that_opens_during_a_call_ends_the_request_and_keeps_the_late_result() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    let id = rig.last_id("Runtime.evaluate");
    rig.opening("SP", "P", "alert", "from the expression");
    assert_eq!(rig.code(req), Code::DialogOpened);
    let call = rig.failure(req).detail.call_id.unwrap();
    let result = |rig: &mut Rig| rig.host(Command::Result { call_id: call, timeout_ms: None });
    let still = result(&mut rig);
    assert_eq!(rig.code(still), Code::DialogOpened);
    rig.advance(Duration::from_secs(200));
    rig.respond(None, accept());
    rig.closed("SP", "P", true, "");
    let handle = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(handle, json!({}));
    rig.reply(id, json!({"result": {"type": "number", "value": 42}}));
    assert!(
        rig.effects.iter().any(|effect| matches!(effect, Effect::Keep { call: kept, .. } if *kept == call))
    );
    let late = result(&mut rig);
    assert!(rig.effects.iter().any(|effect| matches!(effect, Effect::Serve { req, .. } if *req == late)));
    let again = result(&mut rig);
    assert_eq!(rig.code(again), Code::UnknownCall);
}

#[test]
fn a_request_for_a_late_result_waits_for_it() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    let id = rig.last_id("Runtime.evaluate");
    rig.opening("SP", "P", "alert", "x");
    let call = rig.failure(req).detail.call_id.unwrap();
    rig.closed("SP", "P", true, "");
    let waits = rig.host(Command::Result { call_id: call, timeout_ms: Some(1000) });
    let impatient = rig.host(Command::Result { call_id: call, timeout_ms: Some(10) });
    rig.advance(Duration::from_millis(20));
    assert_eq!(rig.code(impatient), Code::Timeout);
    rig.reply(id, json!({"result": {"type": "undefined"}}));
    assert!(matches!(rig.outcome(waits), Some(Outcome::Value { .. })));
}

#[test]
fn a_call_whose_request_is_open_has_no_late_result() {
    let mut rig = with_frames();
    let own = rig.eval("P");
    let call_id = *rig.machine.state().calls.open.keys().next().unwrap();
    let other = rig.host(Command::Result { call_id, timeout_ms: None });
    assert_eq!(rig.code(other), Code::UnknownCall);
    let id = rig.last_id("Runtime.evaluate");
    rig.reply(id, json!({"result": {"type": "undefined"}}));
    assert!(matches!(rig.outcome(own), Some(Outcome::Value { .. })));
}

#[test]
fn the_deadline_stands_still_while_a_dialog_holds_the_call() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    rig.advance(Duration::from_secs(20));
    rig.opening("SP", "P", "alert", "x");
    let call = rig.failure(req).detail.call_id.unwrap();
    rig.advance(Duration::from_secs(100));
    rig.closed("SP", "P", true, "");
    rig.advance(Duration::from_secs(9));
    assert!(rig.machine.state().calls.open.contains_key(&call));
    rig.advance(Duration::from_secs(2));
    assert!(rig.machine.state().calls.open.is_empty());
}

#[test]
fn the_deadline_ends_a_call_and_a_later_reply_is_dropped() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    let id = rig.last_id("Runtime.evaluate");
    rig.advance(Duration::from_secs(30));
    assert_eq!(rig.code(req), Code::Timeout);
    rig.reply(id, json!({"result": {"type": "number", "value": 1}}));
    assert_eq!(rig.code(req), Code::Timeout);
}

#[test]
fn calls_that_are_never_answered_leave_nothing_in_flight() {
    let mut rig = with_frames();
    let before = rig.machine.state().flights.len();
    for _ in 0..10 {
        rig.eval("P");
        rig.call(Place::Active, "DOM.getDocument");
    }
    rig.advance(Duration::from_secs(30));
    let left = rig.eval("P");
    rig.host(Command::Cancel { req: left });
    assert!(rig.machine.state().calls.open.is_empty());
    assert_eq!(rig.machine.state().flights.len(), before);
}

/// Numbers of contexts are used again after a change of process, and the old ones may not have been taken back.
#[test]
fn a_context_number_that_is_used_again_leaves_the_frame_that_had_it() {
    let mut rig = with_frames();
    rig.context("SP", "kid", 1);
    let sent = rig.sent_as("Runtime.evaluate").len();
    rig.eval("P");
    assert_eq!(rig.sent_as("Runtime.evaluate").len(), sent, "sent to the document of another frame");
}

#[test]
fn what_happens_to_the_frame_ends_its_call_with_its_own_code() {
    let mut rig = with_frames();
    let removed = rig.eval("B");
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    assert_eq!(rig.code(removed), Code::FrameGone);

    let mut rig = with_frames();
    let crashed = rig.eval("B");
    rig.event("SB", "Inspector.targetCrashed", json!({}));
    assert_eq!(rig.code(crashed), Code::TargetCrashed);
    let after = rig.eval("B");
    assert_eq!(rig.code(after), Code::TargetCrashed);

    let mut rig = with_frames();
    let navigated = rig.eval("kid");
    rig.event("SP", "Runtime.executionContextDestroyed", json!({"executionContextId": 2}));
    assert_eq!(rig.code(navigated), Code::Navigated);

    let mut rig = with_frames();
    let closed = rig.call(Place::Active, "DOM.getDocument");
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    assert_eq!(rig.code(closed), Code::PageGone);
}

#[test]
fn a_detach_ends_the_call_when_it_is_known_whether_the_frame_is_gone() {
    let swap = |rig: &mut Rig| {
        rig.answer_all(
            "Page.getFrameTree",
            json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
        );
        rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "swap"}));
        let req = rig.eval("B");
        rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": "SB"}));
        assert_eq!(rig.outcome(req), None);
        req
    };
    let mut rig = with_frames();
    let home = swap(&mut rig);
    rig.event("SP", "Page.frameAttached", json!({"frameId": "B", "parentFrameId": "P"}));
    assert_eq!(rig.code(home), Code::Navigated);
    let mut rig = with_frames();
    let gone = swap(&mut rig);
    rig.answer_all(
        "Page.getFrameTree",
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}}}),
    );
    assert_eq!(rig.code(gone), Code::FrameGone);
}

#[test]
fn an_expression_waits_for_a_frame_that_is_between_two_documents() {
    let mut rig = with_frames();
    rig.event("SP", "Runtime.executionContextsCleared", json!({}));
    let waits = rig.eval("P");
    assert_eq!(rig.outcome(waits), None);
    assert!(rig.sent_as("Runtime.evaluate").is_empty());
    rig.context("SP", "P", 9);
    assert_eq!(rig.sent.last().unwrap()["params"]["uniqueContextId"], "U-SP-9");
    rig.event("SP", "Runtime.executionContextsCleared", json!({}));
    assert_eq!(rig.code(waits), Code::Navigated);
    let never = rig.eval("P");
    rig.advance(CONTEXT_WAIT - Duration::from_millis(1));
    assert_eq!(rig.outcome(never), None);
    rig.advance(Duration::from_millis(1));
    assert_eq!(rig.code(never), Code::Navigated);
}

#[test]
fn an_expression_is_not_sent_to_a_document_that_is_being_left() {
    let started = |rig: &mut Rig| {
        rig.event(
            "SP",
            "Page.frameStartedNavigating",
            json!({"frameId": "P", "url": "http://x/", "loaderId": "L",
            "navigationType": "differentDocument"}),
        );
        let req = rig.eval("P");
        assert!(rig.sent_as("Runtime.evaluate").is_empty());
        req
    };
    let mut rig = with_frames();
    let req = started(&mut rig);
    rig.event("SP", "Runtime.executionContextsCleared", json!({}));
    rig.navigated("SP", "P", None, "http://x/");
    rig.context("SP", "P", 5);
    assert_eq!(rig.sent.last().unwrap()["params"]["uniqueContextId"], "U-SP-5");
    assert_eq!(rig.outcome(req), None);
    // Leaving is not that easy: the page asks.
    let mut rig = with_frames();
    let req = started(&mut rig);
    rig.opening("SP", "P", "beforeunload", "");
    assert_eq!(rig.code(req), Code::BlockedByDialog);
    // A navigation that comes to nothing leaves the present document.
    let mut rig = with_frames();
    started(&mut rig);
    rig.event("SP", "Page.frameStoppedLoading", json!({"frameId": "P"}));
    assert_eq!(rig.sent_as("Runtime.evaluate")[0]["params"]["uniqueContextId"], "U-SP-1");
}

#[test]
fn a_commit_that_was_before_the_session_is_learnt_from_its_listing() {
    let mut rig = Rig::with_page();
    rig.event("SP", "Page.frameAttached", json!({"frameId": "X", "parentFrameId": "P"}));
    rig.event(
        "SP",
        "Page.frameStartedNavigating",
        json!({"frameId": "X", "url": "about:srcdoc", "loaderId": "L2", "navigationType": "differentDocument"}),
    );
    rig.attach_iframe("SP", "X", "SX", "P");
    rig.context_of("SX", "X", 1, "://");
    let waits = rig.eval("X");
    assert!(rig.sent_as("Runtime.evaluate").is_empty());
    let listing = |loader: &str| json!({"frameTree": {"frame": {"id": "X", "parentId": "P", "loaderId": loader, "url": "about:srcdoc", "name": "x"}}});
    let asked =
        rig.sent_as("Page.getFrameTree").iter().find(|sent| sent["sessionId"] == "SX").unwrap()["id"].clone();
    rig.reply(asked.as_u64().unwrap(), listing("L2"));
    assert_eq!(rig.sent.last().unwrap()["params"]["uniqueContextId"], "U-SX-1");
    assert_eq!(rig.outcome(waits), None);
    let next = rig.eval("X");
    assert_eq!(rig.sent_as("Runtime.evaluate").len(), 2);
    assert_eq!(rig.outcome(next), None);
}

#[test]
fn the_browsers_errors_get_the_code_that_tells_what_to_do() {
    for (code, message, expected) in [
        (-32001, "Session with given id not found.", Code::SessionClosed),
        (-32000, "Inspected target navigated or closed", Code::Navigated),
        (-32000, "Execution context was destroyed.", Code::Navigated),
        (-32601, "'Foo.bar' wasn't found", Code::CdpError),
    ] {
        let mut rig = with_frames();
        let req = rig.call(Place::Active, "Foo.bar");
        let id = rig.last_id("Foo.bar");
        rig.reply_error(id, code, message);
        assert_eq!(rig.code(req), expected);
        assert!(rig.failure(req).message.contains("Foo.bar"));
        assert_eq!(rig.failure(req).detail.frame_id, Some("P".into()));
    }
}

#[test]
fn what_would_break_supervision_is_refused_and_a_raw_answer_is_an_answer() {
    let mut rig = with_frames();
    for method in [
        "Page.disable",
        "Runtime.disable",
        "Target.setAutoAttach",
        "Target.detachFromTarget",
        "Browser.close",
    ] {
        let req = rig.call(Place::Active, method);
        assert_eq!(rig.code(req), Code::Refused, "{method}");
        assert!(rig.sent_as(method).iter().all(|sent| sent["params"] != json!({})));
    }
    rig.opening("SP", "P", "confirm", "?");
    let params = json!({"accept": true}).to_string();
    let method = "Page.handleJavaScriptDialog".to_owned();
    let req = rig.host(Command::Call { place: Place::Active, method, params, timeout_ms: None });
    rig.closed("SP", "P", true, "");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { accepted: true, .. })));
}

#[test]
fn wrong_arguments_are_told_and_send_nothing() {
    let mut rig = with_frames();
    let sent = rig.sent.len();
    let call = |method: &str, params: &str, timeout_ms| Command::Call {
        place: Place::Active,
        method: method.into(),
        params: params.into(),
        timeout_ms,
    };
    for command in [
        call("navigate", "{}", None),
        call("Page.navigate", "[1]", None),
        call("Page.navigate", "{", None),
        call("Page.navigate", "{}", Some(u64::MAX)),
    ] {
        let req = rig.host(command);
        assert_eq!(rig.code(req), Code::InvalidArgument);
    }
    assert_eq!(rig.sent.len(), sent);
}

#[test]
fn patterns_of_a_host_are_bounded() {
    let patterns = |bytes: usize| {
        let frame = r#"{"patterns":[{"urlPattern":""}]}"#;
        frame.replace("\":\"\"", &format!("\":\"{}\"", "x".repeat(bytes - frame.len())))
    };
    let mut rig = with_frames();
    let limit = supervisor_core::limits::MAX_HOST_PATTERNS;
    for (bytes, is_sent) in [(limit, true), (limit + 1, false)] {
        let params = patterns(bytes);
        assert_eq!(params.len(), bytes);
        let command =
            Command::Call { place: Place::Active, method: "Fetch.enable".into(), params, timeout_ms: None };
        let req = rig.host(command);
        assert_eq!(rig.outcome(req).is_none(), is_sent, "{bytes} bytes");
    }
}

#[test]
fn a_caller_that_left_is_not_answered() {
    let mut rig = with_frames();
    let req = rig.eval("P");
    let id = rig.last_id("Runtime.evaluate");
    rig.host(Command::Cancel { req });
    rig.reply(id, json!({"result": {"type": "undefined"}}));
    assert_eq!(rig.outcome(req), None);
    assert!(rig.machine.state().calls.open.is_empty() && rig.machine.state().calls.by_req.is_empty());
}

#[test]
fn calls_are_bounded_and_one_too_many_is_refused() {
    let mut rig = with_frames();
    for _ in 0..supervisor_core::limits::MAX_CALLS {
        rig.call(Place::Active, "DOM.getDocument");
    }
    let req = rig.call(Place::Active, "DOM.getDocument");
    assert_eq!(rig.code(req), Code::Refused);
}

#[test]
fn a_page_can_be_freed_where_calls_have_no_room_and_that_is_bounded_too() {
    use supervisor_core::limits::{MAX_CALLS, MAX_RECOVERIES};
    let mut rig = with_frames();
    for _ in 0..MAX_CALLS {
        rig.call(Place::Active, "DOM.getDocument");
    }
    rig.opening("SP", "P", "alert", "x");
    rig.respond(None, crate::rig::accept());
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply_error(id, -32602, "No dialog is showing");
    let recover = || Command::Recover { target_id: "P".into(), remedy: supervisor_core::Remedy::Reload };
    for _ in 0..MAX_RECOVERIES {
        let req = rig.host(recover());
        assert_eq!(rig.outcome(req), None);
    }
    let req = rig.host(recover());
    assert_eq!(rig.code(req), Code::Refused);
    assert_eq!(rig.machine.state().calls.open.len(), MAX_CALLS + MAX_RECOVERIES);
}

#[test]
fn late_results_are_bounded_and_the_oldest_makes_room() {
    let mut rig = with_frames();
    let limit = supervisor_core::limits::MAX_LATE_RESULTS;
    for _ in 0..=limit {
        rig.eval("P");
    }
    rig.opening("SP", "P", "alert", "x");
    rig.closed("SP", "P", true, "");
    rig.answer_all("Runtime.evaluate", json!({"result": {"type": "undefined"}}));
    assert_eq!(rig.machine.state().calls.late.len(), limit);
    assert!(rig.effects.iter().any(|effect| matches!(effect, Effect::Drop { .. })));
    rig.advance(supervisor_core::limits::LATE_RESULT_KEPT);
    assert!(rig.machine.state().calls.late.is_empty());
}
