//! A small shell that leads the browser's process group and outlives us, to end the browser when we are killed.
//!
//! It reads from a pipe whose other end only this process holds, so it wakes up at our end, however that comes: a
//! crash, `kill -9`, the kernel's out-of-memory killer. As the leader it also keeps the group's id from being given
//! to others while it lives, so that a signal to the group never hits a stranger.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

const SHELL: &str = "/bin/sh";

/// The browser gets a moment to end by itself; the profile is deleted again because it may write until it has ended.
/// `kill … 0` signals the whole group, at last this shell too.
const SCRIPT: &str = r#"
trap '' TERM INT HUP
while read -r line; do :; done
kill -TERM 0
for second in 1 2 3; do
  sleep 1
  rm -rf -- "$1"
done
kill -KILL 0
"#;

/// Starts the shell in a process group of its own; its process id is the group's.
///
/// It waits on its standard input, which the caller keeps (in the `Child`) for as long as the browser shall run.
pub(crate) fn spawn(profile: &Path) -> io::Result<Child> {
    Command::new(SHELL)
        .args(["-c", SCRIPT, "chromium-guard"])
        .arg(profile)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::wait;

    /// Far more than the 3 s of the script: the machine may be loaded.
    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn when_we_end_the_group_ends_and_the_profile_goes() {
        let profile = tempfile::tempdir().unwrap().keep();
        std::fs::write(profile.join("file"), "text").unwrap();
        let mut guard = spawn(&profile).unwrap();
        let group = i32::try_from(guard.id()).unwrap();
        let mut browser = Command::new("sleep").arg("1000").process_group(group).spawn().unwrap();

        drop(guard.stdin.take());

        assert!(wait::until(PATIENCE, || browser.try_wait().unwrap().is_some()), "the browser was left");
        assert!(wait::until(PATIENCE, || guard.try_wait().unwrap().is_some()), "the guard was left");
        assert!(!profile.exists());
    }
}
