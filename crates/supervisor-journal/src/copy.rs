//! Reading a journal that somebody else writes to, or that a killed process left: always from a copy.
//!
//! Opening a sled store writes to it, and a store has one owner.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::error::JournalError;
use crate::generations::{Bounds, files};
use crate::journal::SledJournal;
use crate::port::{Journal as _, Kept, RunId, Summary};

/// Copies that are begun until one was not written to meanwhile. A writer flushes four times a second, and a copy takes
/// some ten milliseconds; should all be disturbed, the last is taken, and lacks the end.
const TRIES: usize = 8;

/// A journal as it was at one moment.
#[derive(Debug)]
pub struct JournalCopy {
    journal: SledJournal,
    _folder: TempDir,
}

impl JournalCopy {
    /// Copies the journal in this folder to a temporary one. What its writer has not flushed yet is not in it: that of the
    /// last quarter of a second.
    ///
    /// # Errors
    /// [`JournalError::Folder`]; [`JournalError::Store`].
    pub fn of(folder: &Path) -> Result<Self, JournalError> {
        let copy =
            copied(folder).map_err(|source| JournalError::Folder { path: folder.to_owned(), source })?;
        let unbounded = Bounds { max_bytes: u64::MAX / 2, max_age: Duration::from_secs(u64::from(u32::MAX)) };
        Ok(Self { journal: SledJournal::open(copy.path(), unbounded)?, _folder: copy })
    }

    /// What is damaged in it, each a sentence for people.
    #[must_use]
    pub fn repairs(&self) -> &[String] {
        self.journal.repairs()
    }

    /// The runs that are kept, oldest first.
    ///
    /// # Errors
    /// [`JournalError::Store`].
    pub fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        self.journal.runs()
    }

    /// What is kept of a run.
    ///
    /// # Errors
    /// [`JournalError::Store`]; [`JournalError::NoRun`].
    pub fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        self.journal.read(run)
    }
}

fn copied(folder: &Path) -> io::Result<TempDir> {
    let mut last = Err(io::Error::from(io::ErrorKind::NotFound));
    for _ in 0..TRIES {
        let before = stamps(folder);
        last = copy_once(folder);
        if last.is_ok() && stamps(folder) == before {
            break;
        }
    }
    last
}

/// When each file was written, and how long it is.
fn stamps(folder: &Path) -> Vec<(PathBuf, Option<SystemTime>, u64)> {
    let stamp = |file: PathBuf| {
        let data = file.metadata().ok();
        let changed = data.as_ref().and_then(|data| data.modified().ok());
        (file, changed, data.map_or(0, |data| data.len()))
    };
    let mut stamps: Vec<_> = files(folder).into_iter().map(stamp).collect();
    stamps.sort();
    stamps
}

fn copy_once(folder: &Path) -> io::Result<TempDir> {
    let copy = tempfile::tempdir()?;
    copy_below(folder, copy.path())?;
    Ok(copy)
}

/// What is gone before it is copied was not needed any more.
fn copy_below(folder: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let to = to.join(entry.file_name());
        let copied = match entry.file_type()?.is_dir() {
            true => fs::create_dir(&to).and_then(|()| copy_below(&entry.path(), &to)),
            false => fs::copy(entry.path(), &to).map(drop),
        };
        match copied {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            copied => copied?,
        }
    }
    Ok(())
}
