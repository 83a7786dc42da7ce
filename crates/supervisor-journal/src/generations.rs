//! Folders of stores, one after the other: sled's files do not shrink, so old events leave with their folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::JournalError;

/// How much a journal keeps, if not told otherwise: days of work of several agents.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// How long, if not told otherwise: a week, in which a stuck run is looked into or never.
pub const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Generations that share the bound: when one is full, the oldest goes.
const GENERATIONS: u64 = 4;

/// What a journal may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes on disk, all generations together. sled needs some room of its own: less than a few megabytes is rounded up.
    pub max_bytes: u64,
    /// Time since a generation was last written to.
    pub max_age: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { max_bytes: MAX_BYTES, max_age: MAX_AGE }
    }
}

impl Bounds {
    /// How large one generation may grow.
    pub(crate) fn generation(&self) -> u64 {
        (self.max_bytes / GENERATIONS).max(SMALLEST_GENERATION)
    }
}

/// An empty store takes about half a megabyte.
const SMALLEST_GENERATION: u64 = 2 * 1024 * 1024;

/// The folder that holds the generations.
#[derive(Debug, Clone)]
pub(crate) struct Generations {
    root: PathBuf,
}

impl Generations {
    /// Makes the folder, for its owner alone.
    pub(crate) fn open(root: &Path) -> Result<Self, JournalError> {
        create_private(root).map_err(|source| JournalError::Folder { path: root.to_owned(), source })?;
        Ok(Self { root: root.to_owned() })
    }

    /// The numbers of the generations that are there, oldest first.
    pub(crate) fn numbers(&self) -> Vec<u64> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let number = |name: &str| name.strip_prefix(PREFIX)?.parse().ok();
        let mut numbers: Vec<u64> = entries.filter_map(|entry| number(entry.file_name().to_str()?)).collect();
        numbers.sort_unstable();
        numbers
    }

    pub(crate) fn folder(&self, number: u64) -> PathBuf {
        self.root.join(format!("{PREFIX}{number:08}"))
    }

    /// Makes room: the oldest generations go until the bounds hold. The present one stays.
    pub(crate) fn prune(&self, present: u64, bounds: &Bounds, now: SystemTime) {
        let mut kept: Vec<(u64, u64)> = Vec::new();
        for number in self.numbers().into_iter().filter(|number| *number != present) {
            if self.is_older(number, bounds.max_age, now) {
                self.remove(number);
            } else {
                kept.push((number, size(&self.folder(number))));
            }
        }
        let mut total = size(&self.folder(present)) + kept.iter().map(|(_, bytes)| bytes).sum::<u64>();
        for (number, bytes) in kept {
            if total <= bounds.max_bytes {
                break;
            }
            self.remove(number);
            total -= bytes;
        }
    }

    fn is_older(&self, number: u64, age: Duration, now: SystemTime) -> bool {
        let changed = newest_change(&self.folder(number));
        changed.and_then(|changed| now.duration_since(changed).ok()).is_some_and(|since| since > age)
    }

    fn remove(&self, number: u64) {
        if let Err(error) = fs::remove_dir_all(self.folder(number)) {
            tracing::warn!(%error, number, "an old part of the journal could not be removed");
        }
    }

    /// Puts a store that cannot be used out of the way, for whoever wants to look into it.
    pub(crate) fn set_aside(&self, number: u64) -> io::Result<PathBuf> {
        let aside = self.root.join(format!("corrupt-{number:08}"));
        let _ = fs::remove_dir_all(&aside);
        fs::rename(self.folder(number), &aside)?;
        Ok(aside)
    }
}

const PREFIX: &str = "journal-";

fn create_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// The bytes of all files in a folder.
pub(crate) fn size(folder: &Path) -> u64 {
    files(folder).iter().filter_map(|file| file.metadata().ok()).map(|data| data.len()).sum()
}

fn newest_change(folder: &Path) -> Option<SystemTime> {
    files(folder).iter().filter_map(|file| file.metadata().ok()?.modified().ok()).max()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                Ok(_) => found.push(entry.path()),
                Err(_) => {}
            }
        }
    }
    found
}
