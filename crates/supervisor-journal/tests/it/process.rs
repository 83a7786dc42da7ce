//! Many processes below one root: each has its own journal, and those that ended are cleaned up.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use supervisor_journal::{Bounds, Journal, JournalCopy, ProcessJournal, journals};

use crate::bounds::{born, long_event, size};
use crate::contract::{event, run};

const SMALL: Bounds = Bounds { max_bytes: 20 * 1024 * 1024, max_age: Duration::from_secs(1_000) };

/// A journal with one run, as a process has it that lives.
fn living(root: &Path, task: &str, bytes: u64) -> ProcessJournal {
    let mut journal = ProcessJournal::new(root, SMALL).unwrap();
    let id = journal.begin(&run(task)).unwrap();
    for seq in 1..=(bytes / 20_000).max(1) {
        journal.append(id, &[long_event(seq)]).unwrap();
    }
    journal.barrier().unwrap();
    journal
}

fn tasks(root: &Path) -> Vec<String> {
    let runs = |folder: &PathBuf| JournalCopy::of(folder).unwrap().runs().unwrap();
    let found = journals(root);
    found.iter().flat_map(|found| runs(&found.folder)).map(|summary| summary.run.task).collect()
}

#[test]
fn a_process_that_begins_no_run_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    drop(ProcessJournal::new(root.path().join("deep/root"), SMALL).unwrap());
    assert_eq!(fs::read_dir(root.path().join("deep/root")).unwrap().count(), 0);
}

#[test]
fn those_that_live_are_told_and_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let first = living(root.path(), "first", 0);
    let ended = living(root.path(), "ended", 0);
    drop(ended);
    let found = journals(root.path());
    assert_eq!(found.iter().map(|it| it.is_live()).collect::<Vec<_>>(), [true, false]);
    assert!(found.iter().all(|it| it.process == Some(std::process::id())));
    for found in &found {
        born(&found.folder.join("journal-00000001"), 2_000);
    }
    drop(ProcessJournal::new(root.path(), SMALL).unwrap());
    assert_eq!(tasks(root.path()), ["first"], "the other one was too old");
    drop(first);
    drop(ProcessJournal::new(root.path(), SMALL).unwrap());
    assert_eq!(journals(root.path()), []);
}

#[test]
fn what_ended_ones_left_makes_room() {
    let root = tempfile::tempdir().unwrap();
    for task in ["a", "b", "c", "d", "e"] {
        drop(living(root.path(), task, 2_500_000));
        assert!(size(root.path()) <= SMALL.max_bytes, "{}", size(root.path()));
    }
    let left = tasks(root.path());
    assert!(left.len() < 5 && left.last().unwrap() == "e", "{left:?}");
    // A large one pushes all of them out while it grows.
    let large = living(root.path(), "large", 30_000_000);
    assert_eq!(tasks(root.path()), ["large"]);
    assert!(size(root.path()) <= SMALL.max_bytes, "{}", size(root.path()));
    drop(large);
}

#[test]
fn other_folders_are_nobodys_business() {
    let root = tempfile::tempdir().unwrap();
    for name in ["mine", "1", "a-2-3", "1-2-3-4"] {
        fs::create_dir(root.path().join(name)).unwrap();
    }
    drop(living(root.path(), "a", 0));
    assert_eq!(journals(root.path()).len(), 1);
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 5);
}

/// A folder may be a journal itself, as a host has it.
#[test]
fn the_folder_of_one_journal_is_found_too() {
    let root = tempfile::tempdir().unwrap();
    let mut journal = supervisor_journal::SledJournal::open(root.path(), SMALL).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    journal.append(id, &[event(1)]).unwrap();
    journal.barrier().unwrap();
    let found = journals(root.path());
    assert_eq!((found.len(), found[0].process), (1, None));
    assert_eq!(tasks(root.path()), ["a"]);
}
