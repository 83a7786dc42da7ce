use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::Reason;
use supervisor_core::limits::{HANDSHAKE, MAX_STARTERS};
use supervisor_core::{
    Code, Command, Effect, EndpointKind, Epoch, Input, Net, Options, Outcome, Stage, Status,
};

use crate::rig::Rig;

fn lose(rig: &mut Rig) {
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Lost { epoch, reason: "reset by peer".into() }));
}

fn dials(rig: &Rig) -> usize {
    rig.effects.iter().filter(|effect| matches!(effect, Effect::Dial { .. })).count()
}

#[test]
fn requests_to_connect_that_wait_are_bounded() {
    let mut rig = Rig::new(Options::default());
    let waiting: Vec<_> = (0..MAX_STARTERS).map(|_| rig.host(Command::Start)).collect();
    assert!(waiting.iter().all(|req| rig.outcome(*req).is_none()));
    let beyond = rig.host(Command::Start);
    assert_eq!(rig.code(beyond), Code::Refused);
    let (epoch, reason) = (rig.epoch(), "refused".to_owned());
    rig.input(Input::Net(Net::DialFailed { epoch, stage: Stage::Tcp, reason, http_status: None }));
    assert!(waiting.iter().all(|req| rig.code(*req) == Code::StartFailed));
    assert!(rig.machine.state().connection.starters.is_empty());
}

#[test]
fn a_start_is_done_when_the_handshake_is_and_however_many_asked() {
    let mut rig = Rig::new(Options::default());
    let first = rig.host(Command::Start);
    let second = rig.host(Command::Start);
    assert_eq!(dials(&rig), 1);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    rig.answer_all("Browser.getVersion", json!({"product": "Chrome/156"}));
    rig.answer_all("Target.setDiscoverTargets", json!({}));
    assert_eq!(rig.outcome(first), None);
    rig.answer_all("Target.setAutoAttach", json!({}));
    assert_eq!((rig.outcome(first), rig.outcome(second)), (Some(&Outcome::Done), Some(&Outcome::Done)));
    let snapshot = rig.snapshot();
    assert_eq!(
        (snapshot.status.status, snapshot.status.browser.as_deref()),
        (Status::Connected, Some("Chrome/156"))
    );
}

#[test]
fn a_start_that_fails_says_at_which_stage_and_is_not_repeated() {
    let mut rig = Rig::new(Options::default());
    let start = rig.host(Command::Start);
    let (epoch, reason) = (rig.epoch(), "HTTP 401".to_owned());
    rig.input(Input::Net(Net::DialFailed { epoch, stage: Stage::Upgrade, reason, http_status: Some(401) }));
    let detail = &rig.failure(start).detail;
    assert_eq!((detail.stage, detail.http_status), (Some(Stage::Upgrade), Some(401)));
    rig.advance(Duration::from_secs(60));
    assert_eq!((dials(&rig), rig.snapshot().status.status), (1, Status::Failed));
}

#[test]
fn a_browser_that_never_answers_fails_the_handshake() {
    let mut rig = Rig::new(Options::default());
    let start = rig.host(Command::Start);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    rig.advance_deaf(Duration::from_secs(10));
    assert_eq!(rig.failure(start).detail.stage, Some(Stage::Handshake));
    assert!(rig.effects.iter().any(|effect| matches!(effect, Effect::HangUp { .. })));
}

/// Found by the simulator: what had opened before stayed pending, and on the next connection a page had two dialogs.
#[test]
fn a_handshake_that_fails_on_the_way_back_ends_the_dialogs_that_it_brought() {
    let mut rig = Rig::with_page();
    lose(&mut rig);
    rig.advance(Duration::from_secs(1));
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    rig.attach_page("P", "S2", json!({}));
    rig.opening("S2", "P", "confirm", "?");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    rig.advance_deaf(HANDSHAKE);
    let snapshot = rig.snapshot();
    assert!(snapshot.pending_dialogs.is_empty());
    assert_eq!(snapshot.recent_dialogs[0].reason, Some(Reason::Disconnected));
    assert_eq!(snapshot.status.status, Status::Reconnecting);
}

/// The session's actor kept the result, and had nothing to do any more.
#[test]
fn a_late_result_that_is_fetched_while_the_connection_is_down_leaves_no_actor_behind() {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    rig.call(supervisor_core::Place::Active, "DOM.getDocument");
    rig.opening("SP", "P", "confirm", "?");
    lose(&mut rig);
    let call = rig.machine.state().calls.late_order[0];
    let fetch = rig.host(Command::Result { call_id: call, timeout_ms: None });
    assert!(rig.effects.iter().any(|it| matches!(it, Effect::Serve { req, .. } if *req == fetch)));
    let page = supervisor_core::Route::Session("SP".into());
    let is_retired =
        |rig: &Rig| rig.effects.iter().any(|it| matches!(it, Effect::Retire { route } if *route == page));
    assert!(!is_retired(&rig), "it is shown still, so it may be called");
    rig.advance(Duration::from_secs(1));
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    assert!(is_retired(&rig));
}

#[test]
fn a_loss_ends_calls_and_dialogs_and_the_connection_is_made_again() {
    let mut rig = Rig::with_page();
    rig.context("SP", "P", 1);
    let call = rig.call(supervisor_core::Place::Active, "DOM.getDocument");
    rig.opening("SP", "P", "confirm", "?");
    lose(&mut rig);
    assert_eq!(rig.code(call), Code::DialogOpened, "it had ended before");
    let snapshot = rig.snapshot();
    assert_eq!(snapshot.recent_dialogs[0].reason, Some(Reason::Disconnected));
    assert!(snapshot.status.stale && snapshot.status.status == Status::Reconnecting);
    assert_eq!(snapshot.pages.len(), 1, "the last known state is shown");
    let while_down = rig.eval("P");
    assert_eq!(rig.code(while_down), Code::Disconnected);
    rig.advance(Duration::from_secs(1));
    assert_eq!(dials(&rig), 2);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Browser }));
    assert!(rig.snapshot().pages.is_empty());
    for method in ["Browser.getVersion", "Target.setDiscoverTargets", "Target.setAutoAttach"] {
        rig.answer_all(method, json!({"product": "Chrome/156"}));
    }
    assert_eq!(rig.snapshot().status.status, Status::Connected);
    rig.attach_page("P", "SP2", json!({}));
    rig.advance(Duration::from_secs(2));
    let blocked = rig.snapshot().pages[0].blocked.clone().unwrap();
    assert_eq!(blocked.reason, supervisor_core::dialog::Unanswerable::Orphaned);
    rig.answer_all("Page.enable", json!({}));
    assert!(rig.snapshot().pages[0].blocked.is_none());
    assert!(
        rig.machine.state().connection.orphaned.is_empty(),
        "nothing is remembered for longer than it matters"
    );
}

#[test]
fn messages_of_an_old_epoch_are_dropped() {
    let mut rig = Rig::with_page();
    let before = rig.machine.state().clone();
    let text = json!({"method": "Target.detachedFromTarget", "params": {"sessionId": "SP"}}).to_string();
    rig.input(Input::Received { epoch: Epoch(0), text: &text });
    rig.input(Input::Net(Net::Lost { epoch: Epoch(0), reason: "old".into() }));
    assert_eq!(*rig.machine.state(), before);
}

#[test]
fn the_budget_of_reconnecting_is_spent_once_and_for_all() {
    let mut rig = Rig::with_page();
    lose(&mut rig);
    for _ in 0..20 {
        rig.advance(Duration::from_secs(13));
        let (epoch, reason) = (rig.epoch(), "refused".to_owned());
        rig.input(Input::Net(Net::DialFailed { epoch, stage: Stage::Tcp, reason, http_status: None }));
    }
    assert_eq!(rig.snapshot().status.status, Status::Failed);
    let failed =
        rig.events.iter().filter(|event| matches!(event, supervisor_core::Event::Failed { .. })).count();
    assert_eq!(failed, 1);
    let tried = dials(&rig);
    rig.advance(Duration::from_secs(600));
    assert_eq!(dials(&rig), tried);
    assert!(tried <= 11, "{tried} dials");
}

#[test]
fn a_browser_that_answers_no_probe_is_taken_for_lost() {
    let mut rig = Rig::with_page();
    rig.advance(Duration::from_secs(15));
    assert_eq!(rig.snapshot().status.status, Status::Connected);
    rig.advance_deaf(Duration::from_secs(15));
    assert_eq!(rig.sent_as("Browser.getVersion").len(), 1);
    rig.advance_deaf(Duration::from_secs(15));
    assert_eq!(rig.snapshot().status.status, Status::Reconnecting);
}

#[test]
fn on_a_page_endpoint_the_root_is_the_pages_session() {
    let mut rig = Rig::new(Options::default());
    let start = rig.host(Command::Start);
    let epoch = rig.epoch();
    rig.input(Input::Net(Net::Connected { epoch, endpoint: EndpointKind::Page("P".into()) }));
    rig.answer_all("Browser.getVersion", json!({"product": "Chrome/156"}));
    rig.answer_all("Target.setDiscoverTargets", json!({}));
    assert_eq!(rig.outcome(start), Some(&Outcome::Done));
    assert_eq!(rig.sent_as("Page.enable").len(), 1);
    let info =
        json!({"targetId": "P", "type": "page", "title": "t", "url": "http://a.test/", "attached": true});
    rig.event("", "Target.targetCreated", json!({ "targetInfo": info }));
    assert_eq!(rig.snapshot().pages[0].url, "http://a.test/", "nothing else tells it");
    rig.navigated("", "P", None, "http://a.test/");
    rig.opening("", "P", "alert", "x");
    let snapshot = rig.snapshot();
    assert_eq!((snapshot.pending_dialogs.len(), &snapshot.pending_dialogs[0].session_id), (1, &None));
    rig.event(
        "",
        "Target.targetCreated",
        json!({"targetInfo": {"targetId": "Q", "type": "page", "title": "", "url": "",
        "attached": false, "openerId": "P"}}),
    );
    assert_eq!(rig.sent_as("Target.attachToTarget").len(), 1);
    rig.event("", "Inspector.detached", json!({"reason": "target_closed"}));
    assert_eq!(rig.snapshot().status.status, Status::Failed);
}
