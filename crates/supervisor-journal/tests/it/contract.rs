//! What every journal must do.

use supervisor_core::{At, Event, Recorded};
use supervisor_journal::{
    Bounds, Journal, JournalError, MEMORY_EVENTS, MemoryJournal, ProcessJournal, Run, RunId, SledJournal,
};

pub(crate) fn event(seq: u64) -> Recorded {
    Recorded { seq, at: At(seq * 10), event: Event::BrowserIdentified { product: format!("Chrome/{seq}") } }
}

pub(crate) fn run(task: &str) -> Run {
    Run { task: task.into(), started_unix_us: 5, endpoint: "ws://127.0.0.1:1/devtools/browser/x".into() }
}

fn contract(journal: &mut dyn Journal) {
    assert!(journal.runs().unwrap().is_empty());
    let first = journal.begin(&run("a")).unwrap();
    let second = journal.begin(&run("b")).unwrap();
    assert!(first < second);
    journal.append(first, &[event(1), event(2)]).unwrap();
    journal.append(second, &[event(1)]).unwrap();
    journal.append(first, &[event(3)]).unwrap();
    journal.append(first, &[]).unwrap();
    journal.barrier().unwrap();
    let kept = journal.read(first).unwrap();
    assert_eq!((kept.events, kept.unreadable, kept.missing), (vec![event(1), event(2), event(3)], 0, 0));
    assert_eq!(journal.read(second).unwrap().events, [event(1)]);
    let runs = journal.runs().unwrap();
    let seen: Vec<_> = runs.iter().map(|it| (it.run.task.as_str(), it.events, it.last_seq)).collect();
    assert_eq!(seen, [("a", 3, 3), ("b", 1, 1)]);
    journal.append(first, &[event(6)]).unwrap();
    assert_eq!(journal.read(first).unwrap().missing, 2);
    let nobody = RunId(99);
    assert!(matches!(journal.read(nobody), Err(JournalError::NoRun(_))));
    assert!(matches!(journal.append(nobody, &[event(1)]), Err(JournalError::NoRun(_))));
    journal.end(first).unwrap();
    journal.end(nobody).unwrap();
    assert!(matches!(journal.append(first, &[event(7)]), Err(JournalError::NoRun(_))), "it is over");
    assert_eq!(journal.read(first).unwrap().events.len(), 4, "and can still be read");
    journal.append(second, &[event(2)]).unwrap();
    journal.tidy().unwrap();
    assert!(journal.begin(&run("a")).unwrap() > second, "a task may run again");
}

#[test]
fn in_memory() {
    contract(&mut MemoryJournal::default());
}

#[test]
fn on_disk() {
    let folder = tempfile::tempdir().unwrap();
    contract(&mut SledJournal::open(folder.path(), Bounds::default()).unwrap());
}

#[test]
fn one_a_process() {
    let folder = tempfile::tempdir().unwrap();
    contract(&mut ProcessJournal::new(folder.path(), Bounds::default()).unwrap());
}

#[test]
fn a_journal_in_memory_lets_the_oldest_go() {
    let mut journal = MemoryJournal::bounded(3);
    let (first, second) = (journal.begin(&run("a")).unwrap(), journal.begin(&run("b")).unwrap());
    journal.append(first, &[event(1), event(2)]).unwrap();
    journal.append(second, &[event(1)]).unwrap();
    assert_eq!(journal.read(first).unwrap().events.len(), 2, "exactly as many as it may keep");
    journal.append(second, &[event(2)]).unwrap();
    assert_eq!(journal.read(first).unwrap().events, [event(2)]);
    journal.end(first).unwrap();
    journal.append(second, &[event(3)]).unwrap();
    assert_eq!(journal.runs().unwrap().len(), 1, "nothing is left of the first");
}

#[test]
fn a_journal_in_memory_keeps_so_many_events_unless_told_otherwise() {
    let mut journal = MemoryJournal::default();
    let run = journal.begin(&run("a")).unwrap();
    let events: Vec<Recorded> = (1..=MEMORY_EVENTS as u64).map(event).collect();
    journal.append(run, &events).unwrap();
    let first = |journal: &MemoryJournal| journal.read(run).unwrap().events.first().map(|event| event.seq);
    assert_eq!(first(&journal), Some(1), "exactly as many as it may keep");
    journal.append(run, &[event(MEMORY_EVENTS as u64 + 1)]).unwrap();
    assert_eq!(first(&journal), Some(2));
    assert_eq!(journal.read(run).unwrap().events.len(), MEMORY_EVENTS);
}
