//! The recorder against a thread that a test holds up.

use std::path::Path;
use std::sync::mpsc::Receiver;

use supervisor_core::{EndpointKind, Input, Machine};
use supervisor_transcript::{check, drive};

use super::*;
use crate::recorder::parts::read_recording;

const PAGE: &str = r#"{"method":"Target.attachedToTarget","params":{"sessionId":"S","targetInfo":{"targetId":"T","type":"page","title":"secret title","url":"http://a.test/","attached":true,"canAccessOpener":false},"waitingForDebugger":false}}"#;

/// A recorder whose thread has not begun yet, and the machine that it records.
struct Stalled {
    recorder: Recorder,
    sink: Sink,
    waiting: Receiver<Record>,
    machine: Machine,
    at: At,
}

impl Stalled {
    fn begin(recording: &Recording) -> Self {
        let shared = Arc::<Shared>::default();
        let beginning = Beginning::default();
        let endpoint = Endpoint::parse("ws://127.0.0.1:1/devtools/browser/B").unwrap();
        let sink = Sink::begin(recording, &beginning, &endpoint, Arc::clone(&shared)).unwrap();
        let (lines, waiting) = sync_channel(RECORDING_LINES);
        let recorder = Recorder { lines, shared, written: Written(watch::channel(()).1) };
        Self { recorder, sink, waiting, machine: Machine::new(&beginning), at: At(0) }
    }

    /// As the task's actor does it: the input first, then what the machine sends.
    fn input(&mut self, entry: Entry) {
        self.at = At(self.at.0 + 1);
        let text = match &entry {
            Entry::Recv(_, _, text) => text.clone(),
            _ => Utf8Bytes::default(),
        };
        let input = match &entry {
            Entry::Recv(_, epoch, _) => Input::Received { epoch: *epoch, text: text.as_str() },
            Entry::Host(req, command) => Input::Host { req: *req, command: command.clone() },
            Entry::Net(_, net) => Input::Net(net.clone()),
            _ => Input::Tick,
        };
        let step = self.machine.step(self.at, input);
        self.recorder.record(self.at, entry);
        for effect in step.effects {
            if let supervisor_core::Effect::Send { text, .. } = effect {
                self.recorder.record(self.at, Entry::Send(Conn::Main, text.into()));
            }
        }
        if self.recorder.takes_checkpoint() {
            self.recorder.record(self.at, Entry::Checkpoint(Box::new(self.machine.checkpoint())));
        }
    }

    fn connect(&mut self) {
        self.input(Entry::Host(Req(1), Command::Start));
        self.input(Entry::Net(
            Conn::Main,
            Net::Connected { epoch: Epoch(1), endpoint: EndpointKind::Browser },
        ));
        self.input(recv(PAGE));
        for id in 1..=3 {
            self.input(recv(&format!(r#"{{"id":{id},"result":{{"product":"Chrome/1"}}}}"#)));
        }
    }

    /// The thread works off what waits.
    fn write(&mut self) {
        while let Ok(line) = self.waiting.try_recv() {
            self.sink.add(line).unwrap();
        }
        self.sink.rest().unwrap();
    }

    /// The thread works to the end.
    fn end(self) {
        drop(self.recorder);
        self.sink.run(&self.waiting);
    }
}

fn recv(text: &str) -> Entry {
    Entry::Recv(Conn::Main, Epoch(1), text.into())
}

fn console(number: usize) -> Entry {
    let pad = "x".repeat(900);
    recv(&format!(
        r#"{{"method":"Page.frameNavigated","sessionId":"S","params":{{"type":"Navigation","frame":{{"id":"T","loaderId":"L{number}","url":"http://a.test/{pad}","securityOrigin":"http://a.test","mimeType":""}}}}}}"#
    ))
}

fn text(path: &Path) -> String {
    String::from_utf8(read_recording(path).unwrap()).unwrap()
}

#[test]
fn lines_beyond_the_bound_are_counted_where_they_are_missing_and_a_checkpoint_heals() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut stalled = Stalled::begin(&Recording::to(&path));
    stalled.connect();
    while stalled.recorder.shared.lost.get() == 0 {
        stalled.input(Entry::Tick);
    }
    (0..6).for_each(|_| {
        stalled.input(recv(PAGE.replace("\"T\"", "\"T2\"").replace("\"S\"", "\"S2\"").as_str()))
    });
    stalled.write();
    // The first line after the loss tells of it; the checkpoint is asked for then.
    stalled.input(Entry::Tick);
    stalled.write();
    stalled.input(Entry::Tick);
    let live = stalled.machine.snapshot();
    let lost = stalled.recorder.shared.progress().lost_lines;
    stalled.end();
    let recording = text(&path);
    assert!(recording.contains(&format!(r#""dir":"lost","lines":{lost}}}"#)), "{lost}");
    let replayed = drive(&recording).unwrap();
    assert_eq!((replayed.counts.lost_lines, replayed.counts.wrong_checkpoints), (lost, vec![]));
    assert_eq!(replayed.snapshot, live, "the second page came while lines were lost");
}

#[test]
fn bytes_beyond_the_bound_are_lost_too_but_one_large_message_is_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut stalled = Stalled::begin(&Recording::to(&path));
    let large = "x".repeat(RECORDING_BYTES + 1);
    stalled.recorder.record(At(1), recv(&large));
    stalled.recorder.record(At(1), Entry::Send(Conn::Main, large.into()));
    stalled.write();
    stalled.end();
    let recording = text(&path);
    assert!(recording.contains(r#""dir":"lost","lines":1}"#));
    assert_eq!(recording.matches(r#""dir":"recv""#).count(), 1);
    assert_eq!(recording.matches(r#""dir":"send""#).count(), 0);
}

/// Records so many messages of about a kilobyte into a recording of so many bytes.
fn long_recording(
    recording: &Recording,
    messages: usize,
) -> (Arc<supervisor_core::Snapshot>, RecordingProgress) {
    let mut stalled = Stalled::begin(recording);
    stalled.connect();
    for number in 0..messages {
        stalled.input(console(number));
        if number % 3 == 0 {
            stalled.write();
        }
    }
    let (live, shared) = (stalled.machine.snapshot(), stalled.recorder.shared());
    stalled.end();
    (live, shared.progress())
}

#[test]
fn a_long_recording_is_written_in_parts_within_its_bound_and_replays_from_the_first_that_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let max_bytes = 100_000;
    let recording = Recording { max_bytes, ..Recording::to(&path) };
    let (live, progress) = long_recording(&recording, 500);
    let written = text(&path);
    assert_eq!(written.len() as u64, progress.bytes);
    assert!(progress.bytes <= max_bytes && progress.bytes > max_bytes / 2, "{progress:?}");
    assert!(
        progress.dropped_parts > 10 && progress.lost_lines == 0 && progress.messages > 500,
        "{progress:?}"
    );
    let replayed = check(&written).unwrap();
    assert_eq!(u64::from(replayed.header.part), progress.dropped_parts + 1);
    assert_eq!(replayed.snapshot, live);
    assert!(replayed.warnings[0].contains("what came before was dropped"), "{:?}", replayed.warnings);
}

#[test]
fn one_that_fits_is_never_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recording = Recording { max_bytes: 700_000, ..Recording::to(&path) };
    let (live, progress) = long_recording(&recording, 500);
    assert_eq!((progress.dropped_parts, progress.lost_lines), (0, 0));
    assert!(path.with_extension("1").exists());
    let replayed = check(&text(&path)).unwrap();
    assert_eq!((replayed.header.part, replayed.snapshot), (1, live));
    assert_eq!(replayed.warnings, [""; 0]);
}

#[test]
fn a_message_for_which_there_is_no_room_at_all_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut stalled = Stalled::begin(&Recording { max_bytes: 20_000, ..Recording::to(&path) });
    stalled.connect();
    stalled.input(recv(&format!(r#"{{"id":100,"result":{{"x":"{}"}}}}"#, "x".repeat(20_000))));
    stalled.write();
    stalled.input(Entry::Tick);
    stalled.write();
    stalled.input(Entry::Tick);
    let live = stalled.machine.snapshot();
    stalled.end();
    let replayed = drive(&text(&path)).unwrap();
    assert_eq!((replayed.counts.lost_lines, replayed.snapshot), (1, live));
    assert!(std::fs::metadata(&path).unwrap().len() < 20_000);
}

#[test]
fn a_redacted_recording_holds_no_text_in_any_part_and_replays() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let recording = Recording { max_bytes: 60_000, redact: true, ..Recording::to(&path) };
    let (live, progress) = long_recording(&recording, 100);
    assert!(progress.dropped_parts > 0);
    let written = text(&path);
    assert!(!written.contains("secret") && !written.contains("title\":\"secret title"), "{written}");
    let replayed = check(&written).unwrap();
    assert_eq!(replayed.snapshot.counts, live.counts);
    assert_eq!(replayed.snapshot.pages[0].target_id, live.pages[0].target_id);
    assert_ne!(replayed.snapshot.pages[0].title, live.pages[0].title);
}

#[test]
fn cookies_and_authorisations_are_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r");
    let mut stalled = Stalled::begin(&Recording::to(&path));
    stalled.connect();
    let sent = r#"{"headers":{"Authorization":"Bearer s3cret"}}"#.to_owned();
    let method = "Network.setExtraHTTPHeaders".to_owned();
    stalled.input(Entry::Host(
        Req(2),
        Command::Call { place: supervisor_core::Place::Active, method, params: sent, timeout_ms: None },
    ));
    stalled.input(recv(r#"{"id":100,"result":{"cookies":[{"name":"a","value":"s3cret"}]}}"#));
    stalled.end();
    let recording = text(&path);
    assert!(!recording.contains("s3cret"), "{recording}");
    assert!(
        recording.matches("Authorization").count() >= 2,
        "the call, and the message that carries it: {recording}"
    );
    check(&recording).unwrap();
}

#[test]
fn a_folder_gets_a_file_for_each() {
    let folder = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        Stalled::begin(&Recording::to(folder.path())).end();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
}
