//! What only a journal on disk can do: last, stay within its bounds, and survive damage.

use std::fs;
use std::path::Path;

use supervisor_journal::{Bounds, Journal, JournalError, SledJournal};

use crate::contract::{event, run};

fn open(folder: &Path) -> SledJournal {
    SledJournal::open(folder, Bounds::default()).unwrap()
}

fn written(folder: &Path) {
    let mut journal = open(folder);
    let id = journal.begin(&run("a")).unwrap();
    for seq in 1..=100 {
        journal.append(id, &[event(seq)]).unwrap();
    }
    journal.barrier().unwrap();
    drop(journal);
    // sled writes its snapshot file when it opens a log.
    drop(open(folder));
}

/// The files of the present store whose name begins so.
fn files(folder: &Path, prefix: &str) -> Vec<std::path::PathBuf> {
    let store = folder.join("journal-00000001");
    let entries = fs::read_dir(store).unwrap().map(|entry| entry.unwrap());
    entries
        .filter(|entry| entry.file_name().to_str().unwrap().starts_with(prefix))
        .map(|entry| entry.path())
        .collect()
}

#[test]
fn what_was_written_is_there_after_opening_again_and_runs_go_on_counting() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let mut journal = open(folder.path());
    assert!(journal.repairs().is_empty());
    let first = journal.runs().unwrap()[0].id;
    assert_eq!(journal.read(first).unwrap().events.len(), 100);
    assert!(journal.begin(&run("b")).unwrap() > first);
}

#[test]
fn a_journal_that_somebody_writes_to_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut first = open(folder.path());
    let id = first.begin(&run("a")).unwrap();
    let second = SledJournal::open(folder.path(), Bounds::default());
    assert!(matches!(second, Err(JournalError::InUse(_))), "{second:?}");
    first.append(id, &[event(1)]).unwrap();
    assert_eq!(first.read(id).unwrap().events.len(), 1);
}

/// A writer that has ended may hold the lock a moment longer.
#[test]
fn a_journal_that_is_let_go_of_meanwhile_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let first = open(folder.path());
    let (tried, is_tried) = std::sync::mpsc::channel();
    let path = folder.path().to_owned();
    let second = std::thread::spawn(move || {
        tried.send(()).unwrap();
        SledJournal::open(&path, Bounds::default()).map(drop)
    });
    is_tried.recv().unwrap();
    drop(first);
    second.join().unwrap().unwrap();
}

#[test]
#[cfg(unix)]
fn the_folder_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("deep/journal");
    written(&inner);
    assert_eq!(fs::metadata(&inner).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn a_damaged_snapshot_file_is_repaired_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let snapshots = files(folder.path(), "snap.");
    assert!(!snapshots.is_empty());
    for snapshot in snapshots {
        fs::write(snapshot, b"damage").unwrap();
    }
    let journal = open(folder.path());
    assert_eq!(journal.repairs().len(), 1, "{:?}", journal.repairs());
    assert_eq!(journal.read(journal.runs().unwrap()[0].id).unwrap().events.len(), 100);
}

#[test]
fn a_store_that_cannot_be_repaired_is_set_aside_and_a_new_one_begun() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    // The snapshot file tells where the log's pages are; without both, there is nothing to go by.
    for snapshot in files(folder.path(), "snap.") {
        fs::write(snapshot, b"damage").unwrap();
    }
    for log in files(folder.path(), "db") {
        fs::remove_file(&log).unwrap();
        fs::create_dir(&log).unwrap();
    }
    let mut journal = open(folder.path());
    let id = journal.begin(&run("after")).unwrap();
    journal.append(id, &[event(1)]).unwrap();
    assert_eq!(journal.read(id).unwrap().events, [event(1)]);
    assert!(!journal.repairs().is_empty());
}
