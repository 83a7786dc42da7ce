//! The command of this build: cargo gives its path only to tests of its own package.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The built `cdp-supervisor`, up to date with the sources.
#[must_use]
pub fn built_command() -> &'static Path {
    static COMMAND: LazyLock<PathBuf> = LazyLock::new(|| {
        let mut build = Command::new(env!("CARGO"));
        let status = build.args(["build", "--quiet", "--package", "supervisor-cli"]).status().unwrap();
        assert!(status.success(), "the command does not build: {status}");
        build_folder().join("cdp-supervisor")
    });
    &COMMAND
}

/// Where this build's binaries are: the test's own one is in `deps` below it.
#[must_use]
pub fn build_folder() -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().to_owned()
}
