//! What a run of all tests wrote, and a look for planted tokens in it.
//!
//! Tests plant a token wherever a secret can be given: in URLs, headers, cookies, a proxy's password. None of them may come
//! out: not in what is printed, logged, journalled, recorded or said in a panic.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use integration_tests::planted_in;
use tempfile::TempDir;

/// How often it is looked for new files. They are in folders that tests delete, some after a fraction of a second.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// What others write there: compilers, browsers, whose own profiles hold the cookies and URLs of their pages, and the tests of
/// this very search.
const OF_OTHERS: [&str; 7] = ["rustc", "chromium-", "org.chromium", "npm-", "pip-", "cc-", SEARCHED];

const SEARCHED: &str = "searched-";

/// Files that a test writes itself because they hold the secrets.
const GIVEN: [&str; 1] = ["config.yaml"];

/// Everything that one run writes.
pub(crate) struct Outputs {
    folder: TempDir,
    streams: u32,
    over: Arc<AtomicBool>,
    keeping: JoinHandle<u64>,
}

impl Outputs {
    /// # Errors
    /// When no folder can be made.
    pub(crate) fn begin() -> Result<Self> {
        let folder =
            tempfile::Builder::new().prefix(SEARCHED).tempdir().context("a folder for what tests write")?;
        for name in ["tmp", "kept"] {
            fs::create_dir(folder.path().join(name))?;
        }
        let over = Arc::<AtomicBool>::default();
        let (tmp, kept, is_over) = (folder.path().join("tmp"), folder.path().join("kept"), Arc::clone(&over));
        let keeping = std::thread::spawn(move || keep(&tmp, &kept, &is_over));
        Ok(Self { folder, streams: 0, over, keeping })
    }

    /// Its temporary files will be found.
    pub(crate) fn catch(&self, command: &mut Command) {
        command.env("TMPDIR", self.folder.path().join("tmp"));
    }

    /// A file for what is printed.
    ///
    /// # Errors
    /// When it cannot be made.
    pub(crate) fn stream(&mut self, name: &str) -> Result<File> {
        self.streams += 1;
        let path = self.folder.path().join(format!("{name}-{}", self.streams));
        File::create(&path).with_context(|| format!("writing {}", path.display()))
    }

    /// Looks through all of it, and says whether no token was found.
    ///
    /// # Errors
    /// When something cannot be read.
    pub(crate) fn end(self) -> Result<bool> {
        let searched = self.search()?;
        searched.found.iter().for_each(|line| println!("A PLANTED TOKEN: {line}"));
        let Searched { found, places, temporary, bytes } = searched;
        let megabytes = bytes / 1_000_000;
        println!(
            "planted tokens: {} in {places} outputs, {temporary} of them temporary files ({megabytes} MB)",
            found.len()
        );
        Ok(found.is_empty())
    }

    fn search(self) -> Result<Searched> {
        self.over.store(true, Ordering::Relaxed);
        let mut searched =
            Searched { temporary: self.keeping.join().unwrap_or_default(), ..Searched::default() };
        for path in everything(self.folder.path()) {
            let text = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            searched.places += 1;
            searched.bytes += text.len();
            searched.found.extend(planted_in(&text).map(|around| format!("{}: …{around}…", path.display())));
        }
        Ok(searched)
    }
}

#[derive(Debug, Default)]
struct Searched {
    found: Vec<String>,
    places: usize,
    temporary: u64,
    bytes: usize,
}

/// Gives each file a second name, by which it is there when the test has deleted it, with all that was written to it later.
fn keep(tmp: &Path, kept: &Path, over: &AtomicBool) -> u64 {
    let (mut known, mut number) = (BTreeSet::new(), 0);
    loop {
        // Once more after the end: what was written last is looked at too.
        let is_over = over.load(Ordering::Relaxed);
        for path in files(tmp) {
            let Ok(metadata) = path.metadata() else { continue };
            let file = (metadata.dev(), metadata.ino());
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if !known.contains(&file) && fs::hard_link(&path, kept.join(format!("{number}-{name}"))).is_ok() {
                known.insert(file);
                number += 1;
            }
        }
        if is_over {
            return number;
        }
        std::thread::sleep(LOOK_EVERY);
    }
}

/// The regular files below a folder that are a test's. What goes away meanwhile is not there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_foreign = OF_OTHERS.iter().any(|prefix| name.starts_with(prefix)) || GIVEN.contains(&&*name);
        match entry.file_type() {
            Ok(_) if is_foreign => {}
            Ok(kind) if kind.is_dir() => found.extend(files(&entry.path())),
            Ok(kind) if kind.is_file() => found.push(entry.path()),
            _ => {}
        }
    }
    found
}

/// What was kept, and what was printed.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut all = files(&folder.join("kept"));
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    all.extend(entries.filter(|path| path.is_file()));
    all
}

#[cfg(test)]
mod tests {
    use integration_tests::PLANTED;

    use super::*;

    #[test]
    fn a_token_in_a_file_that_was_deleted_is_found_and_one_in_a_profile_is_not_ours() {
        let outputs = Outputs::begin().unwrap();
        let tmp = outputs.folder.path().join("tmp");
        let write = |name: &str| {
            let path = tmp.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("before {}url behind", PLANTED)).unwrap();
            path
        };
        write("chromium-profile/Cookies");
        write("home/config.yaml");
        let journal = write("home/journal/db");
        let kept = outputs.folder.path().join("kept");
        while files(&kept).is_empty() {
            std::thread::yield_now();
        }
        fs::remove_file(journal).unwrap();
        assert_eq!(files(&kept).len(), 1);
        let searched = outputs.search().unwrap();
        assert_eq!((searched.found.len(), searched.temporary), (1, 1));
        assert!(searched.found[0].contains("url behind"));
    }

    #[test]
    fn what_is_printed_is_looked_through() {
        use std::io::Write as _;
        let mut outputs = Outputs::begin().unwrap();
        outputs.stream("stdout").unwrap().write_all(b"nothing of that kind").unwrap();
        let searched = outputs.search().unwrap();
        assert_eq!((searched.found.len(), searched.places), (0, 1));
    }
}
