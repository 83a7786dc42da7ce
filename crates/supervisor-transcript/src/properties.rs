//! What holds for every session and every recording.

use proptest::prelude::*;
use supervisor_core::{Command, DialogPolicy, Place};

use crate::session::{
    Happening, Session, accept, answered_alert, carried_confirm, dialog_closes, dialog_opens, on_guard,
    page_attached,
};
use crate::{Reader, Redactor, TranscriptError, Writer, check, drive, drive_until, redact};

fn policy() -> impl Strategy<Value = DialogPolicy> {
    prop_oneof![
        Just(DialogPolicy::MustRespond),
        Just(DialogPolicy::AutoDismiss),
        Just(DialogPolicy::AutoAccept)
    ]
}

fn session_name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("S1"), Just("S2")]
}

/// Two pages, their dialogs, calls, and a connection that comes and goes.
fn happening() -> impl Strategy<Value = Happening> {
    let kind = prop_oneof![Just("alert"), Just("confirm"), Just("prompt"), Just("beforeunload")];
    let guard_name = || prop_oneof![Just("G1"), Just("G2")];
    prop_oneof![
        4 => (0_u64..3_000_000).prop_map(Happening::Wait),
        6 => Just(Happening::Reply(r#""result":{}"#)),
        1 => Just(Happening::Reply(r#""error":{"code":-32000,"message":"no"}"#)),
        2 => session_name().prop_map(|name| page_attached(name, &name.replace('S', "F"))),
        3 => (session_name(), kind).prop_map(|(name, kind)| dialog_opens(name, &name.replace('S', "F"), kind)),
        3 => (session_name(), any::<bool>()).prop_map(|(name, ok)| dialog_closes(name, &name.replace('S', "F"), ok)),
        2 => Just(accept()),
        2 => Just(Happening::Host(Command::Call {
            place: Place::Active,
            method: "Runtime.evaluate".to_owned(),
            params: r#"{"expression":"1"}"#.to_owned(),
            timeout_ms: Some(100),
        })),
        2 => Just(Happening::Host(Command::Start)),
        1 => Just(Happening::Host(Command::Stop)),
        2 => Just(Happening::Connected),
        1 => Just(Happening::Lost),
        1 => Just(Happening::DialFailed),
        1 => Just(Happening::Garbage),
        1 => Just(Happening::Tick),
        1 => Just(Happening::SaysLate("{}")),
        1 => Just(Happening::GuardConnected),
        1 => Just(Happening::GuardLost),
        2 => Just(Happening::GuardReply(r#""result":{}"#)),
        1 => Just(Happening::GuardReply(r#""result":{"sessionId":"G1"}"#)),
        1 => Just(Happening::GuardReply(r#""result":{"sessionId":"G2"}"#)),
        1 => guard_name().prop_map(|name| on_guard(dialog_opens(name, &name.replace('G', "F"), "confirm"))),
        1 => (guard_name(), any::<bool>())
            .prop_map(|(name, ok)| on_guard(dialog_closes(name, &name.replace('G', "F"), ok))),
        1 => any::<String>().prop_map(Happening::Says),
    ]
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    let head = prop_oneof![Just(Vec::new()), Just(answered_alert()), Just(carried_confirm())];
    (head, prop::collection::vec(happening(), 0..60)).prop_map(|(head, tail)| [head, tail].concat())
}

/// What an unlucky editor, disk or copy does to a recording.
#[derive(Debug, Clone)]
enum Mutation {
    Drop(prop::sample::Index),
    Double(prop::sample::Index),
    Swap(prop::sample::Index, prop::sample::Index),
    Cut(prop::sample::Index),
    Flip(prop::sample::Index, u8),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    use prop::sample::Index;
    prop_oneof![
        any::<Index>().prop_map(Mutation::Drop),
        any::<Index>().prop_map(Mutation::Double),
        any::<(Index, Index)>().prop_map(|(a, b)| Mutation::Swap(a, b)),
        any::<Index>().prop_map(Mutation::Cut),
        any::<(Index, u8)>().prop_map(|(at, byte)| Mutation::Flip(at, byte)),
    ]
}

fn mutated(recording: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = recording.to_vec();
    for mutation in mutations {
        let mut lines: Vec<Vec<u8>> =
            bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
        if lines.len() < 2 {
            break;
        }
        // The header stays, or there would be nothing to replay.
        let place = |index: &prop::sample::Index| 1 + index.index(lines.len() - 1);
        match mutation {
            Mutation::Drop(at) => drop(lines.remove(place(at))),
            Mutation::Double(at) => lines.insert(place(at), lines[place(at)].clone()),
            Mutation::Swap(a, b) => {
                let (a, b) = (place(a), place(b));
                lines.swap(a, b);
            }
            Mutation::Cut(at) => {
                let line = place(at);
                let half = lines[line].len() / 2;
                lines[line].truncate(half);
                lines.truncate(line + 1);
            }
            Mutation::Flip(at, byte) => {
                let line = place(at);
                let column = at.index(lines[line].len());
                lines[line][column] = *byte;
            }
        }
        bytes = lines.concat();
    }
    bytes
}

proptest! {
    #[test]
    fn a_replay_is_the_live_run(policy in policy(), happenings in happenings()) {
        let mut live = Session::run(policy, &happenings);
        let replayed = check(&live.recording).unwrap();
        prop_assert_eq!(&replayed.events, &live.events);
        prop_assert_eq!(replayed.snapshot, live.snapshot());
        prop_assert_eq!(replayed.counts.unknown_lines.count, 0);
        prop_assert_eq!(replayed.counts.faults, []);
    }

    #[test]
    fn a_recording_is_written_as_it_was_read(policy in policy(), happenings in happenings()) {
        let live = Session::run(policy, &happenings);
        let reader = Reader::new(&live.recording).unwrap();
        let mut copy = Vec::new();
        let mut writer = Writer::begin(reader.header(), &mut copy);
        reader.for_each(|line| writer.line(&line.unwrap().line, &mut copy));
        prop_assert_eq!(std::str::from_utf8(&copy).unwrap(), live.text());
    }

    #[test]
    fn a_beginning_of_a_recording_gives_a_beginning_of_the_events(happenings in happenings(), until in 0_u64..20_000_000) {
        let live = Session::run(DialogPolicy::MustRespond, &happenings);
        let until = supervisor_core::At(until);
        let part = drive_until(&live.recording, until).unwrap();
        let last = live.events.iter().map(|event| event.at).max().unwrap_or_default();
        let expected = live.events.iter().filter(|event| event.at <= until).count();
        // After the last line more time may pass than in the live run.
        let as_far = part.events.len() == expected || until >= last && part.events.len() > expected;
        prop_assert!(as_far, "{} events, expected {}", part.events.len(), expected);
        prop_assert_eq!(&part.events[..expected], &live.events[..expected]);
    }

    #[test]
    fn a_mutated_recording_replays_without_a_fault(
        policy in policy(),
        happenings in happenings(),
        mutations in prop::collection::vec(mutation(), 1..6),
    ) {
        let live = Session::run(policy, &happenings);
        let replayed = drive(&mutated(&live.recording, &mutations)).unwrap();
        prop_assert_eq!(replayed.counts.faults, []);
    }

    #[test]
    fn a_redacted_recording_replays_to_the_redacted_events(
        policy in policy(),
        happenings in happenings(),
        mutations in prop::collection::vec(mutation(), 0..4),
    ) {
        let recording = mutated(&Session::run(policy, &happenings).recording, &mutations);
        prop_assert_eq!(events_of_redacted(&recording), redacted_events(&recording));
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = drive(&bytes);
        let header = Session::new(DialogPolicy::MustRespond).recording;
        let replayed = drive(&[header, bytes].concat()).unwrap();
        prop_assert_eq!(replayed.counts.faults, []);
    }
}

fn redacted_events(recording: &[u8]) -> Vec<serde_json::Value> {
    let redactor = Redactor::of(recording);
    drive(recording).unwrap().events.iter().map(|event| redactor.event(event)).collect()
}

fn events_of_redacted(recording: &[u8]) -> Vec<serde_json::Value> {
    let replayed = drive(&redact(recording).unwrap()).unwrap();
    replayed.events.iter().map(|event| serde_json::to_value(event).unwrap()).collect()
}

#[test]
fn a_redacted_recording_has_none_of_its_texts_and_passes_its_check() {
    let mut happenings = answered_alert();
    happenings.push(dialog_opens("S1", "F1", "prompt"));
    happenings.push(accept());
    let live = Session::run(DialogPolicy::MustRespond, &happenings);
    let redacted = String::from_utf8(redact(&live.recording).unwrap()).unwrap();
    assert!(live.text().contains("hello") && live.text().contains("typed"));
    assert!(!redacted.contains("hello") && !redacted.contains("typed"), "{redacted}");
    check(&redacted).unwrap();
}

#[test]
fn the_example_session_answers_its_dialog() {
    let live = Session::run(DialogPolicy::MustRespond, &answered_alert());
    let replayed = check(&live.recording).unwrap();
    let recent = &replayed.snapshot.recent_dialogs;
    assert_eq!(recent.len(), 1);
    assert_eq!((recent[0].accepted, recent[0].opened_at), (Some(true), 1_650_000_002.501_001));
    let answer = replayed.sends.iter().find(|sent| sent.text.contains("Page.handleJavaScriptDialog"));
    assert_eq!(answer.unwrap().at, supervisor_core::At(2_501_018));
}

#[test]
fn a_session_with_a_guard_replays_with_what_was_said_on_both_connections() {
    let mut live = Session::run(DialogPolicy::MustRespond, &carried_confirm());
    let replayed = check(&live.recording).unwrap();
    assert_eq!(replayed.events, live.events);
    assert_eq!(replayed.snapshot, live.snapshot());
    let recent = &replayed.snapshot.recent_dialogs;
    assert_eq!((recent.len(), recent[0].accepted), (1, Some(true)));
    let answer = replayed.sends.iter().find(|sent| sent.text.contains("Page.handleJavaScriptDialog"));
    assert!(answer.unwrap().by_guard);
    // An answer on the other connection is another answer.
    let (number, line) = line_of(live.text(), "Page.handleJavaScriptDialog");
    let found = difference(&live.text().replace(line, &line.replace(r#","conn":"guard""#, "")));
    assert_eq!(found.line, number);
    assert!(found.sent.unwrap().starts_with("(guard connection) {"));
}

fn line_of<'a>(text: &'a str, word: &str) -> (usize, &'a str) {
    text.lines().enumerate().map(|(at, line)| (at + 1, line)).find(|(_, line)| line.contains(word)).unwrap()
}

fn difference(recording: &str) -> crate::Difference {
    match check(recording) {
        Err(TranscriptError::Difference(difference)) => *difference,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_changed_answer_is_found_with_its_context() {
    let live = Session::run(DialogPolicy::MustRespond, &answered_alert());
    let (number, line) = line_of(live.text(), "Page.handleJavaScriptDialog");
    let found = difference(&live.text().replace(line, &line.replace("true", "false")));
    assert_eq!(found.line, number);
    assert!(
        found.recorded.as_ref().unwrap().contains("false") && found.sent.as_ref().unwrap().contains("true")
    );
    let inputs: Vec<usize> = found.inputs.iter().map(|(number, _)| *number).collect();
    assert_eq!((inputs.len(), inputs[2]), (3, number - 1));
    let shown = found.to_string();
    assert!(shown.contains("recorded: {") && shown.contains("\"command\":\"respond\""), "{shown}");
}

#[test]
fn a_missing_and_a_surplus_message_are_found_where_they_are() {
    let live = Session::run(DialogPolicy::MustRespond, &answered_alert());
    let (number, line) = line_of(live.text(), "Page.handleJavaScriptDialog");
    let less = difference(&live.text().replace(&format!("{line}\n"), ""));
    assert_eq!((less.line, less.recorded.is_none(), less.sent.is_some()), (number - 1, true, true));
    let more = difference(&live.text().replace(line, &format!("{line}\n{line}")));
    assert_eq!((more.line, more.recorded.is_some(), more.sent.is_none()), (number + 1, true, true));
}

#[test]
fn lines_lost_by_the_recorder_are_a_warning_and_fail_a_check() {
    let live = Session::run(DialogPolicy::MustRespond, &answered_alert());
    let (number, line) = line_of(live.text(), "Page.javascriptDialogOpening");
    let lossy = live.text().replace(line, r#"{"t":2.501001,"dir":"lost","lines":1}"#);
    let replayed = drive(&lossy).unwrap();
    assert_eq!((replayed.counts.lost_lines, replayed.warnings.len()), (1, 1));
    assert!(matches!(check(&lossy), Err(TranscriptError::Lost { line, lines: 1 }) if line == number));
}

#[test]
fn a_damaged_recording_is_driven_up_to_the_damage_and_does_not_pass_a_check() {
    let live = Session::run(DialogPolicy::MustRespond, &answered_alert());
    let (number, line) = line_of(live.text(), "Page.javascriptDialogClosed");
    let cut = &live.text()[..live.text().find(line).unwrap() + 40];
    let replayed = drive(cut).unwrap();
    assert_eq!(replayed.damage.as_ref().map(|damage| (damage.line, damage.cut)), Some((number, true)));
    assert_eq!(replayed.snapshot.recent_dialogs.len(), 0);
    assert!(matches!(check(cut), Err(TranscriptError::Damaged(damage)) if damage.line == number));
}

#[test]
fn a_replay_up_to_a_moment_sees_the_dialog_open() {
    let live = Session::run(DialogPolicy::MustRespond, &answered_alert());
    let open = drive_until(&live.recording, supervisor_core::At(2_501_001)).unwrap();
    assert_eq!((open.snapshot.pending_dialogs.len(), open.snapshot.recent_dialogs.len()), (1, 0));
    let before = drive_until(&live.recording, supervisor_core::At(2_501_000)).unwrap();
    assert_eq!(before.snapshot.pending_dialogs.len(), 0);
}
