//! With the Chromium of this machine: without one these tests fail.

// The lint's exception for tests covers test functions only, not their helpers.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::{BufRead, BufReader};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use chromium_launcher::{Browser, Launch, LauncherError, Running, find};

fn address(running: &Running) -> String {
    running.http_url().strip_prefix("http://").unwrap().to_owned()
}

/// A process that is there and no zombie. A shell asks, so that it holds on every Unix.
fn is_alive(pid: u32) -> bool {
    let output = Command::new("ps").args(["-o", "stat=", "-p", &pid.to_string()]).output();
    let state = String::from_utf8(output.expect("ps runs").stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

fn assert_gone(pid: u32, address: &str, profile: &Path) {
    assert!(!is_alive(pid), "process {pid} was left");
    assert!(TcpStream::connect(address).is_err(), "{address} still answers");
    assert!(!profile.exists(), "{} was left", profile.display());
}

#[tokio::test]
async fn a_browser_starts_listens_and_leaves_nothing() {
    let browser = find().expect("a Chromium on this machine");
    let running =
        Launch::new(browser.clone()).site_per_process(true).map_test_hosts(true).start().await.unwrap();
    let (pid, address, profile) = (running.pid(), address(&running), running.profile().to_owned());

    assert!(is_alive(pid));
    TcpStream::connect(&address).expect("the DevTools port answers");
    assert!(running.ws_url().starts_with(&format!("ws://{address}/devtools/browser/")));
    assert_eq!(running.version(), browser.version);
    assert!(profile.is_dir());

    running.stop().await.unwrap();
    assert_gone(pid, &address, &profile);
}

#[tokio::test]
async fn dropping_it_ends_it_too() {
    let running = Launch::new(find().unwrap()).start().await.unwrap();
    let (pid, address, profile) = (running.pid(), address(&running), running.profile().to_owned());
    drop(running);
    assert_gone(pid, &address, &profile);
}

#[tokio::test]
async fn two_browsers_do_not_meet() {
    let browser = find().unwrap();
    let (one, two) = tokio::join!(Launch::new(browser.clone()).start(), Launch::new(browser).start());
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_ne!(one.http_url(), two.http_url());
    assert_ne!(one.profile(), two.profile());

    one.stop().await.unwrap();
    TcpStream::connect(address(&two)).expect("the other one goes on");
    two.stop().await.unwrap();
}

/// Set in the process that is to be killed: this binary, running the one test again.
const HOST: &str = "CHROMIUM_LAUNCHER_TEST_HOST";

#[test]
fn a_browser_does_not_outlive_a_host_that_is_killed() {
    if std::env::var_os(HOST).is_some() {
        return be_the_host();
    }
    let mut host = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "a_browser_does_not_outlive_a_host_that_is_killed", "--nocapture"])
        .env(HOST, "1")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (pid, profile) = started(host.stdout.take().unwrap());
    assert!(is_alive(pid) && profile.is_dir());

    host.kill().unwrap();
    host.wait().unwrap();

    let deadline = Instant::now() + Duration::from_secs(60);
    while (is_alive(pid) || profile.exists()) && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(!is_alive(pid) && !profile.exists(), "process {pid} or {} was left", profile.display());
}

/// Ends only by being killed.
#[tokio::main(flavor = "current_thread")]
async fn be_the_host() {
    let running = Launch::new(find().unwrap()).start().await.unwrap();
    println!("\nSTARTED {} {}", running.pid(), running.profile().display());
    std::future::pending::<()>().await;
}

fn started(output: impl std::io::Read) -> (u32, PathBuf) {
    let lines = BufReader::new(output).lines().map(Result::unwrap);
    let line = lines.filter_map(|line| line.strip_prefix("STARTED ").map(str::to_owned)).next().unwrap();
    let (pid, profile) = line.split_once(' ').unwrap();
    (pid.parse().unwrap(), profile.into())
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_told_with_its_last_words() {
    let error = Launch::new(stub("ends-at-once.sh")).start().await.unwrap_err();
    assert!(matches!(error, LauncherError::EndedEarly { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("exit status: 7") && text.ends_with("no usable display"), "{text}");
}

#[tokio::test]
async fn a_browser_that_ignores_sigterm_is_killed() {
    let running = Launch::new(stub("ignores-sigterm.sh")).start().await.unwrap();
    assert_eq!(running.ws_url(), "ws://127.0.0.1:9/devtools/browser/id");
    let (pid, profile) = (running.pid(), running.profile().to_owned());

    let started = Instant::now();
    running.stop().await.unwrap();
    assert!(started.elapsed() >= Duration::from_secs(3), "SIGTERM comes first");
    assert!(!is_alive(pid) && !profile.exists());
}

/// A stand-in for browsers that misbehave, which a real one does only rarely. Kept as a file: one that a test has
/// just written may still be open in another test's child, and then cannot be run.
fn stub(name: &str) -> Browser {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/stubs").join(name);
    Browser { path, version: "stub 1".into() }
}
