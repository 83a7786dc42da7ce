use std::time::Duration;

use serde_json::{Value, json};
use supervisor_core::limits::SETUP_SILENCE;
use supervisor_core::{Code, Options, Scope};

use crate::rig::Rig;

fn methods(rig: &Rig, session: &str) -> Vec<String> {
    let sent = rig.sent.iter().filter(|message| message["sessionId"] == session);
    sent.map(|message| message["method"].as_str().unwrap().to_owned()).collect()
}

fn attach(rig: &mut Rig, parent: &str, kind: &str, session: &str, more: Value) {
    let mut info =
        json!({"targetId": format!("T-{session}"), "type": kind, "url": "", "title": "", "attached": true});
    for (key, value) in more.as_object().unwrap() {
        info[key] = value.clone();
    }
    rig.event(
        parent,
        "Target.attachedToTarget",
        json!({"sessionId": session, "targetInfo": info,
        "waitingForDebugger": true}),
    );
}

#[test]
fn a_new_session_is_set_up_in_one_go_and_resumed_last() {
    let rig = Rig::with_page();
    let expected = [
        "Page.enable",
        "Runtime.enable",
        "Log.enable",
        "Target.setAutoAttach",
        "Page.getFrameTree",
        "Runtime.runIfWaitingForDebugger",
    ];
    assert_eq!(methods(&rig, "SP"), expected);
    assert_eq!(rig.sent_as("Target.setAutoAttach")[0]["params"].get("filter"), None);
}

/// They are pages to the browser when they are shown in a tab.
#[test]
fn devtools_and_pages_of_extensions_are_left_alone_unless_they_are_asked_for() {
    for url in ["devtools://devtools/bundled/inspector.html", "chrome-extension://abc/options.html"] {
        let mut rig = Rig::with_page();
        attach(&mut rig, "", "page", "T", json!({"url": url}));
        assert_eq!(methods(&rig, "T"), ["Runtime.runIfWaitingForDebugger"], "{url}");
        rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
        assert_eq!(rig.sent_as("Target.detachFromTarget")[0]["params"], json!({"sessionId": "T"}));
        assert_eq!(rig.snapshot().pages.len(), 1, "{url}");

        let mut options = Options::default();
        options.scope = Scope::TargetId("T-T".into());
        let mut rig = Rig::connected(options);
        attach(&mut rig, "", "page", "T", json!({"url": url}));
        assert_eq!(rig.snapshot().pages.len(), 1, "{url}");
    }
}

#[test]
fn what_is_none_of_ours_is_resumed_and_let_go_and_nothing_else() {
    let mut rig = Rig::with_page();
    for (parent, kind, session) in [("SP", "worker", "W"), ("", "browser_ui", "U"), ("", "iframe", "I")] {
        attach(&mut rig, parent, kind, session, json!({}));
        assert_eq!(methods(&rig, session), ["Runtime.runIfWaitingForDebugger"], "{kind}");
        assert!(
            rig.sent_as("Target.detachFromTarget").is_empty(),
            "a service worker let go before it ran never runs"
        );
        rig.answer_all("Runtime.runIfWaitingForDebugger", json!({}));
        assert_eq!(rig.sent_as("Target.detachFromTarget")[0]["params"], json!({"sessionId": session}));
        rig.answer_all("Target.detachFromTarget", json!({}));
    }
    assert_eq!(rig.machine.state().sessions.len(), 1);
    let violations = rig.snapshot().counts.meters.protocol_violations;
    rig.event("W", "Runtime.executionContextsCleared", json!({}));
    assert_eq!(rig.snapshot().counts.meters.protocol_violations, violations);
}

#[test]
fn what_is_none_of_ours_and_ends_before_it_ran_leaves_nothing_in_flight() {
    let mut rig = Rig::with_page();
    let before = rig.machine.state().flights.len();
    attach(&mut rig, "SP", "worker", "W", json!({}));
    rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": "W"}));
    assert_eq!(rig.machine.state().flights.len(), before);

    attach(&mut rig, "SP", "worker", "V", json!({}));
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    assert!(rig.machine.state().flights.is_empty(), "its page went, and nobody tells of the worker");
}

#[test]
fn what_is_none_of_ours_and_runs_already_is_let_go_at_once() {
    let mut rig = Rig::with_page();
    let info = json!({"targetId": "W", "type": "service_worker", "url": "", "title": "", "attached": true});
    let params = json!({"sessionId": "W", "targetInfo": info, "waitingForDebugger": false});
    rig.event("SP", "Target.attachedToTarget", params);
    assert_eq!(rig.sent.last().unwrap()["params"], json!({"sessionId": "W"}));
}

#[test]
fn a_second_session_of_a_page_is_let_go() {
    let mut rig = Rig::with_page();
    rig.attach_page("P", "SP2", json!({}));
    assert_eq!(methods(&rig, "SP2"), ["Runtime.runIfWaitingForDebugger"]);
}

#[test]
fn a_scope_takes_only_its_pages_and_their_popups() {
    let mut options = Options::default();
    options.scope = Scope::TargetId("P".into());
    let mut rig = Rig::connected(options);
    rig.attach_page("other", "SO", json!({}));
    rig.attach_page("P", "SP", json!({}));
    rig.attach_page("popup", "SQ", json!({"openerId": "P"}));
    let pages: Vec<_> = rig.snapshot().pages.iter().map(|page| page.target_id.to_string()).collect();
    assert_eq!(pages, ["P", "popup"]);
    let mut options = Options::default();
    options.scope = Scope::BrowserContextId("D".into());
    let mut rig = Rig::connected(options);
    rig.attach_page("P", "SP", json!({}));
    rig.attach_page("Q", "SQ", json!({"browserContextId": "D"}));
    assert_eq!(rig.snapshot().pages.len(), 1);
}

#[test]
fn a_page_that_answers_nothing_is_shown_so_and_the_others_are_usable() {
    let mut rig = Rig::connected(Options::default());
    rig.attach_page("stuck", "S1", json!({}));
    rig.attach_page("fine", "S2", json!({}));
    let fine =
        rig.sent.iter().find(|sent| sent["sessionId"] == "S2" && sent["method"] == "Page.enable").unwrap();
    let id = fine["id"].as_u64().unwrap();
    rig.reply(id, json!({}));
    rig.advance(SETUP_SILENCE - Duration::from_millis(1));
    assert!(!rig.snapshot().pages[0].unresponsive);
    rig.advance(Duration::from_millis(1));
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pages[0].unresponsive, snapshot.pages[1].unresponsive), (true, false));
    let blocked = snapshot.pages[0].blocked.clone().unwrap();
    assert!(blocked.suspected && blocked.remedies.is_empty() && !blocked.risky_remedies.is_empty());
    let target = supervisor_core::Place::Target("stuck".into());
    let call = rig.call(target, "Runtime.evaluate");
    assert_eq!(rig.code(call), Code::TargetUnresponsive);
    let answer = rig.respond(None, crate::rig::accept());
    assert_eq!(rig.code(answer), Code::Unanswerable);
    rig.answer_all("Page.enable", json!({}));
    let page = rig.snapshot().pages[0].clone();
    assert!(!page.unresponsive && page.blocked.is_none());
}

#[test]
fn a_page_that_only_navigates_slowly_is_not_called_stuck() {
    let mut rig = Rig::connected(Options::default());
    rig.attach_page("slow", "S1", json!({}));
    let auto = rig.sent.iter().rfind(|sent| sent["method"] == "Target.setAutoAttach").unwrap()["id"]
        .as_u64()
        .unwrap();
    rig.reply(auto, json!({}));
    rig.advance(Duration::from_secs(60));
    assert!(!rig.snapshot().pages[0].unresponsive);
}

#[test]
fn a_page_that_has_loaded_is_asked_for_its_title() {
    let mut rig = Rig::with_page();
    rig.event("SP", "Page.frameStoppedLoading", json!({"frameId": "P"}));
    rig.event("SP", "Page.frameStoppedLoading", json!({"frameId": "P"}));
    assert_eq!(rig.sent_as("Target.getTargetInfo").len(), 1, "one at a time");
    let info = json!({"targetId": "P", "type": "page", "url": "http://a.test/", "title": "set by a script"});
    rig.answer_all("Target.getTargetInfo", json!({ "targetInfo": info }));
    assert_eq!(rig.snapshot().pages[0].title, "set by a script");
    rig.event("SP", "Page.frameStoppedLoading", json!({"frameId": "some iframe"}));
    assert!(rig.sent_as("Target.getTargetInfo").is_empty());
}

#[test]
fn the_active_page_is_the_first_and_then_the_last_attached() {
    let mut rig = Rig::with_page();
    rig.attach_page("Q", "SQ", json!({}));
    rig.attach_page("R", "SR", json!({}));
    let active = |rig: &mut Rig| {
        rig.snapshot().pages.iter().find(|page| page.active).map(|page| page.target_id.to_string())
    };
    assert_eq!(active(&mut rig).as_deref(), Some("P"));
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    assert_eq!(active(&mut rig).as_deref(), Some("R"));
}

#[test]
fn a_crash_shows_and_the_next_navigation_heals_it() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.event("SP", "Inspector.targetCrashed", json!({}));
    assert_eq!(rig.tree(), ["P<- "]);
    let snapshot = rig.snapshot();
    assert!(snapshot.pages[0].crashed && snapshot.frame_tree.top.as_ref().unwrap().crashed);
    rig.event("SP", "Inspector.targetReloadedAfterCrash", json!({}));
    rig.navigated("SP", "P", None, "http://a.test/");
    assert!(!rig.snapshot().pages[0].crashed);
}

#[test]
fn a_crashed_page_is_healed_by_a_document_alone() {
    let mut rig = Rig::with_page();
    rig.event("SP", "Inspector.targetCrashed", json!({}));
    assert!(rig.snapshot().pages[0].crashed);
    rig.navigated("SP", "P", None, "http://a.test/");
    assert!(!rig.snapshot().pages[0].crashed);
}

#[test]
fn a_known_session_announced_again_and_a_dead_one_are_violations_not_revivals() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    rig.attach_iframe("SP", "B", "SB", "P");
    assert_eq!(rig.snapshot().counts.meters.protocol_violations, 2);
    assert_eq!(rig.machine.state().sessions.len(), 1);
}

#[test]
fn a_renderer_that_is_back_is_set_up_again() {
    let mut rig = Rig::with_page();
    let before = methods(&rig, "SP").len();
    for id in 0..10 {
        rig.reply_error(id, -32000, "Target crashed");
    }
    rig.event("SP", "Inspector.targetReloadedAfterCrash", json!({}));
    let again = methods(&rig, "SP").split_off(before);
    assert_eq!(again.first().map(String::as_str), Some("Page.enable"));
    assert_eq!(again.last().map(String::as_str), Some("Runtime.runIfWaitingForDebugger"));
}

#[test]
fn a_page_that_had_crashed_before_we_came_is_set_up_again_when_it_is_back() {
    let mut rig = Rig::with_page();
    rig.answer_all("Target.setAutoAttach", json!({}));
    let before = methods(&rig, "SP").len();
    let enable = rig.last_id("Page.enable");
    // No event tells of the crash, and none of the reload.
    rig.reply_error(enable, -32000, "Target crashed");
    let again = methods(&rig, "SP").split_off(before);
    assert_eq!(again.first().map(String::as_str), Some("Page.enable"));
    assert_eq!(again.last().map(String::as_str), Some("Runtime.runIfWaitingForDebugger"));
}

#[test]
fn a_renderer_that_is_back_must_answer_as_if_it_were_new() {
    let mut rig = Rig::with_page();
    rig.answer_all("Page.enable", json!({}));
    rig.answer_all("Target.setAutoAttach", json!({}));
    rig.event("SP", "Inspector.targetCrashed", json!({}));
    rig.event("SP", "Inspector.targetReloadedAfterCrash", json!({}));
    rig.advance(Duration::from_secs(2));
    assert!(rig.snapshot().pages[0].unresponsive, "its set-up was answered by nobody");
    rig.answer_all("Page.enable", json!({}));
    assert!(!rig.snapshot().pages[0].unresponsive);
}

#[test]
fn a_paused_target_is_resumed_even_where_nobody_listens_any_more() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    rig.attach_iframe("SB", "C", "SC", "B");
    assert_eq!(methods(&rig, "SC"), ["Runtime.runIfWaitingForDebugger"]);
    assert!(rig.machine.state().flights.any_on(&supervisor_core::Route::Session("SC".into())));
    assert_eq!(rig.tree(), ["P<- "]);
}

#[test]
fn a_reply_that_names_another_session_is_none_of_ours() {
    let mut rig = Rig::with_page();
    let id = rig.last_id("Page.getFrameTree");
    let tree = json!({"frameTree": {"frame": {"id": "X", "loaderId": "L", "url": "http://x.test/"}}});
    rig.recv(&json!({"id": id, "result": tree, "sessionId": "another"}));
    assert_eq!(rig.tree(), ["P<- "]);
    assert_eq!(rig.machine.meters().protocol_violations, 1);
    assert!(rig.machine.state().flights.get(supervisor_core::CommandId(id)).is_some());
}
