//! `kill -9` while a task is recorded and journalled: what was flushed is there, and the rest does not hide it.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use supervisor::journal::{Bounds, Journal, JournalCopy, Keeper, ProcessJournal, SledJournal, journals};
use supervisor::{DialogPolicy, Options, Recording, StartOptions, Supervisor, Task, read_recording};

use crate::peer::{Connection, LIMIT, PAGE, Peer, SESSION, within};

/// Set for the child: the folder it writes to, and how large its recording may become.
const FOLDER: &str = "SUPERVISOR_KILLED_FOLDER";
const MAX_BYTES: &str = "SUPERVISOR_KILLED_MAX_BYTES";

/// How many rounds of recording and killing.
const ROUNDS: &str = "CDP_SUPERVISOR_KILL_ROUNDS";

/// Unless it is said.
const FEW: usize = 4;

/// So small that it has parts, and they are dropped, long before the child is killed.
const SMALL: u64 = 200_000;

const LARGE: u64 = 1 << 30;

#[test]
fn killed_at_any_moment_what_was_flushed_is_there() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        record_until_killed(folder.as_ref());
    }
    let rounds = std::env::var(ROUNDS).map_or(FEW, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let folder = tempfile::tempdir().unwrap();
        let max_bytes = if round % 2 == 0 { LARGE } else { SMALL };
        let flushed = killed_after(folder.path(), max_bytes, 2 + round % 5);
        assert_recording(folder.path(), max_bytes, &flushed, round);
        assert_journal(folder.path(), &flushed, round);
    }
}

/// What the child said last.
#[derive(Debug, Default)]
struct Flushed {
    /// Bytes of the recording.
    recorded: u64,
    /// The number of an event that the journal has.
    journalled: u64,
}

/// Nothing is lost of it but the line that was cut.
fn assert_recording(folder: &Path, max_bytes: u64, flushed: &Flushed, round: usize) {
    let recording = read_recording(folder.join("r.cdp.jsonl")).unwrap();
    let replayed = supervisor_transcript::drive(&recording).unwrap();
    assert!(replayed.damage.as_ref().is_none_or(|damage| damage.cut), "round {round}: {:?}", replayed.damage);
    // A small one may be full before its next part can begin: what has no room is left out and counted, and a checkpoint heals it.
    assert!(max_bytes == SMALL || replayed.counts.lost_lines == 0, "round {round}");
    assert_eq!(replayed.counts.unknown_lines.count, 0, "round {round}");
    assert_eq!(replayed.counts.wrong_checkpoints, [], "round {round}");
    assert!(!replayed.events.is_empty(), "round {round}");
    if max_bytes == SMALL {
        assert!(replayed.header.part > 1 && recording.len() as u64 <= SMALL, "round {round}");
    } else {
        assert!(recording.len() as u64 >= flushed.recorded, "round {round}: {flushed:?}");
    }
}

/// Read as it was left, and then opened to be written again.
fn assert_journal(folder: &Path, flushed: &Flushed, round: usize) {
    let found = journals(&folder.join("journal"));
    assert!(!found[0].is_live(), "round {round}");
    let copy = JournalCopy::of(&found[0].folder).unwrap();
    assert!(copy.repairs().is_empty(), "round {round}: {:?}", copy.repairs());
    let last = copy.runs().unwrap().pop().unwrap();
    let kept = copy.read(last.id).unwrap();
    assert!(last.last_seq >= flushed.journalled, "round {round}: {} of {flushed:?}", last.last_seq);
    assert_eq!((kept.unreadable, kept.missing), (0, 0), "round {round}");
    let opened = SledJournal::open(&found[0].folder, Bounds::default()).unwrap();
    assert!(opened.repairs().is_empty(), "round {round}: {:?}", opened.repairs());
    assert_eq!(opened.read(last.id).unwrap().events, kept.events, "round {round}");
}

/// Starts this very test as a child, and kills it after it has said so often what is flushed.
fn killed_after(folder: &Path, max_bytes: u64, times: usize) -> Flushed {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::killed_at_any_moment_what_was_flushed_is_there", "--nocapture"])
        .env(FOLDER, folder)
        .env(MAX_BYTES, max_bytes.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let numbers = |line: String| {
        let (recorded, journalled) = line.strip_prefix("flushed ")?.split_once(' ')?;
        Some(Flushed { recorded: recorded.parse().ok()?, journalled: journalled.parse().ok()? })
    };
    let last = lines.filter_map(numbers).take(times).last().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    last
}

#[tokio::main]
async fn record_until_killed(folder: &Path) -> ! {
    let journal = ProcessJournal::new(folder.join("journal"), Bounds::default()).unwrap();
    let (keeper, _) = Keeper::start(journal).unwrap();
    let mut options = Options::default();
    options.dialog_policy = DialogPolicy::AutoDismiss;
    let mut start = StartOptions::from(options);
    let mut recording = Recording::to(folder.join("r.cdp.jsonl"));
    recording.max_bytes = std::env::var(MAX_BYTES).unwrap().parse().unwrap();
    (start.recording, start.journal) = (Some(recording), Some(keeper.clone()));
    let mut peer = Peer::start().await;
    let supervisor = Supervisor::start();
    let task = within(supervisor.get_or_start("t", &peer.url(), start)).await.unwrap();
    task.wait_for(|snapshot| snapshot.frame_tree.top.is_some(), LIMIT).await.unwrap();
    let mut connection = peer.connection().await;
    let mut loader = 0;
    loop {
        for _ in 0..100 {
            happen(&mut connection, &mut loader).await;
        }
        say_flushed(&task, &keeper).await;
    }
}

/// Ten documents and a dialog.
async fn happen(connection: &mut Connection, loader: &mut u64) {
    for _ in 0..10 {
        *loader += 1;
        let frame = json!({"id": PAGE, "loaderId": format!("L{loader}"), "url": format!("https://example.com/{loader}"),
            "securityOrigin": "https://example.com", "mimeType": "text/html"});
        connection.send(&json!({"method": "Page.frameNavigated", "sessionId": SESSION,
            "params": {"type": "Navigation", "frame": frame}}));
    }
    connection.opens_dialog("confirm", "Sure?");
    connection.takes_answer().await;
}

async fn say_flushed(task: &Task, keeper: &Keeper) {
    let (journalled, keeper) = (task.snapshot().version, keeper.clone());
    let barrier = move || keeper.barrier(Duration::from_secs(20)).unwrap();
    tokio::task::spawn_blocking(barrier).await.unwrap();
    let recorded = task.recording().unwrap().bytes;
    writeln!(std::io::stdout(), "\nflushed {recorded} {journalled}").unwrap();
}
