//! `journal`, as a user runs it.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use supervisor::journal::{Bounds, Journal as _, ProcessJournal, Run};
use supervisor::{Event, Recorded, supervisor_core::At};

fn journal(args: &[&str], root: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.arg("journal").args(args).arg("--dir").arg(root).stdin(Stdio::null()).output().unwrap()
}

fn lines(output: &Output) -> Vec<Value> {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A journal of this process with a run of each of these tasks.
fn kept(root: &Path, tasks: &[&str]) -> ProcessJournal {
    let mut journal = ProcessJournal::new(root, Bounds::default()).unwrap();
    for (task, started) in tasks.iter().zip(1_709_251_200_000_000..) {
        let endpoint = "ws://127.0.0.1:9222/devtools/browser/x".to_owned();
        let id = journal.begin(&Run { task: (*task).into(), started_unix_us: started, endpoint }).unwrap();
        let event = |seq, product: &str| Recorded {
            seq,
            at: At(seq),
            event: Event::BrowserIdentified { product: product.into() },
        };
        journal.append(id, &[event(1, "Chrome/\u{1b}[2J"), event(2, "Chrome/2")]).unwrap();
    }
    journal.barrier().unwrap();
    journal
}

#[test]
fn runs_are_listed_also_of_a_process_that_lives() {
    let root = tempfile::tempdir().unwrap();
    let live = kept(root.path(), &["shopping", "mail"]);
    let listed = lines(&journal(&["list", "--json"], root.path()));
    assert_eq!(listed.iter().map(|run| &run["task"]).collect::<Vec<_>>(), ["shopping", "mail"]);
    assert_eq!((&listed[0]["live"], &listed[0]["events"]), (&Value::from(true), &Value::from(2)));
    assert_eq!(listed[0]["process"], std::process::id());
    drop(live);
    let text = journal(&["list"], root.path());
    let text = String::from_utf8(text.stdout).unwrap();
    let first = text.lines().next().unwrap();
    for part in ["2024-03-01 00:00:00 UTC", "shopping", "2 events", "ws://127.0.0.1:9222/devtools/browser/x"]
    {
        assert!(first.contains(part), "{part}: {text}");
    }
    assert!(!first.contains("which runs"), "{text}");
}

#[test]
fn events_are_exported_one_a_line_after_what_their_run_is() {
    let root = tempfile::tempdir().unwrap();
    drop(kept(root.path(), &["a", "b", "a"]));
    let output = journal(&["export", "a"], root.path());
    assert!(!output.stdout.contains(&0x1b), "nothing of a page steers a terminal");
    let exported = lines(&output);
    assert_eq!(exported.len(), 6);
    assert_eq!((&exported[0]["run"]["id"], &exported[3]["run"]["id"]), (&Value::from(1), &Value::from(3)));
    assert_eq!(exported[1]["event"], "browser_identified");
    assert_eq!(exported[1]["product"], "Chrome/\u{1b}[2J");
    assert_eq!((&exported[2]["seq"], &exported[2]["at"]), (&Value::from(2), &Value::from(2)));
    let last = lines(&journal(&["export", "a", "--last"], root.path()));
    assert_eq!(last.len(), 3);
    assert_eq!(last[0]["run"]["id"], 3);
}

#[test]
fn what_is_not_there_is_said_and_what_is() {
    let root = tempfile::tempdir().unwrap();
    drop(kept(root.path(), &["a"]));
    let output = journal(&["export", "b"], root.path());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("no run of a task `b`") && said.contains("there is: a"), "{said}");
    let empty = tempfile::tempdir().unwrap();
    assert_eq!(lines(&journal(&["list", "--json"], empty.path())), [] as [Value; 0]);
    assert_eq!(lines(&journal(&["list"], &empty.path().join("none"))), [] as [Value; 0]);
    assert_eq!(journal(&["export", "a"], empty.path()).status.code(), Some(1));
}

#[test]
fn damage_is_told_and_does_not_hide_the_rest() {
    let root = tempfile::tempdir().unwrap();
    drop(kept(root.path(), &["whole"]));
    let first = std::fs::read_dir(root.path()).unwrap().next().unwrap().unwrap().path();
    drop(kept(root.path(), &["damaged"]));
    let damaged = std::fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().path());
    let store = damaged.filter(|path| *path != first).last().unwrap().join("journal-00000001");
    std::fs::remove_file(store.join("db")).unwrap();
    std::fs::create_dir(store.join("db")).unwrap();
    let output = journal(&["list", "--json"], root.path());
    assert_eq!(lines(&output).iter().map(|run| &run["task"]).collect::<Vec<_>>(), ["whole"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("damaged") && said.contains("could not be repaired"), "{said}");
    assert!(store.join("db").is_dir(), "it stays as it is");
}
