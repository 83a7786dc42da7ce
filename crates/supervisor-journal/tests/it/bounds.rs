//! What is kept is bounded in size and in age.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use supervisor_core::{At, Event, Recorded};
use supervisor_journal::{Bounds, Journal, SledJournal};

use crate::contract::{event, run};

const SMALL: Bounds = Bounds { max_bytes: 20 * 1024 * 1024, max_age: Duration::from_secs(1_000) };

pub(crate) fn long_event(seq: u64) -> Recorded {
    let product = format!("{seq:08}").repeat(2_500);
    Recorded { seq, at: At(seq), event: Event::BrowserIdentified { product } }
}

pub(crate) fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.map(|path| if path.is_dir() { size(&path) } else { fs::metadata(path).unwrap().len() }).sum()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// Says that the store was begun so long ago.
pub(crate) fn born(store: &Path, ago: u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    fs::write(store.join("born"), (now - ago).to_string()).unwrap();
}

#[test]
fn a_full_journal_lets_the_oldest_go_and_is_never_larger_than_it_may() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(folder.path(), SMALL).unwrap();
    let (busy, quiet) = (journal.begin(&run("busy")).unwrap(), journal.begin(&run("quiet")).unwrap());
    let mut largest = 0;
    for seq in 1..=2_500 {
        journal.append(busy, &[long_event(seq)]).unwrap();
        if seq % 100 == 0 {
            journal.append(quiet, &[event(seq)]).unwrap();
            largest = largest.max(size(folder.path()));
        }
    }
    journal.barrier().unwrap();
    assert!(largest.max(size(folder.path())) <= SMALL.max_bytes, "{largest} bytes");
    assert!(names(folder.path()).len() > 2, "{:?}", names(folder.path()));
    let kept = journal.read(busy).unwrap();
    assert_eq!(kept.events.last().unwrap().seq, 2_500, "the newest are there");
    assert!(kept.events.first().unwrap().seq > 1, "the oldest are not");
    assert_eq!((kept.missing, kept.unreadable), (0, 0));
    assert_eq!(journal.read(quiet).unwrap().events.last().unwrap().seq, 2_500, "every run goes on");
    let runs = journal.runs().unwrap();
    assert_eq!(runs.iter().map(|it| it.run.task.as_str()).collect::<Vec<_>>(), ["busy", "quiet"]);
}

#[test]
fn a_store_makes_place_for_the_next_in_time_and_goes_when_it_is_too_old() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(folder.path(), SMALL).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    journal.append(id, &[event(1)]).unwrap();
    journal.tidy().unwrap();
    assert_eq!(names(folder.path()), ["journal-00000001"]);
    let first = folder.path().join("journal-00000001");
    born(&first, 126);
    journal.tidy().unwrap();
    journal.append(id, &[event(2)]).unwrap();
    assert_eq!(
        names(folder.path()),
        ["journal-00000001", "journal-00000002"],
        "an eighth of its time is over"
    );
    assert_eq!(journal.read(id).unwrap().events.len(), 2);
    born(&first, 990);
    journal.tidy().unwrap();
    assert_eq!(names(folder.path()).len(), 2, "it may be as old as that");
    born(&first, 1_001);
    journal.tidy().unwrap();
    assert_eq!(names(folder.path()), ["journal-00000002"]);
    assert_eq!(journal.read(id).unwrap().events, [event(2)]);
}

#[test]
fn a_clock_that_goes_back_costs_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(folder.path(), SMALL).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    journal.append(id, &[event(1)]).unwrap();
    fs::write(folder.path().join("journal-00000001/born"), "99999999999").unwrap();
    journal.tidy().unwrap();
    assert_eq!(journal.read(id).unwrap().events.len(), 1);
}

#[test]
fn an_old_generation_goes_at_the_next_start() {
    let folder = tempfile::tempdir().unwrap();
    let mut journal = SledJournal::open(folder.path(), SMALL).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    journal.append(id, &[event(1)]).unwrap();
    drop(journal);
    born(&folder.path().join("journal-00000001"), 1_001);
    let journal = SledJournal::open(folder.path(), SMALL).unwrap();
    assert_eq!(names(folder.path()), ["journal-00000002"]);
    assert!(journal.runs().unwrap().is_empty());
}
