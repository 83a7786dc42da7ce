//! Reading disturbs nobody: neither who writes at that moment, nor what a killed process left.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use supervisor_journal::{Bounds, Journal, JournalCopy, JournalError, SledJournal};

use crate::contract::{event, run};

fn bytes(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            all.extend(bytes(&entry));
        } else {
            all.insert(entry.clone(), fs::read(entry).unwrap());
        }
    }
    all
}

fn left_behind(folder: &Path) {
    let mut journal = SledJournal::open(folder, Bounds::default()).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    for seq in 1..=100 {
        journal.append(id, &[event(seq)]).unwrap();
    }
    journal.barrier().unwrap();
    drop(journal);
    // sled writes its snapshot file when it opens a log.
    drop(SledJournal::open(folder, Bounds::default()).unwrap());
}

#[test]
fn what_is_read_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    left_behind(folder.path());
    let before = bytes(folder.path());
    let copy = JournalCopy::of(folder.path()).unwrap();
    let run = copy.runs().unwrap().pop().unwrap();
    assert_eq!(copy.read(run.id).unwrap().events.len(), 100);
    assert!(copy.repairs().is_empty());
    assert!(bytes(folder.path()) == before);
}

#[test]
fn damage_is_told_and_repaired_in_the_copy_only() {
    let folder = tempfile::tempdir().unwrap();
    left_behind(folder.path());
    let is_snapshot = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().starts_with("snap.");
    for snapshot in bytes(folder.path()).into_keys().filter(is_snapshot) {
        fs::write(snapshot, b"damage").unwrap();
    }
    let before = bytes(folder.path());
    let copy = JournalCopy::of(folder.path()).unwrap();
    assert_eq!(copy.repairs().len(), 1, "{:?}", copy.repairs());
    assert_eq!(copy.runs().unwrap()[0].events, 100);
    assert!(bytes(folder.path()) == before);
}

#[test]
fn what_is_not_there_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let missing = JournalCopy::of(&folder.path().join("no")).unwrap_err();
    assert!(matches!(missing, JournalError::Folder { .. }), "{missing}");
}

#[test]
fn one_that_is_written_meanwhile_is_read_without_gaps_and_goes_on() {
    /// Copies that are read from one writer.
    const COPIES: usize = 10;
    let folder = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(folder.path(), Bounds::default()).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    journal.append(id, &[event(1)]).unwrap();
    journal.barrier().unwrap();
    let done = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut seq = 1;
            while !done.load(Ordering::Relaxed) {
                seq += 1;
                journal.append(id, &[event(seq)]).unwrap();
                // As fast as the disk takes it.
                journal.barrier().unwrap();
            }
            seq
        });
        for _ in 0..COPIES {
            let copy = JournalCopy::of(folder.path()).unwrap();
            let kept = copy.read(id).unwrap();
            assert_eq!(
                (kept.missing, kept.unreadable, kept.events[0].seq),
                (0, 0, 1),
                "{:?}",
                copy.repairs()
            );
        }
        done.store(true, Ordering::Relaxed);
        writer.join().unwrap()
    });
    let kept = journal.read(id).unwrap();
    assert_eq!((kept.events.len() as u64, kept.missing), (written, 0));
}
