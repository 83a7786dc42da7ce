//! The settings themselves. Their texts are the documentation: `config --schema` and `docs/configuration.md` are made of
//! them.

use std::path::PathBuf;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::journal::{MAX_AGE, MAX_BYTES};
use supervisor::limits::START_TIMEOUT;
use supervisor::{Bridge, DialogPolicy, Options};
use supervisor_core::Reconnect as Budget;

use super::bounded::{Seconds, Whole};
use super::bridge_host::BridgeHost;
use super::hidden::{CdpUrl, Headers};
use super::proxy_choice::ProxyChoice;

/// A megabyte, as `max_mb` counts it.
pub(crate) const MB: u64 = 1024 * 1024;

/// The settings of cdp-supervisor. Each can be left out.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    /// The browser, and what becomes of its dialogs.
    pub(crate) browser: Browser,
    /// The way through the network to the browser.
    pub(crate) network: Network,
    /// How long things may take.
    pub(crate) timeouts: Timeouts,
    /// How long a lost connection is tried again; whichever is spent first ends the task as failed.
    pub(crate) reconnect: Reconnect,
    /// What became of each task, event by event, for diagnosis. It holds page texts and typed answers.
    pub(crate) journal: Journal,
    /// The whole conversation with the browser, to be replayed. It holds page texts and typed answers.
    pub(crate) recording: Recording,
    /// The tool server on a socket.
    pub(crate) serve: Serve,
    /// The log, on standard error.
    pub(crate) log: Log,
}

/// The browser, and what becomes of its dialogs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Browser {
    /// Where the browser is: http://HOST:PORT, ws://…/devtools/browser/ID, ws://…/devtools/page/ID, a signed wss://… URL, or
    /// the path of its user-data-dir. When given, the task `default` is connected at start.
    #[schemars(with = "Option<String>")]
    pub(crate) cdp_url: Option<CdpUrl>,
    /// Who answers dialogs: the host or agent, or each is dismissed or accepted at once.
    pub(crate) dialog_policy: DialogPolicy,
    /// After how many seconds a dialog that nobody answers is dismissed under `must_respond`.
    pub(crate) dialog_timeout_s: Seconds<2_592_000>,
    /// Whether dialogs are caught inside of the pages, for backends that close them by themselves.
    pub(crate) bridge: Bridge,
    /// The host that the bridge's script asks: a name that nobody else can have.
    pub(crate) bridge_host: BridgeHost,
    /// A second connection that keeps open dialogs answerable when the first is lost.
    pub(crate) guard: bool,
    /// HTTP headers for the connection to the browser. Their values are secrets: they are shown nowhere.
    pub(crate) headers: Headers,
}

/// The way through the network to the browser.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Network {
    /// Which proxy leads to the browser: `environment` (HTTPS_PROXY or else ALL_PROXY, for wss and https URLs that are not of
    /// this machine), `direct`, or http://USER:PASSWORD@HOST:PORT for every URL. User and password are shown nowhere.
    pub(crate) proxy: ProxyChoice,
    /// Hosts that are reached without a proxy, with commas between them: names with what is below them, addresses, each with
    /// a port or without, or `*` for all. It stands for NO_PROXY.
    pub(crate) no_proxy: Option<String>,
    /// A file of certificates in PEM form that are trusted as well as the usual ones.
    pub(crate) ca_file: Option<PathBuf>,
    /// Whether any certificate is taken for good. Then anybody on the way can read and change everything: for tests only.
    pub(crate) insecure_tls: bool,
}

/// How long things may take.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Timeouts {
    /// Seconds for a start, from the name to the handshake.
    pub(crate) start_s: Seconds<3_600>,
    /// Seconds for a call that names no time of its own.
    pub(crate) call_s: Seconds<86_400>,
}

/// How long a lost connection is tried again; whichever is spent first ends the task as failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Reconnect {
    /// Attempts to connect again after one loss.
    pub(crate) tries: Whole<0, 10_000>,
    /// Seconds after a loss in which it is tried again.
    pub(crate) seconds: Seconds<86_400>,
}

/// What became of each task, event by event, for diagnosis. It holds page texts and typed answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Journal {
    /// Whether it is kept.
    pub(crate) enabled: bool,
    /// The folder of the journals, in which each process has its own; without one, $XDG_STATE_HOME/cdp-supervisor/journal.
    pub(crate) path: Option<PathBuf>,
    /// Megabytes that journals take, of a process and of those that have ended together; the oldest make room.
    pub(crate) max_mb: Whole<8, 1_048_576>,
    /// Hours after which the part of a journal that is no longer written to is deleted.
    pub(crate) max_age_h: Whole<1, 87_600>,
}

/// The whole conversation with the browser, to be replayed. It holds page texts and typed answers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Recording {
    /// Where a task is recorded: a file that does not exist yet, for the first task; or a folder that does, in which each task
    /// makes a new file. Without a path nothing is recorded.
    pub(crate) path: Option<PathBuf>,
    /// Megabytes of a recording, all its parts together; beyond it, its oldest part is dropped. In a folder, what ended
    /// recordings left is bounded by it too.
    pub(crate) max_mb: Whole<1, 1_048_576>,
    /// Whether page texts and typed answers are replaced in recordings.
    pub(crate) redact: bool,
}

/// The tool server on a socket.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Serve {
    /// The socket of `serve` and its clients; without one, $XDG_RUNTIME_DIR/cdp-supervisor.sock.
    pub(crate) socket: Option<PathBuf>,
}

/// The log, on standard error.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Log {
    /// The least important messages that are logged.
    pub(crate) level: Level,
    /// How each message is written.
    pub(crate) format: Format,
}

/// The least important messages that are logged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    Off,
    Error,
    Warn,
    #[default]
    Info,
    Debug,
    Trace,
}

/// How a message is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Format {
    #[default]
    Text,
    Json,
}

impl Default for Browser {
    fn default() -> Self {
        let options = Options::default();
        Self {
            cdp_url: None,
            dialog_policy: options.dialog_policy,
            dialog_timeout_s: Seconds(options.dialog_timeout),
            bridge: options.bridge,
            bridge_host: BridgeHost(options.bridge_host),
            guard: false,
            headers: Headers::default(),
        }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Self { start_s: Seconds(START_TIMEOUT), call_s: Seconds(Options::default().call_timeout) }
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        let budget = Budget::default();
        Self { tries: Whole(budget.tries.into()), seconds: Seconds(budget.within) }
    }
}

impl Default for Journal {
    fn default() -> Self {
        let hours = MAX_AGE.as_secs() / Duration::from_secs(3_600).as_secs();
        Self { enabled: true, path: None, max_mb: Whole(MAX_BYTES / MB), max_age_h: Whole(hours) }
    }
}

impl Default for Recording {
    fn default() -> Self {
        /// A busy task sends some megabytes a minute: hours of work.
        const MAX_MB: u64 = 256;
        Self { path: None, max_mb: Whole(MAX_MB), redact: false }
    }
}
