//! What a host chooses when it starts a task.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use supervisor_core::Options;
use supervisor_journal::Keeper;
use tokio::io::{AsyncRead, AsyncWrite};

use crate::limits::START_TIMEOUT;
use crate::loss::Loss;
use crate::network::Network;
use crate::recorder::Recording;
use crate::secret::Secret;

/// Gives the endpoint of the browser as it is now, for example a newly signed URL; `None` keeps the last one.
///
/// It is asked before each reconnect, within the time that the dial has.
pub type Refresh = Arc<dyn Fn() -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync>;

/// As [`Refresh`], and told what became of the connection or of the last attempt: a signature that ran out wants another
/// URL than a session that is over.
pub type Renew = Arc<dyn Fn(Loss) -> Pin<Box<dyn Future<Output = Option<String>> + Send>> + Send + Sync>;

/// Bytes both ways.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// Makes the stream to a host and port, instead of TCP: through a tunnel, or in memory. TLS and WebSocket come on top of it.
pub type Connect = Arc<dyn Fn(&str, u16) -> Connecting + Send + Sync>;

/// A stream that is being made.
pub type Connecting = Pin<Box<dyn Future<Output = io::Result<Box<dyn Stream>>> + Send>>;

/// The choices of one task.
#[derive(Clone)]
#[non_exhaustive]
pub struct StartOptions {
    /// What the core decides by. A change of these reaches a task that runs.
    pub options: Options,
    /// Where the task is recorded, if anywhere. Of a task that runs it is not changed.
    pub recording: Option<Recording>,
    /// Where the task's events are kept, if anywhere: they hold page texts and typed answers. Of a task that runs it is not
    /// changed.
    pub journal: Option<Keeper>,
    /// The time for a start, from the name to the handshake, and for opening the socket of a reconnect. Of a task that runs
    /// it is not changed.
    pub start_timeout: Duration,
    /// Headers of the WebSocket upgrade and of `/json/version`. Of a task that runs they are not changed.
    pub headers: Vec<(String, Secret)>,
    /// How the network to the browser is passed. Of a task that runs it is not changed.
    pub network: Network,
    /// Where a fresh URL comes from. Of a task that runs it is not changed.
    pub refresh: Option<Refresh>,
    /// The same, told why; where it is given, `refresh` is not asked. Of a task that runs it is not changed.
    pub renew: Option<Renew>,
    /// How the stream to the browser is made; none is TCP. Of a task that runs it is not changed.
    pub connect: Option<Connect>,
    /// Where the jitter of reconnects and the bridge's secrets come from; none is a fresh one for each task, which nobody can
    /// guess. The same one makes runs the same. Of a task that runs it is not changed.
    pub seed: Option<u64>,
}

impl Default for StartOptions {
    fn default() -> Self {
        Self::from(Options::default())
    }
}

impl StartOptions {
    /// Whoever gives fresh URLs, as one that is told why.
    pub(crate) fn renewing(&self) -> Option<Renew> {
        let untold = |refresh: Refresh| -> Renew { Arc::new(move |_| refresh()) };
        self.renew.clone().or_else(|| self.refresh.clone().map(untold))
    }
}

impl From<Options> for StartOptions {
    fn from(options: Options) -> Self {
        Self {
            options,
            recording: None,
            journal: None,
            start_timeout: START_TIMEOUT,
            headers: Vec::new(),
            network: Network::default(),
            refresh: None,
            renew: None,
            connect: None,
            seed: None,
        }
    }
}

impl fmt::Debug for StartOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StartOptions")
            .field("options", &self.options)
            .field("recording", &self.recording)
            .field("journal", &self.journal.is_some())
            .field("start_timeout", &self.start_timeout)
            .field("headers", &self.headers)
            .field("network", &self.network)
            .field("refresh", &self.refresh.is_some())
            .field("connect", &self.connect.is_some())
            .field("seed", &self.seed.is_some())
            .finish()
    }
}
