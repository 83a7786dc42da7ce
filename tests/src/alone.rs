//! Tests that measure their own process run in one of their own.

use std::process::{Command, Stdio};

/// Says that this process is the one of its own.
const ALONE: &str = "CDP_SUPERVISOR_TEST_ALONE";

/// Whether this process runs one test only. If it does not, it runs this one so, and waits for it.
///
/// # Panics
/// When the test fails there; its output is shown.
#[must_use]
pub fn is_alone(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let this = std::env::current_exe().unwrap();
    let mut child = Command::new(this);
    child.args(["--exact", test, "--nocapture"]).env(ALONE, "1").stdin(Stdio::null());
    let output = child.output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && out.contains("1 passed"), "{out}\n{err}");
    false
}

/// What this process has in memory, in bytes.
#[must_use]
pub fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    let kilobytes: usize = line.trim().trim_end_matches(" kB").parse().unwrap();
    kilobytes * 1024
}
