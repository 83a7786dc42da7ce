//! The folders that we write to, and the server's socket.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use supervisor::journal::journals;

use super::finding::Finding;
use crate::settings::{Loaded, journal};
use crate::socket::{self, SocketError};

const ABOUT: &str = "folder";

pub(super) async fn look(loaded: &Loaded) -> Vec<Finding> {
    let mut findings = vec![server(loaded).await];
    findings.extend(kept(loaded));
    let recording = loaded.settings.recording.path.as_deref().filter(|path| path.is_dir());
    findings.extend(recording.map(|path| place("recordings", path)));
    findings
}

async fn server(loaded: &Loaded) -> Finding {
    let path = socket::path(loaded);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match socket::connect(&path).await {
        Ok(_) => Finding::ok(ABOUT, format!("a server listens at {}", path.display())),
        Err(SocketError::NoServer(_))
            if loaded.settings.serve.socket.is_none() && loaded.around.runtime().is_none() =>
        {
            Finding::ok(ABOUT, format!("XDG_RUNTIME_DIR is not set: serve would make {}", folder.display()))
        }
        Err(SocketError::NoServer(_)) => place("the server's socket", folder),
        Err(error) => {
            let text = error.to_string();
            let (what, next) =
                text.split_once("\n  next: ").unwrap_or((&text, "name another socket by --socket"));
            Finding::bad(ABOUT, what.replace("\n  ", " "), next)
        }
    }
}

fn kept(loaded: &Loaded) -> Vec<Finding> {
    if !loaded.settings.journal.enabled {
        return vec![Finding::ok(ABOUT, "no journal is kept (journal.enabled)")];
    }
    let Some(root) = journal::root(loaded) else {
        let next = "set HOME or XDG_STATE_HOME, or journal.path";
        return vec![Finding::warn(ABOUT, "no journal is kept: nobody says where", next)];
    };
    let count = journals(&root).len();
    vec![
        place("journals", &root),
        Finding::ok(ABOUT, format!("{count} journals are kept in {}", root.display())),
    ]
}

/// A folder that must be ours to write to, or that can be made.
fn place(what: &str, path: &Path) -> Finding {
    let there = nearest(path);
    let shown = path.display();
    match there.metadata() {
        Ok(meta) if !meta.is_dir() => Finding::bad(
            ABOUT,
            format!("{} is in the way of {what}", there.display()),
            "move it away, or name another place",
        ),
        Ok(_) if !may_write(&there) => {
            let next =
                format!("give yourself the right to write to {}, or name another place", there.display());
            Finding::bad(ABOUT, format!("{shown} cannot be written to, for {what}"), next)
        }
        Ok(meta) if there == path && others_may_write(&meta) => {
            let next = format!("chmod go-w {shown}");
            Finding::warn(ABOUT, format!("others can write to {shown}, the folder of {what}"), next)
        }
        Ok(_) => Finding::ok(ABOUT, format!("{shown} can be written to, for {what}")),
        Err(error) => {
            Finding::bad(ABOUT, format!("{shown} cannot be looked at ({error})"), "look at its permissions")
        }
    }
}

/// The folder itself, or the one in which it would be made.
fn nearest(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    absolute.ancestors().find(|path| path.exists()).unwrap_or(Path::new("/")).to_owned()
}

fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK).is_ok()
}

/// In a folder such as /tmp nobody can replace what is ours.
fn others_may_write(meta: &std::fs::Metadata) -> bool {
    let mode = meta.permissions().mode();
    mode & 0o022 != 0 && mode & 0o1000 == 0 && meta.mode() & 0o170_000 == 0o040_000
}

#[cfg(test)]
mod tests {
    use super::super::finding::Level;
    use super::*;

    #[test]
    fn a_folder_that_can_be_made_is_well_and_a_file_in_the_way_is_not() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(place("x", &home.path().join("a/b")).level, Level::Ok);
        let file = home.path().join("file");
        std::fs::write(&file, "").unwrap();
        let found = place("x", &file.join("b"));
        assert_eq!(found.level, Level::Bad);
        assert!(found.what.contains("in the way of x"), "{found:?}");
        let open = home.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert_eq!(place("x", &open).level, Level::Warn);
        std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o1777)).unwrap();
        assert_eq!(place("x", &open).level, Level::Ok);
    }
}
