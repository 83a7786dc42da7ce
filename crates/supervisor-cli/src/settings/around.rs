//! What a process finds around itself: variables, and the folders that follow from them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The name of our folders.
const OURS: &str = "cdp-supervisor";

/// The surroundings of a process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Around {
    variables: BTreeMap<OsString, OsString>,
}

impl Around {
    /// Those of this process.
    pub(crate) fn here() -> Self {
        Self { variables: std::env::vars_os().collect() }
    }

    #[cfg(test)]
    pub(crate) fn with<const N: usize>(variables: [(&str, &str); N]) -> Self {
        Self { variables: variables.map(|(name, value)| (name.into(), value.into())).into() }
    }

    /// All variables.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&OsString, &OsString)> {
        self.variables.iter()
    }

    /// The home folder.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.folder("HOME")
    }

    /// Where our settings are.
    pub(crate) fn config(&self) -> Option<PathBuf> {
        Some(self.of_user("XDG_CONFIG_HOME", ".config")?.join(OURS))
    }

    /// Where what outlives a process is kept.
    pub(crate) fn state(&self) -> Option<PathBuf> {
        Some(self.of_user("XDG_STATE_HOME", ".local/state")?.join(OURS))
    }

    /// Where what lives as long as its user is logged in belongs.
    pub(crate) fn runtime(&self) -> Option<PathBuf> {
        self.folder("XDG_RUNTIME_DIR")
    }

    fn of_user(&self, variable: &str, otherwise: &str) -> Option<PathBuf> {
        self.folder(variable).or_else(|| Some(self.home()?.join(otherwise)))
    }

    /// The XDG specification says to ignore what is not absolute.
    fn folder(&self, variable: &str) -> Option<PathBuf> {
        let value = self.variables.get(OsString::from(variable).as_os_str())?;
        Some(PathBuf::from(value)).filter(|path| path.is_absolute())
    }
}

/// A path as somebody wrote it: `~/` is the home folder, and a relative one starts at `base`.
pub(crate) fn resolved(written: &str, base: &Path, home: Option<&Path>) -> PathBuf {
    match (written.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => base.join(written),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_those_of_the_specification() {
        let around = Around::with([("HOME", "/h")]);
        assert_eq!(around.config(), Some("/h/.config/cdp-supervisor".into()));
        assert_eq!(around.state(), Some("/h/.local/state/cdp-supervisor".into()));
        assert_eq!(around.runtime(), None);
        let around =
            Around::with([("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "relative")]);
        assert_eq!(around.config(), Some("/c/cdp-supervisor".into()));
        assert_eq!(around.state(), Some("/h/.local/state/cdp-supervisor".into()));
        assert_eq!(Around::default().config(), None);
    }

    #[test]
    fn a_path_starts_where_it_was_written() {
        let at = |written| resolved(written, Path::new("/base"), Some(Path::new("/h")));
        assert_eq!(
            [at("a/b"), at("/a"), at("~/a"), at("~a")],
            ["/base/a/b", "/a", "/h/a", "/base/~a"].map(PathBuf::from)
        );
        assert_eq!(resolved("~/a", Path::new("/base"), None), PathBuf::from("/base/~/a"));
    }
}
