//! The journal of this process, below a folder that all processes share.

use std::path::PathBuf;
use std::time::Duration;

use supervisor::journal::{Bounds, JournalError, Keeper, ProcessJournal};

use super::layers::Loaded;
use super::model::MB;

/// The folder in our state folder.
const FOLDER: &str = "journal";

/// How long a process that ends waits for the disk.
const LAST_WRITES: Duration = Duration::from_secs(2);

/// Where the journals of all processes are. `None` when nobody says where: there is no home folder either.
pub(crate) fn root(loaded: &Loaded) -> Option<PathBuf> {
    let named = loaded.settings.journal.path.clone();
    named.or_else(|| Some(loaded.around.state()?.join(FOLDER)))
}

/// The journal of this process, if one is kept. It has no folder before there is something to keep; that it cannot be
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
        match begun(root, bounds) {
            Ok(keeper) => Some(Self { keeper }),
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

fn begun(root: PathBuf, bounds: Bounds) -> Result<Keeper, JournalError> {
    Keeper::start(ProcessJournal::new(root, bounds)?).map(|(keeper, _)| keeper)
}

#[cfg(test)]
mod tests {
    use supervisor::journal::{Run, journals};

    use super::super::around::Around;
    use super::super::load;
    use super::*;

    #[test]
    fn nothing_is_kept_before_there_is_something_to_keep() {
        let home = tempfile::tempdir().unwrap();
        let around = Around::with([("XDG_STATE_HOME", home.path().to_str().unwrap())]);
        let loaded = load(Some("/dev/null".as_ref()), vec![], &around).unwrap();
        let root = root(&loaded).unwrap();
        assert_eq!(root, home.path().join("cdp-supervisor/journal"));
        let journal = OwnJournal::begin(&loaded).unwrap();
        journal.keeper().barrier(Duration::from_secs(60)).unwrap();
        assert_eq!(journals(&root), []);
        let run = Run { task: "t".into(), started_unix_us: 0, endpoint: String::new() };
        let appender = journal.keeper().begin(run);
        journal.keeper().barrier(Duration::from_secs(60)).unwrap();
        let [found] = &journals(&root)[..] else { panic!("{:?}", journals(&root)) };
        assert_eq!((found.process, found.is_live()), (Some(std::process::id()), true));
        drop(appender);
    }

    #[test]
    fn none_is_kept_where_it_is_off() {
        let around = Around::with([("HOME", "/h"), ("CDP_SUPERVISOR_JOURNAL_ENABLED", "false")]);
        let loaded = load(Some("/dev/null".as_ref()), vec![], &around).unwrap();
        assert!(OwnJournal::begin(&loaded).is_none());
    }
}
