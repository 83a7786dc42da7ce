//! A launched browser, seen from the shell.

use std::io::Read as _;
use std::path::PathBuf;
use std::process::Stdio;

use rustix::process::Signal;
use serde_json::json;

use crate::home::{Home, Said, until};

fn profiles(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.to_string_lossy().contains("chromium-launcher-")).collect()
}

#[test]
fn a_dialog_is_met_answered_and_its_call_followed_from_the_shell() {
    let home = Home::new();
    let _server = home.serve(&["--launch"]);
    let opened = home.run(&["eval", "prompt('Name?', 'me')"]).exits(1);
    assert!(
        opened.err.contains("dialog_opened: ") && opened.err.contains("dialog accept --id d-1"),
        "{opened:?}"
    );
    let call = opened.err.split("cdp-supervisor result ").nth(1).unwrap().split_whitespace().next().unwrap();
    let snapshot = home.run(&["snapshot"]).exits(0);
    assert!(snapshot.out.contains("? d-1 prompt \"Name?\", default \"me\""), "{snapshot:?}");
    let blocked = home.run(&["eval", "1", "--json"]).exits(1).json();
    assert_eq!(blocked["error"]["code"], "blocked_by_dialog");
    let status = home.run(&["status"]).exits(0);
    assert!(status.out.contains("1 waiting dialog"), "{status:?}");
    let answered = home.pipe(&["dialog", "accept", "--text", "-"], "two\nlines\n").exits(0);
    assert!(answered.out.contains("accepted with \"two"), "{answered:?}");
    let result = home.run(&["result", call]).exits(0);
    assert_eq!(result.out, "\"two\\nlines\"\n");
}

#[test]
fn long_arguments_come_from_files_and_standard_input() {
    let home = Home::new();
    let _server = home.serve(&["--launch"]);
    std::fs::write(home.path().join("a.js"), "[1, 2].map(x => x * 2)").unwrap();
    let value = home.run(&["eval", "@a.js", "--json"]).exits(0).json();
    assert_eq!(value["value"], json!([2, 4]));
    assert_eq!(home.pipe(&["eval", "-"], "6 * 7\n").exits(0).out, "42\n");
    let url = "data:text/html,<title>T</title><iframe srcdoc=x>";
    home.pipe(&["cdp", "Page.navigate", "-"], &json!({"url": url}).to_string()).exits(0);
    until("the frames are there", || home.run(&["frames"]).exits(0).out.contains("about:srcdoc"));
    home.run(&["eval", "setTimeout(() => { throw new Error('no') })"]).exits(0);
    until("the console has it", || home.run(&["console"]).exits(0).out.contains("exception \"Error: no"));
    let thrown = home.run(&["eval", "nothing.there"]).exits(1);
    assert!(thrown.err.contains("js_exception"), "{thrown:?}");
}

#[test]
fn clients_share_tasks_and_another_policy_reaches_them() {
    let home = Home::new();
    let _server = home.serve(&["--launch"]);
    let url =
        home.run(&["status", "--json"]).exits(0).json()["tasks"][0]["endpoint"].as_str().unwrap().to_owned();
    home.run(&["connect", &url, "--task", "other", "--policy", "auto-accept"]).exits(0);
    let status = home.run(&["status", "--json"]).exits(0).json();
    let names: Vec<_> =
        status["tasks"].as_array().unwrap().iter().map(|task| task["task_id"].as_str().unwrap()).collect();
    assert_eq!(names, ["default", "other"]);
    assert_eq!(home.run(&["disconnect", "--task", "other"]).exits(0).out, "✓ task other is disconnected\n");
    home.run(&["connect", "--policy", "auto_accept"]).exits(0);
    home.run(&["eval", "confirm('Sure?')"]);
    until("the policy answers", || home.run(&["snapshot"]).exits(0).out.contains("accepted by auto_policy"));
}

#[test]
fn a_signal_answers_what_is_open_and_leaves_nothing() {
    let home = Home::new();
    let mut server = home.serve(&["--launch"]);
    home.run(&["eval", "confirm('Sure?')"]).exits(1);
    assert_eq!(profiles(&home).len(), 1);
    server.signal(Signal::TERM);
    assert_eq!(server.ends(), Some(0));
    let mut log = String::new();
    server.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
    assert!(log.contains("a dialog closed") && log.contains("AutoPolicy"), "{log}");
    assert_eq!(profiles(&home), [""; 0].map(PathBuf::from));
}

#[test]
fn a_killed_server_takes_its_browser_with_it_and_its_clients_are_told_at_once() {
    let home = Home::new();
    let server = home.serve(&["--launch"]);
    let mut command = home.command(&["eval", "new Promise(() => {})", "--await", "--timeout", "3600"]);
    let client = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    until("the client is served", || home.run(&["status", "--json"]).exits(0).json()["clients"] == 2);
    server.signal(Signal::KILL);
    let said = Said::from(client.wait_with_output().unwrap()).exits(1);
    assert!(said.err.contains("the server has gone while it was asked"), "{said:?}");
    until("its profile is deleted", || profiles(&home).is_empty());
}

#[test]
fn what_the_browser_did_is_in_the_journal() {
    let home = Home::new();
    let mut server = home.serve(&["--launch"]);
    home.run(&["eval", "1"]).exits(0);
    server.signal(Signal::TERM);
    server.ends();
    let journal = home.path().join(".local/state/cdp-supervisor/journal");
    assert_eq!(std::fs::read_dir(&journal).unwrap().count(), 1);
    let mut server = home.serve(&["--launch", "--no-journal"]);
    home.run(&["eval", "1"]).exits(0);
    server.signal(Signal::TERM);
    server.ends();
    assert_eq!(std::fs::read_dir(&journal).unwrap().count(), 1);
}
