//! `record` and `replay`, as a user runs them.
#![allow(clippy::unwrap_used)]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures").join(name)
}

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.args(args).stdin(Stdio::null());
    command
}

fn run(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

#[track_caller]
fn printed(output: &Output, code: i32) -> String {
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout:\n{out}\nstderr:\n{err}");
    out.into_owned()
}

fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&run(args), 0)).unwrap()
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

fn demo() -> String {
    std::fs::read_to_string(fixture("transcripts/demo.cdp.jsonl")).unwrap()
}

mod logs {
    use super::*;

    #[test]
    fn a_log_is_told_by_what_is_in_it_and_replays_to_what_its_program_saw() {
        for (name, unknown) in [("playwright", 0), ("puppeteer-core", 0), ("puppeteer-core-24", 2)] {
            let log = fixture(&format!("logs/{name}.txt"));
            let replayed = json(&["replay", text(&log), "--json"]);
            assert_eq!(replayed["import"]["unknown"]["count"], unknown, "{name}");
            assert!(replayed["import"]["messages"].as_u64().unwrap() > 100, "{name}");
            let seen = std::fs::read(fixture(&format!("logs/{name}.seen.json"))).unwrap();
            let seen: Value = serde_json::from_slice(&seen).unwrap();
            let dialogs = replayed["snapshot"]["recent_dialogs"].as_array().unwrap();
            assert_eq!(dialogs.len(), seen["dialogs"].as_array().unwrap().len(), "{name}");
            let first = printed(&run(&["replay", text(&log)]), 0);
            assert!(first.contains("messages of a protocol log"), "{first}");
        }
    }

    #[test]
    fn a_named_program_is_believed_and_what_is_no_log_is_refused() {
        let log = fixture("logs/playwright.txt");
        assert!(json(&["replay", text(&log), "--import", "playwright", "--json"])["import"].is_object());
        let refused = run(&["replay", text(&fixture("logs/README.md")), "--import", "puppeteer"]);
        printed(&refused, 1);
        assert!(String::from_utf8_lossy(&refused.stderr).contains("there is no message in it"));
        printed(&run(&["replay", text(&fixture("logs/README.md"))]), 1);
    }

    #[test]
    fn a_log_can_be_written_as_a_transcript() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("pw.jsonl");
        printed(&run(&["replay", text(&fixture("logs/playwright.txt")), "-o", text(&out)]), 0);
        let (log, transcript) = (fixture("logs/playwright.txt"), json(&["replay", text(&out), "--json"]));
        assert_eq!(transcript["snapshot"], json(&["replay", text(&log), "--json"])["snapshot"]);
        assert!(transcript["import"].is_null());
    }
}

mod redaction {
    use super::*;

    #[test]
    fn a_redacted_copy_has_no_texts_replays_and_overwrites_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().join("shared.cdp.jsonl");
        let args = ["replay", text(&fixture("transcripts/demo.cdp.jsonl")), "--redact", "-o", text(&out)]
            .map(str::to_owned);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        printed(&run(&args), 0);
        let copy = std::fs::read_to_string(&out).unwrap();
        assert!(demo().contains("Your session is about to expire") && !copy.contains("session is about"));
        assert_eq!(std::fs::metadata(&out).unwrap().permissions().mode() & 0o777, 0o600);
        let dialogs = json(&["replay", text(&out), "--json"]);
        assert_eq!(dialogs["snapshot"]["recent_dialogs"].as_array().unwrap().len(), 8);
        let again = run(&args);
        printed(&again, 1);
        assert!(String::from_utf8_lossy(&again.stderr).contains("cannot write"));
        assert_eq!(std::fs::read_to_string(&out).unwrap(), copy);
    }

    #[test]
    fn it_needs_a_file_to_write() {
        printed(&run(&["replay", text(&fixture("transcripts/demo.cdp.jsonl")), "--redact"]), 2);
    }
}

mod parts {
    use super::*;

    /// The demo in three parts, the youngest last.
    fn in_parts(folder: &Path) -> PathBuf {
        let file = folder.join("run.cdp.jsonl");
        let (recording, third) = (demo(), demo().lines().count() / 3);
        let lines: Vec<&str> = recording.split_inclusive('\n').collect();
        std::fs::write(folder.join("run.cdp.jsonl.2"), lines[..third].concat()).unwrap();
        std::fs::write(folder.join("run.cdp.jsonl.1"), lines[third..2 * third].concat()).unwrap();
        std::fs::write(&file, lines[2 * third..].concat()).unwrap();
        file
    }

    #[test]
    fn older_parts_are_read_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = in_parts(folder.path());
        let whole = json(&["replay", text(&fixture("transcripts/demo.cdp.jsonl")), "--json"]);
        assert_eq!(json(&["replay", text(&file), "--json"]), whole);
        printed(&run(&["replay", text(&file), "--check"]), 0);
        let out = folder.path().join("one.cdp.jsonl");
        printed(&run(&["replay", text(&file), "-o", text(&out)]), 0);
        assert_eq!(std::fs::read_to_string(&out).unwrap(), demo());
    }

    #[test]
    fn damage_is_told_with_its_place_in_its_part() {
        let folder = tempfile::tempdir().unwrap();
        let file = in_parts(folder.path());
        let part = folder.path().join("run.cdp.jsonl.1");
        let lines = std::fs::read_to_string(&part).unwrap();
        let second = lines.split_inclusive('\n').take(1).map(str::len).sum::<usize>();
        std::fs::write(&part, format!("{}\0{}", &lines[..second], &lines[second + 1..])).unwrap();
        let output = run(&["replay", text(&file)]);
        printed(&output, 1);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(
            said.contains("run.cdp.jsonl.1: ") && said.contains(&format!("at line 2, byte {second}:")),
            "{said}"
        );
    }
}

/// These need a Chromium.
mod browser {
    use std::io::{BufRead as _, BufReader};
    use std::process::Child;

    use rustix::process::{Pid, Signal, kill_process};
    use supervisor::{EvalOptions, Options, Supervisor};

    use super::*;

    /// `record`, and what it said first.
    struct Recording {
        child: Child,
        url: String,
        /// Ends with the process's standard error.
        said: std::thread::JoinHandle<String>,
    }

    fn record(args: &[&str]) -> Recording {
        let all = [&["record", "--launch", "--no-journal"], args].concat();
        let mut child = command(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let first = lines.next().unwrap();
        let (_, url) = first.split_once(" at ").unwrap_or_else(|| panic!("{first}"));
        let url = url.split(" to ").next().unwrap().to_owned();
        let said = std::thread::spawn(move || lines.collect::<Vec<_>>().join("\n"));
        Recording { child, url, said }
    }

    impl Recording {
        fn end(self, signal: Signal) -> (String, String) {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
            let output = self.child.wait_with_output().unwrap();
            let said = self.said.join().unwrap();
            assert_eq!(output.status.code(), Some(0), "{said}");
            (String::from_utf8(output.stdout).unwrap(), said)
        }
    }

    /// Another client of the same browser raises an alert, which the policy answers.
    async fn alert(url: &str) {
        let other = Supervisor::start();
        let task = other.get_or_start("other", url, Options::default()).await.unwrap();
        let limit = std::time::Duration::from_secs(30);
        let _ = task.eval(None, "setTimeout(() => alert('recorded text'))", EvalOptions::default()).await;
        let ended = task.wait_for(|snapshot| !snapshot.recent_dialogs.is_empty(), limit).await;
        ended.unwrap();
        other.stop_all().await;
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn it_records_until_a_signal_and_everything_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.cdp.jsonl");
        let args =
            ["-o", text(&file), "--policy", "auto-dismiss", "--why", "an alert is dismissed", "--json"];
        let recording = record(&args);
        alert(&recording.url).await;
        let (out, _) = recording.end(Signal::TERM);
        let told: Value = serde_json::from_str(&out).unwrap();
        assert_eq!((&told["dialogs"], &told["lost_lines"]), (&Value::from(1), &Value::from(0)));
        assert_eq!(told["bytes"], std::fs::metadata(&file).unwrap().len());
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        let replayed = json(&["replay", text(&file), "--json"]);
        assert_eq!(replayed["header"]["why"], "an alert is dismissed");
        assert_eq!(replayed["snapshot"]["status"], "stopped");
        assert_eq!(replayed["snapshot"]["recent_dialogs"][0]["closed_by"], "auto_policy");
        printed(&run(&["replay", text(&file), "--check"]), 0);
        let again = run(&["record", "--launch", "--no-journal", "-o", text(&file)]);
        printed(&again, 1);
        assert!(String::from_utf8_lossy(&again.stderr).contains("exists"));
        record(&["-o", text(&file), "--force"]).end(Signal::INT);
        assert!(!std::fs::read_to_string(&file).unwrap().contains("an alert is dismissed"));
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_redacted_recording_is_never_there_in_plain() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("run.cdp.jsonl");
        let recording = record(&["-o", text(&file), "--policy", "auto-accept", "--redact"]);
        alert(&recording.url).await;
        let (out, _) = recording.end(Signal::HUP);
        assert!(out.contains("1 dialog"), "{out}");
        assert!(!std::fs::read_to_string(&file).unwrap().contains("recorded text"));
        let replayed = json(&["replay", text(&file), "--json"]);
        assert_eq!(replayed["snapshot"]["recent_dialogs"][0]["message"].as_str().unwrap().len(), 13);
    }
}

#[test]
fn without_a_file_nothing_is_begun() {
    let output = run(&["record", "http://127.0.0.1:1", "--no-journal"]);
    printed(&output, 2);
    assert!(String::from_utf8_lossy(&output.stderr).contains("give a file by -o"));
}

/// The next try is not told that the file exists already.
#[test]
fn an_attempt_that_comes_to_nothing_leaves_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let url = format!("http://127.0.0.1:{closed}");
    for path in [folder.path().join("run.cdp.jsonl"), folder.path().to_owned()] {
        for _ in 0..2 {
            let output = run(&["record", &url, "--no-journal", "-o", text(&path)]);
            printed(&output, 1);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(said.contains("error: cannot supervise") && said.contains("stage: tcp"), "{said}");
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
}
