//! The socket of `serve`: where it is, whose it is, and that there is one server behind it.

use std::fs::{DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{
    DirBuilderExt as _, FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _,
};
use std::path::{Path, PathBuf};

use tokio::net::{UnixListener, UnixStream};

use crate::settings::Loaded;

/// Its name in the folder of what lives as long as its user is logged in.
const NAME: &str = "cdp-supervisor.sock";

/// What is wrong with a socket.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SocketError {
    /// Nobody listens there.
    #[error(
        "there is no server at {}\n  next: start one with `cdp-supervisor serve --detach`, or name its socket by --socket", .0.display()
    )]
    NoServer(PathBuf),
    /// Somebody does.
    #[error(
        "there is a server at {} already{}\n  next: use it (`cdp-supervisor status`), end it (`kill PID`), or name another socket by --socket", .path.display(), process(*.pid)
    )]
    Busy {
        /// The socket.
        path: PathBuf,
        /// Its process, if that is known.
        pid: Option<u32>,
    },
    /// Something else is there.
    #[error("{} is no socket, and is left alone\n  next: name another path by --socket", .0.display())]
    NoSocket(PathBuf),
    /// A folder, or a process, of somebody else.
    #[error("{what} is not yours alone{}\n  next: set XDG_RUNTIME_DIR to a folder of yours, or name a socket in one by --socket", whose(*.uid))]
    Foreign {
        /// The folder or the server.
        what: String,
        /// Whose it is, if it is another user's.
        uid: Option<u32>,
    },
    /// The system refuses.
    #[error("cannot {what} {}\n  why: {source}\n  next: look at the folder and its permissions, or name another socket by --socket", .path.display())]
    System {
        /// What was to be done.
        what: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

fn process(pid: Option<u32>) -> String {
    pid.map(|pid| format!(", process {pid}")).unwrap_or_default()
}

fn whose(uid: Option<u32>) -> String {
    uid.map(|uid| format!(" (it is user {uid}'s)")).unwrap_or_default()
}

/// Where the socket is: as the settings say, else in the user's runtime folder, else in a folder of ours for temporary files.
pub(crate) fn path(loaded: &Loaded) -> PathBuf {
    match (&loaded.settings.serve.socket, loaded.around.runtime()) {
        (Some(path), _) => path.clone(),
        (None, Some(folder)) => folder.join(NAME),
        (None, None) => own_folder().join(NAME),
    }
}

/// Named after the user, so that two of them do not meet.
fn own_folder() -> PathBuf {
    std::env::temp_dir().join(format!("cdp-supervisor-{}", us()))
}

/// A folder for everybody is no place to trust a name: ours must be ours alone.
fn check_own_folder(path: &Path) -> Result<(), SocketError> {
    let folder = own_folder();
    if path.parent() != Some(&folder) {
        return Ok(());
    }
    let made = DirBuilder::new().mode(0o700).create(&folder);
    if let Err(source) =
        made.or_else(|error| if error.kind() == ErrorKind::AlreadyExists { Ok(()) } else { Err(error) })
    {
        return Err(SocketError::System { what: "make", path: folder, source });
    }
    let meta = folder.symlink_metadata().map_err(|source| SocketError::System {
        what: "look at",
        path: folder.clone(),
        source,
    })?;
    let uid = Some(meta.uid()).filter(|uid| *uid != us());
    if meta.is_dir() && uid.is_none() && meta.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(SocketError::Foreign { what: folder.display().to_string(), uid })
}

/// A socket that this process listens on. It is removed with this.
pub(crate) struct Listener {
    listener: UnixListener,
    path: PathBuf,
    /// Held: two servers that start at once cannot both take the path of one that was killed.
    _lock: File,
}

impl Listener {
    /// Listens. What a killed server left is replaced.
    ///
    /// # Errors
    /// [`SocketError`].
    pub(crate) fn bind(path: &Path) -> Result<Self, SocketError> {
        check_own_folder(path)?;
        let system = |what| move |source| SocketError::System { what, path: path.to_owned(), source };
        let lock = lock(path)?;
        remove_stale(path)?;
        let listener = UnixListener::bind(path).map_err(system("listen on"))?;
        std::fs::set_permissions(path, Permissions::from_mode(0o600)).map_err(system("protect"))?;
        Ok(Self { listener, path: path.to_owned(), _lock: lock })
    }

    /// The next client of ours. Those of other users are turned away: who may open the socket is one question, whose
    /// process does another.
    pub(crate) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            match stream.peer_cred() {
                Ok(peer) if peer.uid() == us() => return Ok(stream),
                Ok(peer) => tracing::warn!(uid = peer.uid(), "a client of another user was turned away"),
                Err(error) => {
                    tracing::warn!(%error, "a client that does not say whose it is was turned away")
                }
            }
        }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Connects to the server.
///
/// # Errors
/// [`SocketError`].
pub(crate) async fn connect(path: &Path) -> Result<UnixStream, SocketError> {
    let system = |source| SocketError::System { what: "connect to", path: path.to_owned(), source };
    let stream = UnixStream::connect(path).await.map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => SocketError::NoServer(path.to_owned()),
        _ => system(error),
    })?;
    match stream.peer_cred().map_err(system)?.uid() {
        uid if uid == us() => Ok(stream),
        uid => {
            Err(SocketError::Foreign { what: format!("the server at {}", path.display()), uid: Some(uid) })
        }
    }
}

/// The lock beside the socket, with our process in it. It stays when the server has gone: whoever removed it could remove
/// the one that another server has just taken.
fn lock(socket: &Path) -> Result<File, SocketError> {
    let mut path = socket.as_os_str().to_owned();
    path.push(".lock");
    let system = |what| {
        let path = PathBuf::from(&path);
        move |source| SocketError::System { what, path, source }
    };
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let mut file = options.open(&path).map_err(system("make"))?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            let mut pid = String::new();
            let _ = file.read_to_string(&mut pid);
            return Err(SocketError::Busy { path: socket.to_owned(), pid: pid.trim().parse().ok() });
        }
        Err(TryLockError::Error(source)) => return Err(system("lock")(source)),
    }
    file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(system("write"))?;
    Ok(file)
}

/// A socket that nobody listens on is what a killed server left.
fn remove_stale(path: &Path) -> Result<(), SocketError> {
    let system = |what, source| SocketError::System { what, path: path.to_owned(), source };
    match path.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(system("look at", error)),
        Ok(meta) if !meta.file_type().is_socket() => return Err(SocketError::NoSocket(path.to_owned())),
        Ok(_) => {}
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Ok(_) => Err(SocketError::Busy { path: path.to_owned(), pid: None }),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(|error| system("remove", error))
        }
        Err(error) => Err(system("connect to", error)),
    }
}

/// The user whose process this is.
fn us() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_socket_is_for_its_owner_and_goes_with_its_listener() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer(_))));
        let listener = Listener::bind(&path).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let (connected, accepted) = tokio::join!(connect(&path), listener.accept());
        assert!(connected.is_ok() && accepted.is_ok());
        drop(listener);
        assert!(!path.exists());
    }

    #[tokio::test]
    async fn one_server_has_a_path_and_says_which() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let first = Listener::bind(&path).unwrap();
        let refused = Listener::bind(&path).map(drop).unwrap_err();
        let pid = std::process::id();
        assert!(matches!(refused, SocketError::Busy { pid: Some(named), .. } if named == pid), "{refused}");
        drop(first);
        drop(Listener::bind(&path).unwrap());
    }

    #[tokio::test]
    async fn what_a_killed_server_left_is_replaced_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        drop(std::os::unix::net::UnixListener::bind(&path).unwrap());
        assert!(matches!(connect(&path).await, Err(SocketError::NoServer(_))));
        drop(Listener::bind(&path).unwrap());
        let other = std::os::unix::net::UnixListener::bind(&path).unwrap();
        let refused = Listener::bind(&path).map(drop).unwrap_err();
        assert!(matches!(refused, SocketError::Busy { pid: None, .. }), "{refused}");
        drop(other);
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "precious").unwrap();
        assert!(matches!(Listener::bind(&path), Err(SocketError::NoSocket(_))));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    }

    #[tokio::test]
    async fn a_path_that_is_too_long_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x".repeat(200));
        let error = Listener::bind(&path).map(drop).unwrap_err().to_string();
        assert!(error.contains("cannot listen on") && error.contains("next: "), "{error}");
    }
}
