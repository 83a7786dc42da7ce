//! Which program it is.

use std::process::Command;

/// The commit that is checked out where this runs, and whether there are changes beside it.
pub(super) fn name() -> String {
    let git = |args: &[&str]| Command::new("git").args(args).output().ok().filter(|it| it.status.success());
    let said = git(&["rev-parse", "--short", "HEAD"]);
    let commit = said.map(|it| String::from_utf8_lossy(&it.stdout).trim().to_owned());
    let is_clean =
        git(&["status", "--porcelain", "--untracked-files=no"]).is_some_and(|it| it.stdout.is_empty());
    match commit {
        Some(commit) if is_clean => commit,
        Some(commit) => format!("{commit} with changes"),
        None => "unknown: not run in the repository".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_commit_is_named() {
        let name = super::name();
        let commit = name.split(' ').next().unwrap_or_default();
        assert!(commit == "unknown:" || commit.bytes().all(|byte| byte.is_ascii_hexdigit()), "{name}");
    }
}
