//! `kill -9` while writing: what was flushed is there, and the store opens.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use supervisor_journal::{Bounds, Journal, SledJournal};

use crate::contract::{event, run};

/// Set for the child: the folder it writes to.
const FOLDER: &str = "JOURNAL_CRASH_FOLDER";

/// How many rounds of writing and killing.
const ROUNDS: &str = "CDP_SUPERVISOR_KILL_ROUNDS";

/// Unless it is said.
const FEW: usize = 10;

#[test]
fn killed_at_any_moment_it_opens_again_with_all_that_was_flushed() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        write_until_killed(folder.as_ref());
    }
    let folder = tempfile::tempdir().unwrap();
    for round in 0..rounds() {
        let flushed = killed_after(folder.path(), 2 + round % FEW);
        let journal = SledJournal::open(folder.path(), Bounds::default()).unwrap();
        assert!(journal.repairs().is_empty(), "round {round}: {:?}", journal.repairs());
        let last = journal.runs().unwrap().pop().unwrap();
        let kept = journal.read(last.id).unwrap();
        assert!(last.last_seq >= flushed, "round {round}: {} of {flushed}", last.last_seq);
        assert_eq!((kept.unreadable, kept.missing), (0, 0), "round {round}");
    }
}

fn rounds() -> usize {
    std::env::var(ROUNDS).map_or(FEW, |rounds| rounds.parse().unwrap())
}

/// Starts this very test as a child that writes, and kills it after some flushes. Gives the last number that was flushed.
fn killed_after(folder: &std::path::Path, flushes: usize) -> u64 {
    let name = "crash::killed_at_any_moment_it_opens_again_with_all_that_was_flushed";
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut numbers = lines.filter_map(|line| line.strip_prefix("flushed ")?.parse::<u64>().ok());
    let last = numbers.by_ref().take(flushes).last().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    last
}

fn write_until_killed(folder: &std::path::Path) -> ! {
    let mut journal = SledJournal::open(folder, Bounds::default()).unwrap();
    let id = journal.begin(&run("a")).unwrap();
    let mut out = std::io::stdout();
    for seq in 1.. {
        journal.append(id, &[event(seq)]).unwrap();
        if seq % 64 == 0 {
            journal.barrier().unwrap();
            writeln!(out, "\nflushed {seq}").unwrap();
        }
    }
    unreachable!("it is killed before numbers run out")
}
