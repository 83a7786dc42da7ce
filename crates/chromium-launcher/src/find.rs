//! Where browsers are.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::{LauncherError, Rejected, install_hint, version};

/// Names on PATH, the likeliest to behave like the browser that users have first.
const NAMES: [&str; 7] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "chromium-headless-shell",
    "headless_shell",
];

/// macOS keeps applications off PATH.
const MACOS_PATHS: [&str; 2] = [
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/// A browser that told its version.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browser {
    /// The executable.
    pub path: PathBuf,
    /// The first line of `--version`, as in `Chromium 156.0.8078.114 built on Debian GNU/Linux 12 (bookworm)`.
    pub version: String,
}

/// Finds a browser: `CHROME` (a path or a name), then the usual names on PATH, then macOS's applications.
///
/// Blocks while each candidate is asked for its version (10 s at most each; usually a fraction of one).
///
/// # Errors
/// `Unusable` when `CHROME` is set and does not work: a wrong setting is not passed over. `NotFound` otherwise.
pub fn find() -> Result<Browser, LauncherError> {
    match std::env::var("CHROME") {
        Ok(named) if !named.is_empty() => find_named(&named),
        _ => first_usable(candidates(&path_variable())),
    }
}

/// All browsers at the usual names, in the order in which [`find`] would take them, and what was there and did not work. One
/// that has several names is told once.
///
/// Blocks as [`find`] does.
#[must_use]
pub fn find_all() -> Vec<Result<Browser, Rejected>> {
    let mut seen = Vec::new();
    let is_new = |path: &PathBuf| {
        let real = path.canonicalize().unwrap_or_else(|_| path.clone());
        let is_new = !seen.contains(&real);
        seen.push(real);
        is_new
    };
    let there = candidates(&path_variable()).into_iter().filter(|path| is_executable(path));
    let asked = there.filter(is_new).map(|path| match version::ask(&path) {
        Ok(version) => Ok(Browser { path, version }),
        Err(why) => Err(Rejected { path, why }),
    });
    asked.collect()
}

/// Finds one executable: a path, or a name on PATH.
///
/// # Errors
/// `Unusable` when there is none or when it does not tell a version within 10 s.
pub fn find_named(name: &str) -> Result<Browser, LauncherError> {
    let unusable = |why: String| LauncherError::Unusable { path: name.into(), why };
    let path = locate(name, &path_variable())
        .ok_or_else(|| unusable("there is no executable file of that name".to_owned()))?;
    let version = version::ask(&path).map_err(unusable)?;
    Ok(Browser { path, version })
}

fn first_usable(candidates: Vec<PathBuf>) -> Result<Browser, LauncherError> {
    let mut rejected = Vec::new();
    for path in candidates.into_iter().filter(|path| is_executable(path)) {
        match version::ask(&path) {
            Ok(version) => return Ok(Browser { path, version }),
            Err(why) => rejected.push(Rejected { path, why }),
        }
    }
    Err(LauncherError::NotFound { rejected, hint: install_hint() })
}

/// Every place to look at, in order. A name earlier in [`NAMES`] wins over an earlier folder.
fn candidates(path: &OsStr) -> Vec<PathBuf> {
    let named = NAMES.iter().flat_map(|name| std::env::split_paths(path).map(move |dir| dir.join(name)));
    let applications = MACOS_PATHS.iter().filter(|_| cfg!(target_os = "macos")).map(PathBuf::from);
    named.chain(applications).collect()
}

fn locate(name: &str, path: &OsStr) -> Option<PathBuf> {
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    std::env::split_paths(path).map(|dir| dir.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn path_variable() -> std::ffi::OsString {
    std::env::var_os("PATH").unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_better_name_wins_over_an_earlier_folder() {
        let all = candidates(OsStr::new("/first:/second"));
        let at = |path: &str| all.iter().position(|candidate| candidate == Path::new(path)).unwrap();
        assert_eq!(at("/first/chromium"), 0);
        assert!(at("/second/chromium") < at("/first/google-chrome"));
        assert!(at("/second/google-chrome") < at("/first/headless_shell"));
    }

    #[test]
    fn a_name_is_looked_up_and_a_path_is_not() {
        assert_eq!(locate("sh", OsStr::new("/nonexistent:/bin")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(locate("/bin/sh", OsStr::new("")), Some(PathBuf::from("/bin/sh")));
        assert_eq!(locate("/etc/passwd", OsStr::new("")), None, "not executable");
        assert_eq!(locate("/bin", OsStr::new("")), None, "a folder");
    }

    #[test]
    fn a_stub_is_passed_over_and_told() {
        let error = first_usable(vec!["/bin/false".into(), "/nonexistent".into()]).unwrap_err();
        let LauncherError::NotFound { rejected, .. } = &error else { panic!("{error}") };
        assert_eq!(rejected.len(), 1);
        assert!(error.to_string().contains("/bin/false: --version failed"), "{error}");
    }

    #[test]
    fn a_named_browser_that_is_not_there_is_told_by_name() {
        let error = find_named("no-such-browser").unwrap_err();
        assert!(error.to_string().contains("no-such-browser"), "{error}");
    }
}
