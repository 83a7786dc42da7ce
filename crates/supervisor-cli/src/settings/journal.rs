//! The journal of this process: one folder a process, because a store has one owner.
//!
//! ```text
//! ROOT/1796052180-4711/lock        held while the process lives
//! ROOT/1796052180-4711/…           the stores
//! ```

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use supervisor::journal::{Bounds, Journal, JournalError, Keeper, Kept, Run, RunId, SledJournal, Summary};
use supervisor_core::Recorded;

use super::layers::Loaded;
use super::model::MB;

/// The folder in our state folder.
const FOLDER: &str = "journal";

/// The file in each process's folder that is locked while the process lives.
const LOCK: &str = "lock";

/// How long a process that ends waits for the disk.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// Where the journals of all processes are. `None` when nobody says where: there is no home folder either.
pub(crate) fn root(loaded: &Loaded) -> Option<PathBuf> {
    let named = loaded.settings.journal.path.clone();
    named.or_else(|| Some(loaded.around.state()?.join(FOLDER)))
}

/// The journal of this process, if one is kept. Nothing is on disk before there is something to keep; that it cannot be
/// written is told in the log, and stops no task.
pub(crate) struct OwnJournal {
    keeper: Keeper,
}

impl OwnJournal {
    /// Begins it.
    pub(crate) fn begin(loaded: &Loaded) -> Option<Self> {
        let settings = &loaded.settings.journal;
        if !settings.enabled {
            return None;
        }
        let Some(root) = root(loaded) else {
            tracing::warn!("no journal is kept: neither XDG_STATE_HOME nor HOME says where");
            return None;
        };
        let bounds = Bounds {
            max_bytes: settings.max_mb.0 * MB,
            max_age: Duration::from_secs(settings.max_age_h.0 * 60 * 60),
        };
        match Keeper::start(Waiting { root, bounds, opened: None }) {
            Ok((keeper, _)) => Some(Self { keeper }),
            Err(error) => {
                tracing::warn!(%error, "no journal is kept");
                None
            }
        }
    }

    /// What a task takes.
    pub(crate) fn keeper(&self) -> Keeper {
        self.keeper.clone()
    }

    /// Waits until all is on disk, for a moment at most.
    pub(crate) async fn end(&self) {
        let keeper = self.keeper();
        let written = tokio::task::spawn_blocking(move || keeper.barrier(LAST_WRITES)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(%error, "the end of the journal may be lost");
        }
    }
}

/// A process's folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Folder {
    /// Where it is.
    pub(crate) path: PathBuf,
    /// Its process.
    pub(crate) pid: u32,
    /// When it began, in seconds since the Unix epoch.
    pub(crate) began: u64,
    /// Whether the process lives: then nobody else can open the stores.
    pub(crate) alive: bool,
}

/// The folders of all processes, oldest first.
pub(crate) fn folders(root: &Path) -> Vec<Folder> {
    let entries = fs::read_dir(root).into_iter().flatten().flatten();
    let mut folders: Vec<_> = entries.filter_map(|entry| folder(entry.path())).collect();
    folders.sort_by_key(|folder| (folder.began, folder.pid));
    folders
}

fn folder(path: PathBuf) -> Option<Folder> {
    let (began, pid) = path.file_name()?.to_str()?.split_once('-')?;
    let (began, pid) = (began.parse().ok()?, pid.parse().ok()?);
    let alive = File::open(path.join(LOCK)).is_ok_and(|lock| lock.try_lock_shared().is_err());
    Some(Folder { path, pid, began, alive })
}

/// A journal that is opened with its first run.
struct Waiting {
    root: PathBuf,
    bounds: Bounds,
    opened: Option<Opened>,
}

struct Opened {
    journal: SledJournal,
    /// Held: others see by it that we live.
    _lock: File,
}

impl Waiting {
    fn open(&mut self) -> Result<&mut SledJournal, JournalError> {
        let opened = match self.opened.take() {
            Some(opened) => opened,
            None => {
                make_room(&self.root, self.bounds);
                let failed = |source| JournalError::Folder { path: self.root.clone(), source };
                let (path, lock) = own_folder(&self.root).map_err(failed)?;
                Opened { journal: SledJournal::open(&path, self.bounds)?, _lock: lock }
            }
        };
        Ok(&mut self.opened.insert(opened).journal)
    }

    fn present(&self) -> Result<&SledJournal, JournalError> {
        let nothing = || JournalError::Store("nothing was journalled yet".to_owned());
        self.opened.as_ref().map(|opened| &opened.journal).ok_or_else(nothing)
    }
}

impl Journal for Waiting {
    fn begin(&mut self, run: &Run) -> Result<RunId, JournalError> {
        self.open()?.begin(run)
    }

    fn append(&mut self, run: RunId, events: &[Recorded]) -> Result<(), JournalError> {
        self.open()?.append(run, events)
    }

    fn barrier(&mut self) -> Result<(), JournalError> {
        self.opened.as_mut().map_or(Ok(()), |opened| opened.journal.barrier())
    }

    fn runs(&self) -> Result<Vec<Summary>, JournalError> {
        self.present()?.runs()
    }

    fn read(&self, run: RunId) -> Result<Kept, JournalError> {
        self.present()?.read(run)
    }
}

/// A new folder for this process, for its owner alone.
fn own_folder(root: &Path) -> io::Result<(PathBuf, File)> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let path = root.join(format!("{}-{}", now.as_secs(), std::process::id()));
    DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
    let lock = File::create(path.join(LOCK))?;
    lock.try_lock().map_err(io::Error::from)?;
    Ok((path, lock))
}

/// Removes what is too old, and the oldest while all together are too large. Of living processes nothing is removed.
fn make_room(root: &Path, bounds: Bounds) {
    let mut total = 0;
    let ended = folders(root).into_iter().rev().filter(|folder| !folder.alive);
    for folder in ended {
        let (bytes, written) = measured(&folder.path);
        let age = written.and_then(|written| written.elapsed().ok()).unwrap_or_default();
        let is_old = age > bounds.max_age;
        total += if is_old { 0 } else { bytes };
        if is_old || total > bounds.max_bytes {
            let removed = fs::remove_dir_all(&folder.path);
            tracing::debug!(path = %folder.path.display(), ?removed, "an old journal made room");
        }
    }
}

/// The bytes below a folder, and when the newest of them was written.
fn measured(folder: &Path) -> (u64, Option<SystemTime>) {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.fold((0, None), |(bytes, newest), entry| {
        let Ok(meta) = entry.metadata() else { return (bytes, newest) };
        let (size, written) = match meta.is_dir() {
            true => measured(&entry.path()),
            false => (meta.len(), meta.modified().ok()),
        };
        (bytes + size, newest.max(written))
    })
}

#[cfg(test)]
mod tests {
    use super::super::around::Around;
    use super::super::load;
    use super::*;

    fn run() -> Run {
        Run { task: "t".into(), started_unix_us: 0, endpoint: String::new() }
    }

    fn old(root: &Path, began: u64, bytes: usize, age: Duration) -> PathBuf {
        let path = root.join(format!("{began}-1"));
        fs::create_dir_all(&path).unwrap();
        let file = File::create(path.join("data")).unwrap();
        file.set_len(bytes as u64).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        path
    }

    #[test]
    fn nothing_is_on_disk_before_there_is_something_to_keep() {
        use std::os::unix::fs::PermissionsExt as _;
        let home = tempfile::tempdir().unwrap();
        let around = Around::with([("XDG_STATE_HOME", home.path().to_str().unwrap())]);
        let loaded = load(Some("/dev/null".as_ref()), vec![], &around).unwrap();
        let root = root(&loaded).unwrap();
        assert_eq!(root, home.path().join("cdp-supervisor/journal"));
        let journal = OwnJournal::begin(&loaded).unwrap();
        assert!(!root.exists());
        let appender = journal.keeper().begin(run());
        journal.keeper().barrier(Duration::from_secs(60)).unwrap();
        let [folder] = &folders(&root)[..] else { panic!("{:?}", folders(&root)) };
        assert_eq!((folder.pid, folder.alive), (std::process::id(), true));
        for private in [&root, &folder.path] {
            assert_eq!(
                private.metadata().unwrap().permissions().mode() & 0o777,
                0o700,
                "{}",
                private.display()
            );
        }
        drop(appender);
    }

    #[test]
    fn what_is_too_old_or_too_much_goes_and_living_processes_keep_theirs() {
        let root = tempfile::tempdir().unwrap();
        let hour = Duration::from_secs(3_600);
        let bounds = Bounds { max_bytes: 100, max_age: hour * 10 };
        let [newest, middle, oldest] =
            [(30, 60), (20, 40), (10, 1)].map(|(began, bytes)| old(root.path(), began, bytes, hour));
        let aged = old(root.path(), 40, 1, hour * 11);
        let living = old(root.path(), 5, 1_000, hour * 100);
        let lock = File::create(living.join(LOCK)).unwrap();
        lock.lock().unwrap();
        let other = root.path().join("not-ours");
        fs::create_dir(&other).unwrap();
        make_room(root.path(), bounds);
        let left = [&newest, &middle, &oldest, &aged, &living, &other].map(|path| path.exists());
        assert_eq!(left, [true, true, false, false, true, true], "100 bytes are not too much, 101 are");
    }

    #[test]
    fn none_is_kept_where_it_is_off() {
        let around = Around::with([("HOME", "/h"), ("CDP_SUPERVISOR_JOURNAL_ENABLED", "false")]);
        let loaded = load(Some("/dev/null".as_ref()), vec![], &around).unwrap();
        assert!(OwnJournal::begin(&loaded).is_none());
    }
}
