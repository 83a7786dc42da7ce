//! What every journal must do.

use supervisor_core::{At, Event, Recorded};
use supervisor_journal::{Bounds, Journal, JournalError, MemoryJournal, Run, RunId, SledJournal};

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
