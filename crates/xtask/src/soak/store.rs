//! What the watched process writes: a journal of all tasks and a recording of each, so small that the hour sees them full
//! and going round many times.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result};
use supervisor::journal::{Bounds, Keeper, ProcessJournal, Run};
use supervisor::{Recording, Task};

use super::protocol::Sample;

/// The smallest journal that there is: eight stores after each other.
const JOURNAL_BYTES: u64 = 20 * 1024 * 1024;

/// One task's recordings: four parts after each other.
const RECORDING_BYTES: u64 = 16 * 1024 * 1024;

/// A disk that does not take a record in so long is the machine's fault.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a run keeps it.
pub(super) enum Place {
    Kept(PathBuf),
    /// Deleted when it is dropped.
    Passing(tempfile::TempDir),
}

impl Place {
    /// The folder that is named, or one of its own.
    pub(super) fn of(kept: Option<&Path>) -> Result<Self> {
        Ok(match kept {
            Some(folder) => Self::Kept(folder.to_owned()),
            None => Self::Passing(tempfile::tempdir().context("a folder for the journal")?),
        })
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Kept(folder) => folder,
            Self::Passing(folder) => folder.path(),
        }
    }
}

/// The folder, and the journal in it.
pub(super) struct Store {
    folder: PathBuf,
    keeper: Keeper,
}

impl Store {
    /// Opens the journal, too: its handles and threads are there before the first task, and stay.
    pub(super) fn open(folder: &Path) -> Result<Self> {
        let bounds = Bounds { max_bytes: JOURNAL_BYTES, ..Bounds::default() };
        let (keeper, _thread) = Keeper::start(ProcessJournal::new(folder.join("journal"), bounds)?)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH)?;
        let started_unix_us = u64::try_from(now.as_micros())?;
        drop(keeper.begin(Run {
            task: "before the first".to_owned(),
            started_unix_us,
            endpoint: String::new(),
        }));
        keeper.barrier(PATIENCE)?;
        Ok(Self { folder: folder.to_owned(), keeper })
    }

    pub(super) fn keeper(&self) -> Keeper {
        self.keeper.clone()
    }

    /// Where a task is recorded, each time that it is bound.
    pub(super) fn recording(&self, task: &str) -> Result<Recording> {
        let folder = self.folder.join("recordings").join(task);
        fs::create_dir_all(&folder).with_context(|| format!("making {}", folder.display()))?;
        let mut recording = Recording::to(folder);
        recording.max_bytes = RECORDING_BYTES;
        Ok(recording)
    }

    /// Adds what is on disk, and what did not get there.
    pub(super) fn tell<'a>(&self, tasks: impl Iterator<Item = &'a Task>, sample: &mut Sample) {
        sample.disk_kib = size(&self.folder) / 1024;
        let told: Vec<_> = tasks.filter_map(Task::recording).collect();
        let lost = told.iter().map(|told| told.lost_lines).sum();
        let failed = told.iter().filter(|told| told.failure.is_some()).count() as u64;
        let counts = [
            ("journal: steps lost", self.keeper.lost()),
            ("recording: lines lost by the present ones", lost),
            ("recording: failed", failed),
        ];
        sample.counts.extend(counts.map(|(name, count)| (name.to_owned(), count)));
    }
}

fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let sizes = entries.filter_map(|entry| match entry.metadata().ok()? {
        it if it.is_dir() => Some(size(&entry.path())),
        it => Some(it.len()),
    });
    sizes.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_below_a_folder_is_summed_up() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a")).unwrap();
        fs::write(folder.path().join("a/one"), [0; 1_000]).unwrap();
        fs::write(folder.path().join("two"), [0; 24]).unwrap();
        assert_eq!(size(folder.path()), 1_024);
    }
}
