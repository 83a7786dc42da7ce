//! What the system allows.

use std::path::Path;

use rustix::process::{Resource, getrlimit};

use super::finding::Finding;

const ABOUT: &str = "machine";

/// Each page is some files for the browser, and one connection a task for us.
const FEW_FILES: u64 = 256;

/// Chromium keeps what its processes share in /dev/shm; with the 64 MB of a plain container, large pages crash.
const SMALL_SHARED_MEMORY: u64 = 128 * 1024 * 1024;

/// Files of Linux that say whether an ordinary process may have namespaces of its own, which Chromium's sandbox is made
/// of; and the value that says no.
const NAMESPACES: [(&str, &str); 3] = [
    ("/proc/sys/kernel/unprivileged_userns_clone", "0"),
    ("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1"),
    ("/proc/sys/user/max_user_namespaces", "0"),
];

pub(super) fn look() -> Vec<Finding> {
    let system = Finding::ok(ABOUT, format!("{}, cdp-supervisor {}", system(), env!("CARGO_PKG_VERSION")));
    let found = [sandbox(), allowed_files().and_then(files), shared_memory_size().and_then(shared_memory)];
    std::iter::once(system).chain(found.into_iter().flatten()).collect()
}

/// What system this is, in a few words.
pub(super) fn system() -> String {
    let release = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name =
        release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME=")).unwrap_or(std::env::consts::OS);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("{} {} {}", name.trim_matches('"'), std::env::consts::ARCH, kernel.trim()).trim_end().to_owned()
}

fn sandbox() -> Option<Finding> {
    if rustix::process::geteuid().is_root() {
        let next = "run the browser as another user, or in a container that holds nothing else";
        let what = "this is root: Chromium has no sandbox then (--launch gives it --no-sandbox), and a malicious page has root's rights";
        return Some(Finding::warn(ABOUT, what, next));
    }
    let says_no =
        |(path, no): &&(&str, &str)| std::fs::read_to_string(path).is_ok_and(|text| text.trim() == *no);
    let (path, no) = NAMESPACES.iter().find(says_no)?;
    let next = "install the browser from a package that brings its own exception, or allow namespaces to it";
    Some(Finding::warn(ABOUT, format!("{path} is {no}: Chromium's sandbox may not start"), next))
}

fn allowed_files() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

fn files(limit: u64) -> Option<Finding> {
    (limit < FEW_FILES).then(|| {
        let what = format!("a process may have {limit} files open, which is few");
        Finding::warn(ABOUT, what, "raise it: ulimit -n 4096")
    })
}

fn shared_memory_size() -> Option<u64> {
    rustix::fs::statvfs(Path::new("/dev/shm")).ok().map(|fs| fs.f_blocks * fs.f_frsize)
}

fn shared_memory(size: u64) -> Option<Finding> {
    (size < SMALL_SHARED_MEMORY).then(|| {
        let what = format!("/dev/shm has {} MB: pages of a Chromium in here may crash", size / (1024 * 1024));
        Finding::warn(ABOUT, what, "start the container with --shm-size=1g, or with --ipc=host")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_than_enough_is_a_warning() {
        assert!(files(FEW_FILES).is_none() && files(FEW_FILES - 1).is_some());
        assert!(shared_memory(SMALL_SHARED_MEMORY).is_none());
        assert!(shared_memory(SMALL_SHARED_MEMORY - 1).is_some());
    }
}
