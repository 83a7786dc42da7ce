//! Folders of stores, one after the other: sled's files do not shrink, so old events leave with their folder.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::error::JournalError;

/// How much a journal keeps, if not told otherwise: days of work of several agents.
pub const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// How long, if not told otherwise: a week, in which a stuck run is looked into or never.
pub const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Generations that share the bounds: when one is full, or covers its share of the time, the next begins, and the oldest go.
const GENERATIONS: u32 = 8;

/// An empty store takes about half a megabyte, and sled needs some room of its own.
const SMALLEST_GENERATION: u64 = 2 * 1024 * 1024;

/// What a journal may keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Bytes on disk, all generations together. Less than 20 MiB is rounded up to that.
    pub max_bytes: u64,
    /// How old the oldest event may become.
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
        (self.max_bytes / u64::from(GENERATIONS)).max(SMALLEST_GENERATION)
    }

    /// How much time one generation may cover.
    pub(crate) fn span(&self) -> Duration {
        self.max_age / GENERATIONS
    }

    /// Bytes of records between two looks at the size on disk, which cost a walk through the folder. sled takes two to
    /// three times as much.
    pub(crate) fn look_every(&self) -> u64 {
        self.generation() / 16
    }

    /// What the generations besides the present one may take: it may grow, a little over its bound until that is seen.
    fn others(&self) -> u64 {
        let present = self.generation() + 4 * self.look_every();
        self.max_bytes.max(SMALLEST_GENERATION * u64::from(GENERATIONS + 2)).saturating_sub(present)
    }
}

/// The folder that holds the generations.
#[derive(Debug, Clone)]
pub(crate) struct Generations {
    root: PathBuf,
}

impl Generations {
    /// Makes the folder, for its owner alone.
    pub(crate) fn open(root: &Path) -> Result<Self, JournalError> {
        create_private(root).map_err(|source| JournalError::Folder { path: root.to_owned(), source })?;
        Ok(Self::at(root))
    }

    pub(crate) fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
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

    /// The folder of a generation, made if need be, with a note of when it was born.
    pub(crate) fn make(&self, number: u64) -> Result<PathBuf, JournalError> {
        let folder = self.folder(number);
        let noted = create_private(&folder).and_then(|()| note_birth(&folder.join(BORN)));
        match noted {
            Ok(()) => Ok(folder),
            Err(source) => Err(JournalError::Folder { path: folder, source }),
        }
    }

    /// Makes room: what is too old goes, then the oldest until the rest fits; what was set aside before all. The present
    /// generation stays.
    pub(crate) fn prune(&self, present: Option<u64>, bounds: &Bounds, now: SystemTime) {
        let mut left = if present.is_some() { bounds.others() } else { bounds.max_bytes };
        let mut is_full = false;
        let others = self.numbers().into_iter().rev().filter(|number| Some(*number) != present);
        for folder in others.map(|number| self.folder(number)).chain(self.set_aside_before()) {
            let size = size(&folder);
            is_full |= size > left;
            if is_full || is_older(&folder, bounds.max_age, now) {
                remove(&folder);
            } else {
                left -= size;
            }
        }
    }

    /// Whether the generation was begun longer ago than this.
    pub(crate) fn is_older(&self, number: u64, age: Duration, now: SystemTime) -> bool {
        is_older(&self.folder(number), age, now)
    }

    pub(crate) fn size_of(&self, number: u64) -> u64 {
        size(&self.folder(number))
    }

    /// The bytes of all of it.
    pub(crate) fn size(&self) -> u64 {
        size(&self.root)
    }

    /// Puts a store that cannot be used out of the way, for whoever wants to look into it: the last one.
    pub(crate) fn set_aside(&self, number: u64) -> io::Result<PathBuf> {
        self.set_aside_before().iter().for_each(|folder| remove(folder));
        let aside = self.root.join(format!("{ASIDE}{number:08}"));
        fs::rename(self.folder(number), &aside)?;
        Ok(aside)
    }

    fn set_aside_before(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.root).into_iter().flatten().flatten();
        let is_aside = |path: &PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(ASIDE))
        };
        entries.map(|entry| entry.path()).filter(is_aside).collect()
    }
}

/// The name of a store that could not be used.
const ASIDE: &str = "corrupt-";

pub(crate) fn remove(folder: &Path) {
    if let Err(error) = fs::remove_dir_all(folder) {
        tracing::warn!(%error, folder = %folder.display(), "an old part of the journal could not be removed");
    }
}

/// Whether the store in this folder was begun longer ago than this. One that does not say is; a clock may go back.
fn is_older(folder: &Path, age: Duration, now: SystemTime) -> bool {
    match birth(&folder.join(BORN)) {
        Some(born) => now.duration_since(born).is_ok_and(|since| since > age),
        None => true,
    }
}

const PREFIX: &str = "journal-";

/// A file beside a store: when it was begun, in seconds since the Unix epoch. Times of files do not survive copying.
const BORN: &str = "born";

fn note_birth(file: &Path) -> io::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    fs::write(file, now.as_secs().to_string())
}

fn birth(file: &Path) -> Option<SystemTime> {
    let seconds = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

pub(crate) fn create_private(folder: &Path) -> io::Result<()> {
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

/// All files in a folder and below.
pub(crate) fn files(folder: &Path) -> Vec<PathBuf> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_generation_is_a_share_of_the_bound_and_never_too_small_for_a_store() {
        let generation = |max_bytes| Bounds { max_bytes, ..Bounds::default() }.generation();
        let smallest = u64::from(GENERATIONS) * SMALLEST_GENERATION;
        assert_eq!(generation(0), SMALLEST_GENERATION);
        assert_eq!(generation(smallest), SMALLEST_GENERATION);
        assert_eq!(generation(smallest + u64::from(GENERATIONS)), SMALLEST_GENERATION + 1);
        assert_eq!(generation(MAX_BYTES), MAX_BYTES / u64::from(GENERATIONS));
    }

    /// All generations together stay below the bound, the present one with what it may grow over its own.
    #[test]
    fn the_generations_share_the_bound() {
        for max_bytes in [MAX_BYTES, u64::from(GENERATIONS + 2) * SMALLEST_GENERATION] {
            let bounds = Bounds { max_bytes, ..Bounds::default() };
            let present = bounds.generation() + 4 * bounds.look_every();
            assert_eq!(bounds.others() + present, max_bytes);
        }
        let less = Bounds { max_bytes: 1, ..Bounds::default() };
        assert!(less.others() >= less.generation(), "one from before always fits beside the present one");
    }
}
