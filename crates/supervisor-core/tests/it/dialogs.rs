use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::{ClosedBy, Reason, Unanswerable};
use supervisor_core::limits::REASON_WAIT;
use supervisor_core::{Action, Code, Command, DialogPolicy, Options, Outcome};

use crate::rig::{Rig, accept};

fn policy(policy: DialogPolicy) -> Options {
    let mut options = Options::default();
    options.dialog_policy = policy;
    options
}

/// A dialog that ended: its number, who closed it, why, and whether it was accepted.
type End = (u64, Option<ClosedBy>, Option<Reason>, Option<bool>);

fn recent(rig: &mut Rig) -> Vec<End> {
    let snapshot = rig.snapshot();
    snapshot.recent_dialogs.iter().map(|it| (it.id.0, it.closed_by, it.reason, it.accepted)).collect()
}

#[test]
fn an_answer_is_sent_to_the_pages_session_and_recorded_as_the_agents() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "F-unknown", "confirm", "sure?");
    assert_eq!(rig.snapshot().pending_dialogs.len(), 1);
    let req = rig.respond(None, accept());
    let id = rig.last_id("Page.handleJavaScriptDialog");
    assert_eq!(rig.sent.last().unwrap()["sessionId"], "SP");
    rig.closed("SP", "F-unknown", true, "");
    assert!(rig.snapshot().pending_dialogs.is_empty());
    rig.reply(id, json!({}));
    assert!(matches!(rig.outcome(req), Some(Outcome::Answered { accepted: true, .. })));
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::Agent), None, Some(true))]);
}

#[test]
fn a_prompt_accepted_without_a_text_gets_the_whole_default() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "prompt", "name?");
    rig.respond(None, accept());
    assert_eq!(rig.sent.last().unwrap()["params"], json!({"accept": true, "promptText": "dflt"}));
    rig.closed("SP", "P", true, "dflt");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    rig.opening("SP", "P", "prompt", "name?");
    rig.respond(None, Action::Accept { prompt_text: Some(String::new()) });
    assert_eq!(rig.sent.last().unwrap()["params"], json!({"accept": true, "promptText": ""}));
}

#[test]
fn a_dismissed_prompt_has_no_input_though_the_browser_echoes_one() {
    let mut rig = Rig::with_page_and(policy(DialogPolicy::AutoDismiss));
    rig.opening("SP", "P", "prompt", "name?");
    rig.closed("SP", "P", false, "dflt");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::AutoPolicy), None, Some(false))]);
    assert_eq!(rig.snapshot().recent_dialogs[0].user_input, None);
}

#[test]
fn the_watchdog_dismisses_at_its_deadline_and_a_late_answer_is_told() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "alert", "hello");
    rig.advance(Duration::from_millis(299_999));
    assert!(rig.sent_as("Page.handleJavaScriptDialog").is_empty());
    rig.advance(Duration::from_millis(1));
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.closed("SP", "P", false, "");
    rig.reply(id, json!({}));
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::Watchdog), None, Some(false))]);
    let late = rig.respond(Some(1), accept());
    assert_eq!(rig.code(late), Code::AlreadyClosed);
    assert_eq!(rig.failure(late).detail.won_by.as_deref(), Some("watchdog"));
}

#[test]
fn exactly_one_party_answers() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.respond(None, accept());
    let second = rig.respond(Some(1), Action::Dismiss);
    assert_eq!(rig.outcome(second), None, "who wins is not known yet");
    rig.closed("SP", "P", true, "");
    rig.answer_all("Page.handleJavaScriptDialog", json!({}));
    assert_eq!(
        (rig.code(second), rig.failure(second).detail.won_by.as_deref()),
        (Code::AlreadyClosed, Some("agent"))
    );
    assert_eq!(rig.snapshot().recent_dialogs.len(), 1);
}

#[test]
fn another_clients_answer_is_told_apart_from_ours() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    let req = rig.respond(None, accept());
    // Closed otherwise than we answered: another client was first.
    rig.closed("SP", "P", false, "");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply_error(id, -32602, "No dialog is showing");
    assert_eq!(rig.code(req), Code::AlreadyClosed);
    // Closed as we answered, but the browser did not take our answer: another client answered the same.
    rig.opening("SP", "P", "confirm", "?");
    let req = rig.respond(None, accept());
    rig.closed("SP", "P", true, "");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply_error(id, -32602, "No dialog is showing");
    assert_eq!(rig.code(req), Code::AlreadyClosed);
    assert_eq!(recent(&mut rig)[1], (2, Some(ClosedBy::Remote), Some(Reason::OtherClient), Some(true)));
}

#[test]
fn an_answer_that_hits_the_next_dialog_is_reported_on_both() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "one");
    let req = rig.respond(None, accept());
    rig.closed("SP", "P", false, "");
    rig.opening("SP", "P", "confirm", "two");
    rig.closed("SP", "P", true, "");
    let id = rig.last_id("Page.handleJavaScriptDialog");
    rig.reply(id, json!({}));
    assert_eq!(rig.failure(req).detail.misdirected_to.map(|id| id.0), Some(2));
    assert_eq!(recent(&mut rig)[1].2, Some(Reason::StrayAnswer));
}

#[test]
fn a_dialog_that_someone_else_closed_is_explained_within_a_second() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "alert", "hello");
    rig.closed("SP", "P", false, "");
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::Remote), Some(Reason::Unknown), Some(false))]);
    rig.advance(REASON_WAIT - Duration::from_millis(1));
    assert_eq!(recent(&mut rig)[0].2, Some(Reason::Unknown));
    rig.advance(Duration::from_millis(1));
    assert_eq!(recent(&mut rig)[0].2, Some(Reason::OtherClient));
}

#[test]
fn a_crash_and_a_navigation_explain_the_end_that_came_before_them() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "alert", "hello");
    rig.closed("SP", "P", false, "");
    rig.event("SP", "Inspector.targetCrashed", json!({}));
    assert_eq!(recent(&mut rig)[0].2, Some(Reason::Crash));
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.event(
        "SP",
        "Page.frameStartedNavigating",
        json!({"frameId": "P", "url": "http://x/", "loaderId": "L",
        "navigationType": "differentDocument"}),
    );
    rig.closed("SP", "P", false, "");
    assert_eq!(recent(&mut rig)[0].2, Some(Reason::Navigation));
}

#[test]
fn two_dialogs_in_two_processes_leave_the_second_unanswerable() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.opening("SP", "B", "confirm", "one");
    rig.opening("SP", "P", "confirm", "two");
    rig.closed("SP", "B", false, "");
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::Remote), Some(Reason::Overlap), Some(false))]);
    let snapshot = rig.snapshot();
    assert!(!snapshot.pending_dialogs[0].answerable);
    let blocked = snapshot.pages[0].blocked.as_ref().unwrap();
    assert_eq!((blocked.reason, blocked.dialog_id.map(|id| id.0)), (Unanswerable::Overlap, Some(2)));
    let req = rig.respond(None, accept());
    assert_eq!(rig.code(req), Code::Unanswerable);
    assert!(rig.sent_as("Page.handleJavaScriptDialog").is_empty());
}

#[test]
fn the_remedy_that_would_kill_the_browser_is_refused_and_the_safe_one_frees_the_page() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.opening("SP", "B", "confirm", "one");
    rig.opening("SP", "P", "confirm", "two");
    rig.closed("SP", "B", false, "");
    let remedy = |remedy| Command::Recover { target_id: "P".into(), remedy };
    let close = rig.host(remedy(supervisor_core::Remedy::Close));
    assert_eq!(rig.code(close), Code::Refused);
    let params = json!({"targetId": "P"}).to_string();
    let place = supervisor_core::Place::Active;
    let raw = Command::Call { place, method: "Target.closeTarget".into(), params, timeout_ms: None };
    let raw = rig.host(raw);
    assert_eq!(rig.code(raw), Code::Refused);
    let dispose = |context: &str| Command::Call {
        place: supervisor_core::Place::Active,
        method: "Target.disposeBrowserContext".into(),
        params: json!({ "browserContextId": context }).to_string(),
        timeout_ms: None,
    };
    let with_the_page = rig.host(dispose("C"));
    assert_eq!(rig.code(with_the_page), Code::Refused);
    let another = rig.host(dispose("D"));
    assert_eq!(rig.outcome(another), None);
    let reload = rig.host(remedy(supervisor_core::Remedy::Reload));
    let id = rig.last_id("Page.reload");
    rig.reply(id, json!({}));
    assert!(matches!(rig.outcome(reload), Some(Outcome::Result { .. })));
    rig.closed("SP", "P", false, "");
    rig.navigated("SP", "P", None, "http://a.test/");
    assert_eq!(rig.snapshot().pages[0].blocked, None);
}

#[test]
fn an_iframe_removed_with_its_dialog_open_is_marked_as_dangerous() {
    let mut rig = Rig::with_page();
    rig.attach_iframe("SP", "B", "SB", "P");
    rig.opening("SP", "B", "confirm", "one");
    rig.event("SP", "Page.frameDetached", json!({"frameId": "B", "reason": "remove"}));
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::Remote), Some(Reason::TargetGone), None)]);
    let blocked = rig.snapshot().pages[0].blocked.clone().unwrap();
    assert_eq!((blocked.reason, blocked.remedies.len()), (Unanswerable::FrameRemoved, 0));
}

#[test]
fn sessions_that_report_the_same_dialog_make_one_entry() {
    let mut rig = Rig::with_page();
    // A page endpoint's popup can end up with a second session; whoever opened it, one page has one dialog.
    rig.opening("SP", "P", "alert", "hello");
    rig.closed("SP", "P", true, "");
    rig.closed("SP", "P", true, "");
    assert_eq!(recent(&mut rig).len(), 1);
}

#[test]
fn pages_have_their_own_dialogs_and_an_unnamed_answer_is_ambiguous() {
    let mut rig = Rig::with_page();
    rig.attach_page("Q", "SQ", json!({}));
    rig.opening("SP", "P", "alert", "on p");
    rig.opening("SQ", "Q", "alert", "on q");
    let req = rig.respond(None, accept());
    assert_eq!(rig.failure(req).detail.candidates.len(), 2);
    rig.respond(Some(2), accept());
    assert_eq!(rig.sent.last().unwrap()["sessionId"], "SQ");
    rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}));
    assert_eq!(recent(&mut rig), [(1, Some(ClosedBy::Remote), Some(Reason::TargetGone), None)]);
}

#[test]
fn answers_to_nothing_have_their_codes_and_send_nothing() {
    let mut rig = Rig::with_page();
    let none = rig.respond(None, accept());
    let unknown = rig.respond(Some(9), accept());
    assert_eq!((rig.code(none), rig.code(unknown)), (Code::NoDialog, Code::UnknownDialog));
    assert!(rig.sent_as("Page.handleJavaScriptDialog").is_empty());
}

#[test]
fn stop_answers_first_and_is_over_within_its_bound() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    let stop = rig.host(Command::Stop);
    let id = rig.last_id("Page.handleJavaScriptDialog");
    assert_eq!(rig.outcome(stop), None);
    rig.closed("SP", "P", false, "");
    rig.reply(id, json!({}));
    assert_eq!(rig.outcome(stop), Some(&Outcome::Done));
    let mut deaf = Rig::with_page();
    deaf.opening("SP", "P", "confirm", "?");
    let stop = deaf.host(Command::Stop);
    deaf.advance(Duration::from_secs(1));
    assert_eq!(deaf.outcome(stop), Some(&Outcome::Done));
}

#[test]
fn a_changed_policy_decides_about_what_is_open() {
    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.host(Command::Configure { options: Box::new(policy(DialogPolicy::AutoAccept)) });
    assert_eq!(rig.sent.last().unwrap()["params"], json!({"accept": true}));
}

/// It counts from when the dialog opened: a longer one gives more time, one that is over already none.
#[test]
fn a_changed_timeout_counts_for_what_is_open() {
    let waits = |seconds| {
        let mut options = Options::default();
        options.dialog_timeout = Duration::from_secs(seconds);
        Command::Configure { options: Box::new(options) }
    };
    let answers =
        |rig: &Rig| rig.sent.iter().filter(|it| it["method"] == "Page.handleJavaScriptDialog").count();
    let mut rig = Rig::with_page();
    rig.host(waits(30));
    rig.opening("SP", "P", "confirm", "?");
    rig.advance(Duration::from_secs(29));
    rig.host(waits(60));
    rig.advance(Duration::from_secs(30));
    assert_eq!(answers(&rig), 0, "59 s after it opened");
    rig.advance(Duration::from_secs(1));
    assert_eq!(answers(&rig), 1);

    let mut rig = Rig::with_page();
    rig.opening("SP", "P", "confirm", "?");
    rig.advance(Duration::from_secs(20));
    rig.host(waits(10));
    rig.advance(Duration::ZERO);
    assert_eq!(answers(&rig), 1, "it is overdue");
    assert_eq!(rig.sent.last().unwrap()["params"], json!({"accept": false}));
}

#[test]
fn the_ring_of_recent_dialogs_is_bounded_and_ids_go_on() {
    let mut rig = Rig::with_page_and(policy(DialogPolicy::AutoAccept));
    for _ in 0..30 {
        rig.opening("SP", "P", "alert", "again");
        rig.closed("SP", "P", true, "");
        let id = rig.last_id("Page.handleJavaScriptDialog");
        rig.reply(id, json!({}));
    }
    let recent = recent(&mut rig);
    assert_eq!((recent.len(), recent[19].0, rig.snapshot().counts.dialogs_seen), (20, 30, 30));
    let old = rig.respond(Some(1), accept());
    assert_eq!(rig.code(old), Code::AlreadyClosed);
}
