//! What `cdp-supervisor probe` finds on each backend, compared with what was found before. With `INSTA_UPDATE=always` the
//! expectations in `fixtures/probe` are written anew.

mod browser;

use std::path::Path;
use std::process::Stdio;

use integration_tests::{built_command, patience};
use page_server::{PageServer, Site};
use serde_json::{Map, Value, json};
use supervisor_probe::Row;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::time::timeout;

/// Patience with a loaded machine; no check waits so long for what does not come.
const PATIENT: [&str; 5] = ["--json", "--check-timeout", "240", "--hold", "3"];

/// A probe that runs: what it says on standard error comes line by line.
struct Probe {
    child: Child,
    said: Vec<String>,
}

impl Probe {
    fn of(endpoint: &str) -> Self {
        let mut command = Command::new(built_command());
        command.arg("probe").arg(endpoint).args(PATIENT).stdin(Stdio::null()).kill_on_drop(true);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self { child, said: Vec::new() }
    }

    /// Reads on to a line with this text. A loaded machine may take its time for all that comes before.
    async fn says(&mut self, wanted: &str) {
        let mut lines = BufReader::new(self.child.stderr.as_mut().unwrap()).lines();
        while let Some(line) = timeout(6 * patience(), lines.next_line()).await.unwrap().unwrap() {
            self.said.push(line);
            if self.said.last().unwrap().contains(wanted) {
                return;
            }
        }
        panic!("no line with `{wanted}` in:\n{}", self.said.join("\n"));
    }

    /// Waits for the end; gives the exit code and standard output.
    async fn ends(&mut self) -> (Option<i32>, String) {
        let (mut out, mut err) = (self.child.stdout.take().unwrap(), self.child.stderr.take().unwrap());
        let (mut printed, mut said) = (String::new(), String::new());
        let reads = async { tokio::join!(out.read_to_string(&mut printed), err.read_to_string(&mut said)) };
        let (printed_all, said_all) = timeout(15 * patience(), reads).await.unwrap();
        assert!(printed_all.is_ok() && said_all.is_ok());
        self.said.extend(said.lines().map(str::to_owned));
        (self.child.wait().await.unwrap().code(), printed)
    }

    /// Waits for the report.
    async fn report(&mut self) -> Value {
        let (code, printed) = self.ends().await;
        assert_eq!(code, Some(0), "{printed}\n{}", self.said.join("\n"));
        let report = serde_json::from_str(&printed);
        report.unwrap_or_else(|error| panic!("{error}: {printed}"))
    }
}

async fn report(endpoint: &str) -> Value {
    Probe::of(endpoint).report().await
}

/// What a report says, without versions, times, and words for people.
fn essence(report: &Value) -> Value {
    let verdict = |it: &Value| match it["reason"].as_str() {
        Some(reason) => json!(format!("{}: {reason}", it["value"].as_str().unwrap())),
        None => it["value"].clone(),
    };
    let matrix: Map<_, _> =
        report["matrix"].as_object().unwrap().iter().map(|(name, it)| (name.clone(), verdict(it))).collect();
    let checks = report["checks"].as_array().unwrap().iter();
    let checks: Map<_, _> = checks.map(|it| (it["name"].as_str().unwrap().to_owned(), verdict(it))).collect();
    json!({ "cdp": report["backend"]["cdp"], "matrix": matrix, "checks": checks })
}

/// What was found on a backend before.
fn expectation(backend: &str) -> Value {
    let path = file(backend);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    serde_json::from_str(&text).unwrap()
}

fn file(backend: &str) -> String {
    format!("{}/../fixtures/probe/{backend}.json", env!("CARGO_MANIFEST_DIR"))
}

fn is_update() -> bool {
    std::env::var_os("INSTA_UPDATE").is_some_and(|update| update == "always")
}

/// Compares, or writes what is to be compared with from now on.
#[track_caller]
fn assert_expected(backend: &str, report: &Value) {
    let found = essence(report);
    if is_update() {
        let text = serde_json::to_string_pretty(&found).unwrap() + "\n";
        return std::fs::write(Path::new(&file(backend)), text).unwrap();
    }
    assert_same(&found, &expectation(backend), report);
}

/// The report's own words tell why something else was found.
#[track_caller]
fn assert_same(found: &Value, expected: &Value, report: &Value) {
    assert_eq!(found, expected, "{report:#}");
    assert_eq!((&report["left_behind"], &report["connection_lost"]), (&json!([]), &json!(false)));
}

/// The backends of the table in the documentation, with their headings.
const DOCUMENTED: [(&str, &str); 8] = [
    ("chromium", "Chromium 156"),
    ("chromium-headless-shell", "headless shell 156"),
    ("shell-138", "headless shell 138"),
    ("shell-123", "headless shell 123"),
    ("shell-111", "headless shell 111"),
    ("chromium-behind-dismissing-proxy", "Chromium behind a proxy that dismisses"),
    ("headless-shell-behind-dismissing-proxy", "headless shell behind one"),
    ("rest", "REST only"),
];

/// Between these lines of the documentation stands the table.
const MARKS: [&str; 2] = ["<!-- from fixtures/probe -->\n", "<!-- end -->"];

/// A row for each question; one that a backend was not asked is empty.
fn table() -> String {
    let found = DOCUMENTED.map(|(backend, _)| expectation(backend));
    let row = |title: &str, part: &str, name: &str| {
        let cells = found.iter().map(|it| it[part][name].as_str().unwrap_or_default());
        let cells: String = cells.map(|cell| format!(" {cell} |")).collect();
        format!("| {title} |{cells}\n")
    };
    let heads: String = DOCUMENTED.map(|(_, head)| format!(" {head} |")).concat();
    let mut text = format!("| |{heads}\n|---|{}\n", "---|".repeat(DOCUMENTED.len()));
    for name in ["dialogs_seen", "dialogs_answered", "frame_tree", "oopif_calls"] {
        text += &row(&format!("**{}**", name.replace('_', " ")), "matrix", name);
    }
    for name in Row::ALL.iter().map(|row| row.name()) {
        text += &row(&format!("`{name}`"), "checks", name);
    }
    text
}

#[test]
fn the_documented_table_is_what_is_expected() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/probe.md");
    let text = std::fs::read_to_string(path).unwrap();
    let (before, rest) = text.split_once(MARKS[0]).unwrap();
    let (documented, after) = rest.split_once(MARKS[1]).unwrap();
    if is_update() {
        return std::fs::write(path, [before, MARKS[0], &table(), MARKS[1], after].concat()).unwrap();
    }
    assert_eq!(documented, table());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backend_with_rest_only_is_told_and_that_is_a_success() {
    let site = Site::new().page("/health", r#"{"ok":true,"engine":"camoufox","browserConnected":true}"#);
    let pages = PageServer::start(site).await.unwrap();
    let report = report(&format!("{}?token=secret", pages.url("127.0.0.1", "/"))).await;
    assert_expected("rest", &report);
    assert!(report["backend"]["instead"].as_str().unwrap().contains("Camofox"), "{report:#}");
    assert!(!report.to_string().contains("secret"), "{report:#}");
    pages.stop().await;
}
