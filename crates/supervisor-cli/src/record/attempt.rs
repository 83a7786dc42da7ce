//! What an attempt to connect has recorded when it came to nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The files that were there before the attempt.
pub(super) struct Attempt {
    path: PathBuf,
    before: BTreeSet<PathBuf>,
}

impl Attempt {
    /// Before anything is recorded.
    pub(super) fn begin(path: &Path) -> Self {
        Self { path: path.to_owned(), before: files(path) }
    }

    /// Removes what it left: a file without a browser helps nobody, and would be in the way of the next try. What was there
    /// before stays, even where it was to be replaced.
    pub(super) fn forget(&self) {
        for file in files(&self.path).difference(&self.before).filter(|file| is_regular(file)) {
            // What cannot be removed is seen by whoever looks.
            let _ = fs::remove_file(file);
        }
    }
}

/// The recording, or those that this process has made in the folder: their names hold its id.
fn files(path: &Path) -> BTreeSet<PathBuf> {
    if !path.is_dir() {
        return fs::symlink_metadata(path).map(|_| path.to_owned()).into_iter().collect();
    }
    let ours = format!("-{}-", std::process::id());
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name().to_string_lossy().contains(&ours)).map(|it| it.path()).collect()
}

fn is_regular(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|it| it.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_new_goes() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        fs::write(&old, "").unwrap();
        let attempts = [&old, &new].map(|path| Attempt::begin(path));
        fs::write(&new, "").unwrap();
        attempts.iter().for_each(Attempt::forget);
        assert!(old.exists() && !new.exists());
    }

    #[test]
    fn of_a_folder_only_our_own_go() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = Attempt::begin(folder.path());
        let ours = folder.path().join(format!("1-{}-1.cdp.jsonl", std::process::id()));
        let other = folder.path().join("1-1-1.cdp.jsonl");
        [&ours, &other].iter().for_each(|path| fs::write(path, "").unwrap());
        attempt.forget();
        assert!(other.exists() && !ours.exists());
    }
}
