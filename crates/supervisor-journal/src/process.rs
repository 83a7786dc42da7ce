//! One root folder for many processes: each has a journal of its own below it, and cleans up after those that have ended.
//!
//! ```text
//! ROOT/SECONDS-PID-N/lock         locked while its process lives; N is left out for the first
//! ROOT/SECONDS-PID-N/journal-…    the stores
//! ```

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::error::JournalError;
use crate::generations::{Bounds, Generations, create_private, remove, size};
use crate::journal::SledJournal;
use crate::packed::Block;
use crate::port::{Journal, Kept, Run, RunId, Summary};

const LOCK: &str = "lock";

/// The journal of this process below a root folder, made when its first run begins.
///
/// The bounds hold for this journal and those of ended processes together; the oldest of these go first. Journals of other
/// processes that live are left alone.
#[derive(Debug)]
pub struct ProcessJournal {
    root: PathBuf,
    bounds: Bounds,
    own: Option<Own>,
    /// Calls of `append` since others were looked at.
    appended: u64,
}

#[derive(Debug)]
struct Own {
    journal: SledJournal,
    folder: PathBuf,
    /// Its lock ends with the process, however that ends.
    _lock: File,
}

impl ProcessJournal {
    /// Makes the root folder if need be, for its owner alone, and cleans up.
    ///
    /// # Errors
    /// [`JournalError::Folder`].
    pub fn new(root: impl Into<PathBuf>, bounds: Bounds) -> Result<Self, JournalError> {
        let root = root.into();
        create_private(&root).map_err(|source| JournalError::Folder { path: root.clone(), source })?;
        let journal = Self { root, bounds, own: None, appended: 0 };
        journal.clean();
        Ok(journal)
    }

    fn own(&mut self) -> Result<&mut SledJournal, JournalError> {
        if self.own.is_none() {
            self.own = Some(Own::make(&self.root, self.bounds)?);
        }
        match &mut self.own {
            Some(own) => Ok(&mut own.journal),
            None => unreachable!("it was made above"),
        }
    }

    /// What ended processes left goes when it is too old, or when there is no room for it beside this journal.
    fn clean(&self) {
        let used = self.own.as_ref().map_or(0, |own| own.journal.size());
        let mut left = self.bounds.max_bytes.saturating_sub(used + self.bounds.generation());
        let mut is_full = false;
        let own = self.own.as_ref().map(|own| own.folder.as_path());
        for found in journals(&self.root).iter().rev().filter(|found| Some(found.folder.as_path()) != own) {
            let Some(_lock) = found.lock_if_ended() else { continue };
            let generations = Generations::at(&found.folder);
            generations.prune(None, &self.bounds, SystemTime::now());
            let size = size(&found.folder);
            is_full |= size > left;
            if is_full || generations.numbers().is_empty() {
                remove(&found.folder);
            } else {
                left -= size;
            }
        }
    }
}

impl Own {
    fn make(root: &Path, bounds: Bounds) -> Result<Self, JournalError> {
        let folder = root.join(own_name());
        let locked = create_private(&folder)
            .and_then(|()| File::create(folder.join(LOCK)))
            .and_then(|lock| lock.lock().map(|()| lock));
        match locked {
            Ok(lock) => Ok(Self { journal: SledJournal::open(&folder, bounds)?, folder, _lock: lock }),
            Err(source) => Err(JournalError::Folder { path: folder, source }),
        }
    }
}

fn own_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    match NEXT.fetch_add(1, Ordering::Relaxed) {
        1 => format!("{now}-{}", std::process::id()),
        further => format!("{now}-{}-{further}", std::process::id()),
    }
}

impl Journal for ProcessJournal {
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError> {
        let id = self.own()?.begin(run)?;
        self.clean();
        Ok(id)
    }

    fn append_blocks(&mut self, run: RunId, blocks: &[Block]) -> Result<(), JournalError> {
        /// Writes between two looks at what others left: a few seconds, or a few hundred kilobytes.
        const LOOK_EVERY: u64 = 100;
        let Some(own) = &mut self.own else { return Err(JournalError::NoRun(run)) };
        own.journal.append_blocks(run, blocks)?;
        self.appended += 1;
        if self.appended.is_multiple_of(LOOK_EVERY) {
            self.clean();
        }
        Ok(())
    }

    fn end(&mut self, run: RunId) -> Result<(), JournalError> {
        self.own.as_mut().map_or(Ok(()), |own| own.journal.end(run))
    }

    fn tidy(&mut self) -> Result<(), JournalError> {
        self.own.as_mut().map_or(Ok(()), |own| own.journal.tidy())?;
        self.clean();
        Ok(())
    }

    fn barrier(&mut self) -> Result<(), JournalError> {
        self.own.as_mut().map_or(Ok(()), |own| own.journal.barrier())
    }

    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        self.own.as_ref().map_or(Ok(Vec::new()), |own| own.journal.runs())
    }

    fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        self.own.as_ref().map_or(Err(JournalError::NoRun(run)), |own| own.journal.read(run))
    }
}

/// A journal that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// Its folder.
    pub folder: PathBuf,
    /// The process that writes or wrote it, where its folder's name says so.
    pub process: Option<u32>,
    /// When that began, in seconds since the Unix epoch.
    pub started_unix: Option<u64>,
}

impl Found {
    /// Whether its process lives.
    #[must_use]
    pub fn is_live(&self) -> bool {
        self.process.is_some() && self.lock_if_ended().is_none()
    }

    /// The lock, held as long as this is kept; `None` while the process lives, or when there is none.
    fn lock_if_ended(&self) -> Option<File> {
        let lock = File::open(self.folder.join(LOCK)).ok()?;
        lock.try_lock_shared().is_ok().then_some(lock)
    }
}

/// The journals below a root folder, oldest first; or the one that is in this folder itself.
#[must_use]
pub fn journals(root: &Path) -> Vec<Found> {
    if !Generations::at(root).numbers().is_empty() {
        return vec![Found { folder: root.to_owned(), process: None, started_unix: None }];
    }
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut found: Vec<Found> = entries.filter_map(|entry| found(entry.path())).collect();
    found.sort_by(|a, b| (a.started_unix, &a.folder).cmp(&(b.started_unix, &b.folder)));
    found
}

fn found(folder: PathBuf) -> Option<Found> {
    let numbers: Result<Vec<u64>, _> = folder.file_name()?.to_str()?.split('-').map(str::parse).collect();
    let (started, process) = match numbers.ok()?[..] {
        [started, process] | [started, process, _] => (started, u32::try_from(process).ok()?),
        _ => return None,
    };
    Some(Found { folder, process: Some(process), started_unix: Some(started) })
}
