//! The built command, as a user runs it.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead as _, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

use serde_json::Value;

const FIXTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/transcripts/demo.cdp.jsonl");

/// Surroundings of our own: nothing of the developer's settings, and no journal beside his.
const HOME: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/home");

fn command(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cdp-supervisor"));
    command.args(args).stdin(Stdio::null());
    command.env("XDG_CONFIG_HOME", HOME).env("XDG_STATE_HOME", HOME).env_remove("BROWSER_CDP_URL");
    command
}

fn run(args: &[&str]) -> Output {
    command(args).output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

/// The exit code, with what was said when it is another one.
#[track_caller]
fn assert_exit(output: &Output, code: i32) {
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout:\n{out}\nstderr:\n{err}");
}

#[test]
fn every_subcommand_explains_itself_with_examples() {
    let whole = run(&["--help"]);
    assert_exit(&whole, 0);
    for part in ["demo", "watch", "probe", "replay", "config", "Exit codes:", "--log-level", "--log-format"] {
        assert!(text(&whole.stdout).contains(part), "{part}: {}", text(&whole.stdout));
    }
    let (_, commands) = text(&whole.stdout).split_once("Commands:\n").unwrap();
    let names = commands.lines().take_while(|line| !line.is_empty());
    let names: Vec<_> = names.filter(|line| line.starts_with("  ") && !line.starts_with("   ")).collect();
    assert!(names.len() > 20, "{names:?}");
    for name in
        names.iter().map(|line| line.split_whitespace().next().unwrap()).filter(|name| *name != "help")
    {
        explains_itself(&[name]);
    }
    explains_itself(&["journal", "list"]);
    explains_itself(&["journal", "export"]);
}

/// Those that print no data of their own, or nothing but JSON.
const WITHOUT_JSON: [&str; 7] =
    ["mcp", "timeline", "journal", "export", "completions", "man", "bench-client"];

#[track_caller]
fn explains_itself(subcommand: &[&str]) {
    let help = run(&[subcommand, &["--help"]].concat());
    assert_exit(&help, 0);
    let said = text(&help.stdout);
    assert!(said.contains("Examples:\n  ") && said.contains("  cdp-supervisor "), "{said}");
    let name = subcommand.last().unwrap();
    assert!(said.contains("--json") || WITHOUT_JSON.contains(name), "{said}");
}

#[test]
fn a_number_of_threads_that_cannot_be_is_refused() {
    for wrong in ["0", "1025", "two", ""] {
        let mut status = command(&["status"]);
        let output = status.env("TOKIO_WORKER_THREADS", wrong).output().unwrap();
        assert_exit(&output, 2);
        let said = text(&output.stderr);
        assert!(said.contains("a number from 1 to 1024") && said.contains(&format!("{wrong:?}")), "{said}");
    }
}

#[test]
fn a_wrong_command_line_exits_with_2() {
    for wrong in [
        &[][..],
        &["sing"],
        &["watch"],
        &["watch", "http://127.0.0.1:1", "--launch"],
        &["replay", FIXTURE, "--at", "soon"],
        &["replay", FIXTURE, "--at", "-1"],
        &["replay", FIXTURE, "--at", "1", "--check"],
        &["replay", FIXTURE, "--shrink", "panic"],
        &["replay", FIXTURE, "--shrink", "something", "-o", "x"],
        &["demo", "--log-level", "loud"],
    ] {
        let output = run(wrong);
        assert_exit(&output, 2);
        assert!(
            text(&output.stderr).contains("Usage:") || text(&output.stderr).contains("--help"),
            "{wrong:?}"
        );
    }
}

#[test]
fn watching_a_port_that_nobody_listens_on_says_where_it_failed() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let output = run(&["watch", &format!("ws://127.0.0.1:{port}/devtools/browser/1?token=secret")]);
    assert_exit(&output, 1);
    let said = text(&output.stderr);
    for part in ["error: cannot supervise", &format!("127.0.0.1:{port}"), "stage: tcp", "why: ", "next: "] {
        assert!(said.contains(part), "{part}: {said}");
    }
    assert!(!said.contains("secret"), "{said}");
}

mod replay {
    use super::*;

    #[test]
    fn prints_what_happened_and_the_last_snapshot() {
        let output = run(&["replay", FIXTURE]);
        assert_exit(&output, 0);
        let printed = text(&output.stdout);
        for part in [
            "? d-1 alert \"Your session is about to expire.\"",
            "✓ d-1 accepted by agent",
            "\"status\": \"stopped\"",
        ] {
            assert!(printed.contains(part), "{part}: {printed}");
        }
    }

    #[test]
    fn prints_one_json_object_and_stops_where_it_is_told() {
        let whole = json(&["replay", FIXTURE, "--json"]);
        let dialogs = whole["snapshot"]["recent_dialogs"].as_array().unwrap();
        assert_eq!(dialogs.len(), 8);
        assert_eq!(whole["snapshot"]["status"], "stopped");
        let opened_at = dialogs[0]["opened_at"].as_f64().unwrap();
        let started_at = whole["header"]["beginning"]["started_unix_us"].as_f64().unwrap() / 1e6;
        // Times of wall clocks as floats are exact to less than a microsecond, so one more is after the opening.
        let part =
            json(&["replay", FIXTURE, "--json", "--at", &format!("{:.6}", opened_at - started_at + 2e-6)]);
        assert_eq!(part["snapshot"]["pending_dialogs"][0]["id"], "d-1");
        assert!(part["events"].as_array().unwrap().len() < whole["events"].as_array().unwrap().len());
    }

    fn json(args: &[&str]) -> Value {
        let output = run(args);
        assert_exit(&output, 0);
        serde_json::from_slice(&output.stdout).unwrap()
    }

    #[test]
    fn checks_that_the_same_is_sent() {
        let output = run(&["replay", FIXTURE, "--check"]);
        assert_exit(&output, 0);
        assert!(text(&output.stdout).contains("every message is sent as it was recorded"));
    }

    #[test]
    fn a_difference_is_shown_with_its_line() {
        let folder = tempfile::tempdir().unwrap();
        let recording = std::fs::read_to_string(FIXTURE).unwrap();
        let line = 1 + recording
            .lines()
            .position(|line| line.contains("\"send\"") && line.contains("handleJavaScriptDialog"))
            .unwrap();
        let changed = recording.replacen(r#""accept":true"#, r#""accept":false"#, 1);
        let output = run(&["replay", &written(folder.path(), &changed), "--check"]);
        assert_exit(&output, 1);
        let said = text(&output.stderr);
        assert!(said.contains(&format!("line {line} ")) && said.contains("\"accept\":false"), "{said}");
    }

    #[test]
    fn a_cut_recording_is_replayed_up_to_the_cut() {
        let folder = tempfile::tempdir().unwrap();
        let recording = std::fs::read_to_string(FIXTURE).unwrap();
        let output = run(&["replay", &written(folder.path(), &recording[..recording.len() / 2])]);
        assert_exit(&output, 1);
        assert!(text(&output.stdout).contains("✓ d-1 accepted by agent"), "{}", text(&output.stdout));
        assert!(text(&output.stderr).contains("damaged at line"), "{}", text(&output.stderr));
    }

    #[test]
    fn a_recording_is_shrunk_to_what_still_shows_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let small = folder.path().join("small.cdp.jsonl");
        let small = small.to_str().unwrap();
        let output = run(&["replay", FIXTURE, "--shrink", "event=dialog_opened", "-o", small]);
        assert_exit(&output, 0);
        assert!(text(&output.stderr).contains("inputs, after"), "{}", text(&output.stderr));
        let replayed = json(&["replay", small, "--json"]);
        assert_eq!(replayed["snapshot"]["pending_dialogs"].as_array().unwrap().len(), 1);
        assert!(replayed["counts"]["inputs"].as_u64().unwrap() <= 6);
        let output = run(&["replay", FIXTURE, "--shrink", "dialog-lost", "-o", small]);
        assert_exit(&output, 1);
        assert!(text(&output.stderr).contains("does not show `dialog-lost`"), "{}", text(&output.stderr));
    }

    #[test]
    fn a_recording_is_shrunk_to_what_makes_its_snapshot_differ_from_the_expected_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
        let (expected, small) = (path("expected.json"), path("small.cdp.jsonl"));
        let mut snapshot = json(&["replay", FIXTURE, "--json"]);
        std::fs::write(&expected, snapshot.to_string()).unwrap();
        let differs = format!("differs-from={expected}");
        let output = run(&["replay", FIXTURE, "--shrink", &differs, "-o", &small]);
        assert_exit(&output, 1);
        assert!(text(&output.stderr).contains("does not show `differs-from`"), "{}", text(&output.stderr));
        let was = snapshot["snapshot"]["recent_dialogs"][0]["message"].take();
        snapshot["snapshot"]["recent_dialogs"][0]["message"] = "something else".into();
        std::fs::write(&expected, snapshot.to_string()).unwrap();
        assert_exit(&run(&["replay", FIXTURE, "--shrink", &differs, "-o", &small]), 0);
        let replayed = json(&["replay", &small, "--json"]);
        assert_eq!(replayed["snapshot"]["recent_dialogs"][0]["message"], was);
        assert!(replayed["counts"]["inputs"].as_u64() < snapshot["counts"]["inputs"].as_u64());
        let output = run(&["replay", FIXTURE, "--shrink", "differs-from=no-such-file", "-o", &small]);
        assert_exit(&output, 2);
        assert!(text(&output.stderr).contains("reading no-such-file"), "{}", text(&output.stderr));
    }

    #[test]
    fn a_file_that_is_not_there_is_told() {
        let output = run(&["replay", "no-such-recording.cdp.jsonl"]);
        assert_exit(&output, 1);
        assert!(text(&output.stderr).contains("no-such-recording.cdp.jsonl"), "{}", text(&output.stderr));
    }

    fn written(folder: &Path, recording: &str) -> String {
        let path = folder.join("recording.cdp.jsonl");
        std::fs::write(&path, recording).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[test]
fn without_a_browser_the_demo_shows_a_recording_and_says_so() {
    let output = command(&["demo"]).env("CHROME", "/nonexistent/chrome").output().unwrap();
    assert_exit(&output, 3);
    let printed = text(&output.stdout);
    for part in ["/nonexistent/chrome", "no browser takes part", "? d-1 alert", "✓ d-8 accepted by agent"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
}

#[test]
fn without_a_browser_there_is_nothing_to_launch_and_watch() {
    let output = command(&["watch", "--launch"]).env("CHROME", "/nonexistent/chrome").output().unwrap();
    assert_exit(&output, 3);
    assert!(text(&output.stderr).contains("/nonexistent/chrome"), "{}", text(&output.stderr));
}

#[test]
fn a_slip_in_a_subcommand_is_seen_through() {
    let output = run(&["snapshto"]);
    assert_exit(&output, 2);
    assert!(text(&output.stderr).contains("'snapshot'"), "{}", text(&output.stderr));
}

#[test]
fn completions_know_subcommands_and_flags() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = run(&["completions", shell]);
        assert_exit(&output, 0);
        let script = text(&output.stdout);
        assert!(script.contains("snapshot") && script.contains("dialog-timeout"), "{shell}: {script}");
    }
    let output = run(&["completions", "bash"]);
    let checked = Command::new("bash").arg("-n").arg("-c").arg(text(&output.stdout)).output().unwrap();
    assert!(checked.status.success(), "{}", text(&checked.stderr));
}

#[test]
fn there_is_a_manual_page_for_each_subcommand() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("man1");
    assert_exit(&run(&["man", pages.to_str().unwrap()]), 0);
    let page = std::fs::read_to_string(pages.join("cdp-supervisor-serve.1")).unwrap();
    for part in [".TH", "NAME", "\\-\\-detach", "cdp\\-supervisor serve \\-\\-launch"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    for name in ["cdp-supervisor.1", "cdp-supervisor-dialog.1", "cdp-supervisor-mcp.1"] {
        assert!(pages.join(name).exists(), "{name}");
    }
    let refused = run(&["man", "/dev/null/x"]);
    assert_exit(&refused, 1);
    assert!(text(&refused.stderr).contains("cannot write /dev/null/x"), "{}", text(&refused.stderr));
}

/// These need a Chromium.
mod browser {
    use rustix::process::{Pid, Signal, kill_process};
    use supervisor::{EvalOptions, Options, Supervisor};
    use tempfile::TempDir;

    use super::*;

    /// A command that runs, and the lines that it prints. Its profiles are in a folder of its own.
    struct Live {
        child: Child,
        lines: Lines<BufReader<ChildStdout>>,
        printed: Vec<String>,
        folder: TempDir,
    }

    impl Live {
        fn start(args: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let mut command = command(args);
            let mut child = command.env("TMPDIR", folder.path()).stdout(Stdio::piped()).spawn().unwrap();
            let lines = BufReader::new(child.stdout.take().unwrap()).lines();
            Self { child, lines, printed: Vec::new(), folder }
        }

        /// Reads on to the first line with this text.
        #[track_caller]
        fn line(&mut self, wanted: &str) -> String {
            for line in self.lines.by_ref() {
                let line = line.unwrap();
                self.printed.push(line.clone());
                if line.contains(wanted) {
                    return line;
                }
            }
            panic!("no line with `{wanted}` in:\n{}", self.printed.join("\n"));
        }

        fn signal(&self, signal: Signal) {
            kill_process(Pid::from_child(&self.child), signal).unwrap();
        }

        /// Reads to the end; gives everything that was printed, and the exit code. No profile may be left.
        fn end(mut self) -> (String, Option<i32>) {
            self.printed.extend(self.lines.map(Result::unwrap));
            let (printed, code) = (self.printed.join("\n"), self.child.wait().unwrap().code());
            let left = std::fs::read_dir(self.folder.path()).unwrap().map(|entry| entry.unwrap().path());
            let profiles: Vec<_> =
                left.filter(|path| path.to_string_lossy().contains("chromium-launcher-")).collect();
            assert_eq!(profiles, [""; 0].map(PathBuf::from), "{printed}");
            (printed, code)
        }
    }

    /// The process and the profile that a line names.
    fn launched(line: &str) -> (u32, PathBuf) {
        let (_, rest) = line.split_once("process ").unwrap();
        let (pid, profile) = rest.split_once(", throw-away profile ").unwrap();
        (pid.parse().unwrap(), PathBuf::from(profile))
    }

    /// A zombie waits only for whoever started it.
    fn is_gone(pid: u32) -> bool {
        let state = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output().unwrap();
        let state = text(&state.stdout).trim();
        state.is_empty() || state.starts_with('Z')
    }

    #[test]
    fn the_demo_answers_everything_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let recording = folder.path().join("demo.cdp.jsonl");
        let output = run(&["demo", "--no-install", "--json", "--record", recording.to_str().unwrap()]);
        assert_exit(&output, 0);
        let lines: Vec<Value> =
            text(&output.stdout).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let said = |wanted: &str| {
            lines.iter().find_map(|line| line["text"].as_str().filter(|text| text.contains(wanted)))
        };
        let (pid, profile) = launched(said("throw-away profile").unwrap());
        assert!(is_gone(pid) && !profile.exists());
        for wanted in
            ["connected to Chrome/", "blocked_by_dialog", "net::ERR_ABORTED", "the deepest frame got: true"]
        {
            assert!(said(wanted).is_some(), "{wanted}: {}", text(&output.stdout));
        }
        let dialogs = lines.last().unwrap()["snapshot"]["recent_dialogs"].as_array().unwrap();
        assert!(dialogs.iter().all(|dialog| dialog["closed_by"] == "agent"), "{dialogs:?}");
        assert_exit(&run(&["replay", recording.to_str().unwrap(), "--check"]), 0);
    }

    #[test]
    fn a_signal_in_the_middle_of_the_demo_ends_it_and_leaves_nothing() {
        for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
            let mut demo = Live::start(&["demo", "--no-install"]);
            let (pid, profile) = launched(&demo.line("throw-away profile"));
            demo.line("? d-2 confirm");
            demo.signal(signal);
            let (printed, ended) = demo.end();
            assert_eq!(ended, Some(code), "{printed}");
            assert!(printed.contains("the browser is gone"), "{printed}");
            assert!(is_gone(pid), "{pid}: {printed}");
            assert!(!profile.exists(), "{}: {printed}", profile.display());
        }
    }

    #[test]
    fn a_signal_while_the_browser_starts_leaves_nothing() {
        let mut demo = Live::start(&["demo", "--no-install"]);
        demo.line("→ start");
        demo.signal(Signal::INT);
        let (printed, ended) = demo.end();
        assert_eq!(ended, Some(130), "{printed}");
    }

    /// A dialog that outlives its last client can never be answered again.
    #[tokio::test(flavor = "multi_thread")]
    async fn watch_answers_what_is_open_before_it_goes() {
        let mut watch = Live::start(&["watch", "--launch"]);
        let first = watch.line("watching Chrome/");
        let (_, url) = first.split_once(" at ").unwrap();
        let other = Supervisor::start();
        let task = other.get_or_start("other", url, Options::default()).await.unwrap();
        let alert = r#"setTimeout(() => alert("\u001b[2J still open"))"#;
        let raised = task.eval(None, alert, EvalOptions::default()).await;
        drop(raised);
        let asks = watch.line("? d-1 alert");
        assert!(asks.contains(r#""\u{1b}[2J still open""#), "{asks}");
        watch.signal(Signal::TERM);
        let (printed, ended) = watch.end();
        assert_eq!(ended, Some(0), "{printed}");
        assert!(printed.contains("d-1 dismissed by auto_policy"), "{printed}");
        assert!(!printed.contains('\u{1b}'), "{printed}");
        other.stop_all().await;
    }

    #[test]
    fn watch_prints_events_as_json() {
        let mut watch = Live::start(&["watch", "--launch", "--json", "--policy", "auto-accept"]);
        let first: Value = serde_json::from_str(&watch.line("")).unwrap();
        assert_eq!(first["snapshot"]["status"], "connected");
        watch.signal(Signal::INT);
        let (printed, ended) = watch.end();
        assert_eq!(ended, Some(0), "{printed}");
        let events: Vec<Value> =
            printed.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(events.last().unwrap()["event"], "stopped", "{printed}");
    }
}
