//! The life cycles as tables: for each state and each thing that can happen, the state after it. The tables are snapshots, so
//! that a changed rule is a changed cell; diagrams of them are in `docs/state-diagrams`.

use std::fmt::Write;
use std::time::Duration;

use serde_json::json;
use supervisor_core::dialog::Progress;
use supervisor_core::frame::ParentView;
use supervisor_core::{Code, Command, Options, Outcome};

use crate::rig::{Rig, accept};

/// A state by its name, and how to come there.
type State = (&'static str, fn() -> Rig);

/// Something that happens.
type Happening = (&'static str, fn(&mut Rig));

/// One line for each state and happening: the state after it.
fn table(states: &[State], happenings: &[Happening], name: fn(&Rig) -> String) -> String {
    let mut text = String::new();
    for (state, reach) in states {
        assert_eq!(name(&reach()), *state, "the way to the state leads elsewhere");
        writeln!(text, "{state}").unwrap();
        for (happening, happen) in happenings {
            let mut rig = reach();
            happen(&mut rig);
            let after = name(&rig);
            let after = if after == *state { "·".to_owned() } else { after };
            writeln!(text, "    {happening:<34} {after}").unwrap();
        }
    }
    text
}

fn attached(rig: &mut Rig) {
    rig.event("SP", "Page.frameAttached", json!({"frameId": "X", "parentFrameId": "P"}));
}

fn swapped(rig: &mut Rig) {
    rig.event("SP", "Page.frameDetached", json!({"frameId": "X", "reason": "swap"}));
}

fn session_attached(rig: &mut Rig) {
    let session = format!("SX{}", rig.sent.len());
    rig.attach_iframe("SP", "X", &session, "P");
}

fn session_detached(rig: &mut Rig) {
    let frame = rig.machine.state().frames.get(&"X".into());
    let remote = frame.and_then(|frame| frame.remote.as_ref()?.session_id().cloned());
    if let Some(session) = remote {
        rig.event("SP", "Target.detachedFromTarget", json!({"sessionId": session.as_str()}));
    }
}

fn listed(rig: &mut Rig, children: &serde_json::Value) {
    let tree =
        json!({"frameTree": {"frame": {"id": "P", "loaderId": "L-http://a.test/"}, "childFrames": children}});
    let ids: Vec<u64> = rig
        .sent
        .iter()
        .filter(|it| it["method"] == "Page.getFrameTree" && it["sessionId"] == "SP")
        .map(|it| it["id"].as_u64().unwrap())
        .collect();
    for id in ids {
        rig.reply(id, tree.clone());
    }
}

fn removed(rig: &mut Rig) {
    rig.event("SP", "Page.frameDetached", json!({"frameId": "X", "reason": "remove"}));
}

fn frame_state(rig: &Rig) -> String {
    let frames = &rig.machine.state().frames;
    let Some(frame) = frames.get(&"X".into()) else {
        return if frames.is_gone(&"X".into()) { "gone" } else { "absent" }.into();
    };
    let here = matches!(frame.parent_view, ParentView::Here(_));
    match (here, &frame.remote, &frame.owner) {
        (_, _, None) => "orphan",
        (true, None, Some(_)) => "local",
        (true, Some(remote), Some(owner)) if owner == remote => "leaving",
        (true, Some(_), Some(_)) => "coming home",
        (false, Some(_), Some(_)) => "out of process",
        (false, None, Some(_)) => "impossible",
    }
    .into()
}

#[test]
fn the_life_of_a_frame() {
    let local = || {
        let mut rig = Rig::with_page();
        listed(&mut rig, &json!([]));
        attached(&mut rig);
        rig
    };
    let leaving = || {
        let mut rig = Rig::with_page();
        listed(&mut rig, &json!([]));
        attached(&mut rig);
        session_attached(&mut rig);
        rig
    };
    let remote = || {
        let mut rig = Rig::with_page();
        listed(&mut rig, &json!([]));
        attached(&mut rig);
        session_attached(&mut rig);
        swapped(&mut rig);
        rig
    };
    let home = || {
        let mut rig = Rig::with_page();
        listed(&mut rig, &json!([]));
        session_attached(&mut rig);
        swapped(&mut rig);
        attached(&mut rig);
        rig
    };
    let orphan = || {
        let mut rig = Rig::with_page();
        listed(&mut rig, &json!([]));
        session_attached(&mut rig);
        swapped(&mut rig);
        session_detached(&mut rig);
        rig
    };
    let gone = || {
        let mut rig = Rig::with_page();
        listed(&mut rig, &json!([]));
        attached(&mut rig);
        removed(&mut rig);
        rig
    };
    let states: [State; 7] = [
        ("absent", || {
            let mut rig = Rig::with_page();
            listed(&mut rig, &json!([]));
            rig
        }),
        ("local", local),
        ("leaving", leaving),
        ("out of process", remote),
        ("coming home", home),
        ("orphan", orphan),
        ("gone", gone),
    ];
    let happenings: [Happening; 8] = [
        ("parent: frameAttached", attached),
        ("parent: frameDetached swap", swapped),
        ("parent: frameDetached remove", removed),
        ("attachedToTarget", session_attached),
        ("detachedFromTarget", session_detached),
        ("parent lists it", |rig| {
            listed(rig, &json!([{"frame": {"id": "X", "parentId": "P", "loaderId": "LX"}}]))
        }),
        ("parent does not list it", |rig| listed(rig, &json!([]))),
        ("page: main document committed", |rig| rig.navigated("SP", "P", None, "http://z.test/")),
    ];
    insta::assert_snapshot!(table(&states, &happenings, frame_state));
}

fn session_state(rig: &Rig) -> String {
    let state = rig.machine.state();
    let Some(session) = state.sessions.get(&Some(cdp_wire::SessionId::from("SX")).into()) else {
        return "absent".into();
    };
    match session {
        it if it.crashed => "crashed",
        it if it.unresponsive => "unresponsive",
        it if it.heard.is_some() => "answering",
        _ => "silent",
    }
    .into()
}

fn answer(rig: &mut Rig, method: &str) {
    let sent = rig.sent.iter().find(|it| it["sessionId"] == "SX" && it["method"] == method);
    if let Some(id) = sent.map(|it| it["id"].as_u64().unwrap()) {
        rig.reply(id, json!({}));
    }
}

#[test]
fn the_life_of_a_session() {
    fn silent() -> Rig {
        let mut rig = Rig::connected(Options::default());
        rig.attach_page("X", "SX", json!({}));
        rig
    }
    let states: [State; 5] = [
        ("absent", || Rig::connected(Options::default())),
        ("silent", silent),
        ("answering", || {
            let mut rig = silent();
            answer(&mut rig, "Page.enable");
            rig
        }),
        ("unresponsive", || {
            let mut rig = silent();
            rig.advance(Duration::from_secs(2));
            rig
        }),
        ("crashed", || {
            let mut rig = silent();
            rig.event("SX", "Inspector.targetCrashed", json!({}));
            rig
        }),
    ];
    let happenings: [Happening; 8] = [
        ("attachedToTarget", |rig| rig.attach_page("X", "SX", json!({}))),
        ("Page.enable answered", |rig| answer(rig, "Page.enable")),
        ("setAutoAttach answered", |rig| answer(rig, "Target.setAutoAttach")),
        ("two seconds pass", |rig| rig.advance(Duration::from_secs(2))),
        ("Inspector.targetCrashed", |rig| rig.event("SX", "Inspector.targetCrashed", json!({}))),
        ("targetReloadedAfterCrash", |rig| rig.event("SX", "Inspector.targetReloadedAfterCrash", json!({}))),
        ("detachedFromTarget", |rig| rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SX"}))),
        ("targetDestroyed", |rig| rig.event("", "Target.targetDestroyed", json!({"targetId": "X"}))),
    ];
    insta::assert_snapshot!(table(&states, &happenings, session_state));
}

fn dialog_state(rig: &Rig) -> String {
    let dialogs = &rig.machine.state().dialogs;
    match dialogs.open.values().next().map(|open| &open.progress) {
        Some(Progress::Pending) if dialogs.open.values().any(|open| !open.is_answerable()) => {
            "unanswerable".into()
        }
        Some(Progress::Pending) => "pending".into(),
        Some(Progress::Answering(_)) => "answering".into(),
        Some(Progress::Closing(_)) => "closing".into(),
        Some(Progress::Taken(_)) => "taken".into(),
        None => dialogs.recent.back().map_or_else(
            || "none".into(),
            |closed| format!("ended by {}", serde_json::to_value(closed.by).unwrap().as_str().unwrap()),
        ),
    }
}

fn reply_to_answer(rig: &mut Rig, ok: bool) {
    let sent = rig.sent_as("Page.handleJavaScriptDialog").last().map(|it| it["id"].as_u64().unwrap());
    match sent {
        Some(id) if ok => rig.reply(id, json!({})),
        Some(id) => rig.reply_error(id, -32602, "No dialog is showing"),
        None => {}
    }
}

#[test]
fn the_life_of_a_dialog() {
    fn pending() -> Rig {
        let mut rig = Rig::with_page();
        rig.opening("SP", "P", "confirm", "?");
        rig
    }
    fn answering() -> Rig {
        let mut rig = pending();
        rig.respond(None, accept());
        rig
    }
    let states: [State; 5] = [
        ("pending", pending),
        ("answering", answering),
        ("closing", || {
            let mut rig = answering();
            rig.closed("SP", "P", true, "");
            rig
        }),
        ("taken", || {
            let mut rig = answering();
            reply_to_answer(&mut rig, true);
            rig
        }),
        ("unanswerable", || {
            let mut rig = answering();
            reply_to_answer(&mut rig, false);
            rig
        }),
    ];
    let happenings: [Happening; 10] = [
        ("the host accepts", |rig| {
            rig.respond(Some(1), accept());
        }),
        ("Closed true", |rig| rig.closed("SP", "P", true, "")),
        ("Closed false", |rig| rig.closed("SP", "P", false, "")),
        ("our answer is taken", |rig| reply_to_answer(rig, true)),
        ("our answer is refused", |rig| reply_to_answer(rig, false)),
        ("a second passes", |rig| rig.advance(Duration::from_secs(1))),
        ("the watchdog's time passes", |rig| rig.advance(Duration::from_secs(300))),
        ("the renderer crashes", |rig| rig.event("SP", "Inspector.targetCrashed", json!({}))),
        ("the page goes", |rig| rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}))),
        ("the connection goes", |rig| {
            let epoch = rig.epoch();
            rig.input(supervisor_core::Input::Net(supervisor_core::Net::Lost {
                epoch,
                reason: "cut".into(),
            }));
        }),
    ];
    insta::assert_snapshot!(table(&states, &happenings, dialog_state));
}

fn call_state(rig: &Rig) -> String {
    use supervisor_core::call::CallStage;
    let calls = &rig.machine.state().calls;
    let told = rig.effects.iter().rev().find_map(|effect| match effect {
        supervisor_core::Effect::Reply { outcome: Outcome::Failed(failure), .. } => Some(failure.code),
        _ => None,
    });
    match calls.open.values().next() {
        Some(call) if call.req.is_none() && call.stage == CallStage::Running => "late".into(),
        Some(call) => match call.stage {
            CallStage::Waiting => "waiting".into(),
            CallStage::Running => "running".into(),
            CallStage::Interrupted(..) => "interrupted".into(),
        },
        None if !calls.late.is_empty() => "kept".into(),
        None => {
            told.filter(|code| *code != Code::DialogOpened).map_or("answered".into(), |code| code.to_string())
        }
    }
}

#[test]
fn the_life_of_a_call() {
    fn running() -> Rig {
        let mut rig = Rig::with_page();
        rig.context("SP", "P", 1);
        rig.eval("P");
        rig
    }
    fn interrupted() -> Rig {
        let mut rig = running();
        rig.opening("SP", "P", "alert", "?");
        rig
    }
    let states: [State; 4] = [
        ("waiting", || {
            let mut rig = Rig::with_page();
            rig.eval("P");
            rig
        }),
        ("running", running),
        ("interrupted", interrupted),
        ("late", || {
            let mut rig = interrupted();
            rig.closed("SP", "P", true, "");
            rig
        }),
    ];
    let happenings: [Happening; 9] = [
        ("its document comes", |rig| rig.context("SP", "P", 7)),
        ("the browser answers", |rig| {
            if !rig.sent_as("Runtime.evaluate").is_empty() {
                let id = rig.last_id("Runtime.evaluate");
                rig.reply(id, json!({"result": {"type": "undefined"}}));
            }
        }),
        ("a dialog opens", |rig| rig.opening("SP", "P", "confirm", "again?")),
        ("the dialog closes", |rig| rig.closed("SP", "P", true, "")),
        ("its document goes", |rig| rig.event("SP", "Runtime.executionContextsCleared", json!({}))),
        ("the renderer crashes", |rig| rig.event("SP", "Inspector.targetCrashed", json!({}))),
        ("the page goes", |rig| rig.event("", "Target.detachedFromTarget", json!({"sessionId": "SP"}))),
        ("its time passes", |rig| rig.advance(Duration::from_secs(31))),
        ("the host stops the task", |rig| {
            rig.host(Command::Stop);
        }),
    ];
    insta::assert_snapshot!(table(&states, &happenings, call_state));
}
