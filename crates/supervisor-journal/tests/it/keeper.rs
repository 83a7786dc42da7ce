//! The thread: it holds nobody up, loses nothing that it had room for, and says what it lost.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use supervisor_journal::{
    Block, Bounds, Journal, JournalError, Keeper, Kept, PANICS, QUEUE, Run, RunId, SledJournal, Summary,
};

use crate::contract::{event, run};

const LIMIT: Duration = Duration::from_secs(30);

type Taken = Result<(), JournalError>;

/// A store that keeps nothing, and does what a test says when it is asked.
struct Odd<B, A, F> {
    begin: B,
    append: A,
    flush: F,
}

impl<B, A, F> Journal for Odd<B, A, F>
where
    B: FnMut() + Send + 'static,
    A: FnMut() -> Taken + Send + 'static,
    F: FnMut() -> Taken + Send + 'static,
{
    fn begin(&mut self, _: &Run) -> Result<RunId, JournalError> {
        (self.begin)();
        Ok(RunId(1))
    }
    fn append_blocks(&mut self, _: RunId, _: &[Block]) -> Taken {
        (self.append)()
    }
    fn barrier(&mut self) -> Taken {
        (self.flush)()
    }
    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        Ok(Vec::new())
    }
    fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        Err(JournalError::NoRun(run))
    }
}

/// A disk that stands still until it is told to go on.
fn stands_still(reached: Sender<()>, go: Receiver<()>) -> impl Journal {
    let begin = move || {
        reached.send(()).unwrap();
        go.recv().unwrap();
    };
    Odd { begin, append: || Ok(()), flush: || Ok(()) }
}

/// A disk that takes nothing.
fn broken() -> impl Journal {
    let full = || Err(JournalError::Store("no space".into()));
    Odd { begin: || (), append: full, flush: full }
}

/// A store with a fault of its own, as often as is said; it tells each time that it is asked.
fn panics(mut left: u32, asked: Sender<()>) -> impl Journal {
    let append = move || {
        let _ = asked.send(());
        let Some(after) = left.checked_sub(1) else { return Ok(()) };
        left = after;
        panic!("the store panics, as a test wishes")
    };
    Odd { begin: || (), append, flush: || Ok(()) }
}

#[test]
fn what_is_handed_over_is_on_disk_after_a_barrier_and_after_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let journal = SledJournal::open(folder.path(), Bounds::default()).unwrap();
    let (keeper, thread) = Keeper::start(journal).unwrap();
    let appender = keeper.begin(run("a"));
    for seq in 1..=50 {
        appender.append(&[event(seq)]);
    }
    keeper.barrier(LIMIT).unwrap();
    appender.append(&[event(51)]);
    assert_eq!(keeper.lost(), 0);
    drop((keeper, appender));
    thread.join().unwrap();
    let journal = SledJournal::open(folder.path(), Bounds::default()).unwrap();
    assert_eq!(journal.runs().unwrap()[0].events, 51);
}

#[test]
fn a_disk_that_stands_still_holds_nobody_up_and_what_is_lost_is_counted() {
    let ((reached, stuck), (go_on, go)) = (channel(), channel());
    let (keeper, thread) = Keeper::start(stands_still(reached, go)).unwrap();
    let appender = keeper.begin(run("a"));
    stuck.recv_timeout(LIMIT).unwrap();
    for seq in 0..QUEUE as u64 {
        appender.append(&[event(seq + 1)]);
    }
    assert_eq!(keeper.lost(), 0, "there is room for exactly that many");
    for _ in 0..7 {
        appender.append(&[event(1)]);
    }
    assert_eq!(keeper.lost(), 7);
    let late = keeper.barrier(Duration::from_millis(1)).unwrap_err();
    assert!(late.to_string().contains("did not take it within 0.001 s"), "{late}");
    go_on.send(()).unwrap();
    keeper.barrier(LIMIT).unwrap();
    drop((keeper, appender));
    thread.join().unwrap();
}

#[test]
fn what_the_store_does_not_take_is_counted_too() {
    let (keeper, thread) = Keeper::start(broken()).unwrap();
    let appender = keeper.begin(run("a"));
    appender.append(&[event(1)]);
    appender.append(&[event(2), event(3)]);
    assert!(keeper.barrier(LIMIT).unwrap_err().to_string().contains("no space"));
    assert_eq!(keeper.lost(), 2, "steps");
    drop((keeper, appender));
    thread.join().unwrap();
}

#[test]
fn a_store_that_panics_loses_what_it_was_given_and_goes_on() {
    let (asked, times) = channel();
    let (keeper, thread) = Keeper::start(panics(PANICS - 1, asked)).unwrap();
    let appender = keeper.begin(run("a"));
    keeper.barrier(LIMIT).unwrap();
    for lost in 1..PANICS {
        appender.append(&[event(u64::from(lost))]);
        let failed = keeper.barrier(LIMIT).unwrap_err().to_string();
        assert!(failed.contains("fault inside"), "{failed}");
        assert_eq!(keeper.lost(), u64::from(lost));
    }
    appender.append(&[event(9)]);
    keeper.barrier(LIMIT).unwrap();
    assert_eq!(keeper.lost(), u64::from(PANICS - 1));
    drop((keeper, appender));
    thread.join().unwrap();
    assert_eq!(times.iter().count() as u32, PANICS);
}

#[test]
fn a_store_that_goes_on_panicking_is_not_asked_again_and_nothing_waits_for_it() {
    let (asked, times) = channel();
    let (keeper, thread) = Keeper::start(panics(2 * PANICS, asked)).unwrap();
    let appender = keeper.begin(run("a"));
    for seq in 1..=u64::from(PANICS) {
        appender.append(&[event(seq)]);
        keeper.barrier(LIMIT).unwrap_err();
    }
    thread.join().unwrap();
    appender.append(&[event(99)]);
    keeper.barrier(LIMIT).unwrap_err();
    assert_eq!(keeper.lost(), u64::from(PANICS) + 1);
    assert_eq!(times.iter().count() as u32, PANICS);
}
