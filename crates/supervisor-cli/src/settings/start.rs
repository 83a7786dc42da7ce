//! What a task is started with, as the settings say.

use chromium_launcher::Running;
use supervisor::{
    Endpoint, Failure, Network, Options, Proxy, Reconnect, Recording, StartOptions, Supervisor, Task,
};
use supervisor_mcp::Defaults;

use super::journal::OwnJournal;
use super::layers::Loaded;
use super::model::{MB, Settings};

/// The choices of the tasks of a process, and its journal.
pub(crate) struct Prepared {
    start: StartOptions,
    /// Where the browser is, if that is known.
    pub(crate) endpoint: Option<Endpoint>,
    journal: Option<OwnJournal>,
}

impl Prepared {
    /// As the settings say. What makes connections unsafe is told in the log.
    pub(crate) fn new(loaded: &Loaded, launched: Option<&Running>) -> Self {
        if loaded.settings.network.insecure_tls {
            tracing::warn!("any certificate is taken for good (network.insecure_tls): only for tests");
        }
        let journal = OwnJournal::begin(loaded);
        let mut start = start_options(&loaded.settings, launched);
        start.recording = recording(&loaded.settings);
        start.journal = journal.as_ref().map(OwnJournal::keeper);
        Self { start, endpoint: endpoint(&loaded.settings, launched), journal }
    }

    /// Starts a task at this endpoint.
    ///
    /// # Errors
    /// As [`Supervisor::get_or_start`].
    pub(crate) async fn start(
        &self,
        supervisor: &Supervisor,
        task: &str,
        endpoint: &Endpoint,
    ) -> Result<Task, Failure> {
        supervisor.get_or_start_at(task, endpoint.clone(), self.start.clone()).await
    }

    /// The same for the tools.
    pub(crate) fn defaults(&self) -> Defaults {
        let defaults = Defaults::default().with_start(self.start.clone());
        match &self.endpoint {
            Some(endpoint) => defaults.with_endpoint(endpoint.clone()),
            None => defaults,
        }
    }

    /// How tasks are recorded, if they are.
    pub(crate) fn recording(&mut self) -> Option<&mut Recording> {
        self.start.recording.as_mut()
    }

    /// When all tasks have stopped: what is left is written.
    pub(crate) async fn end(&self) {
        if let Some(journal) = &self.journal {
            journal.end().await;
        }
    }
}

/// Where the browser is: one that was launched comes before the configured one.
pub(crate) fn endpoint(settings: &Settings, launched: Option<&Running>) -> Option<Endpoint> {
    let launched = launched.and_then(|running| Endpoint::parse(running.ws_url()).ok());
    launched.or_else(|| settings.browser.cdp_url.as_ref().map(|url| url.endpoint().clone()))
}

/// How a browser is reached and a task started, without a recording and a journal.
pub(crate) fn start_options(settings: &Settings, launched: Option<&Running>) -> StartOptions {
    let mut start = StartOptions::from(options(settings));
    start.start_timeout = settings.timeouts.start_s.0;
    start.headers = settings.browser.headers.secrets();
    start.network = network(settings);
    if launched.is_some() {
        // It is on this machine, where no proxy has to lead to.
        start.network.proxy = Proxy::Direct;
    }
    start
}

/// The way through the network.
pub(crate) fn network(settings: &Settings) -> Network {
    let given = &settings.network;
    let mut network = Network::default();
    network.proxy = given.proxy.0.clone();
    network.no_proxy = given.no_proxy.clone();
    network.ca_file = given.ca_file.clone();
    network.insecure_tls = given.insecure_tls;
    network
}

fn options(settings: &Settings) -> Options {
    let (browser, timeouts, reconnect) = (&settings.browser, &settings.timeouts, &settings.reconnect);
    let mut options = Options::default();
    options.dialog_policy = browser.dialog_policy;
    options.dialog_timeout = browser.dialog_timeout_s.0;
    options.bridge = browser.bridge;
    options.bridge_host = browser.bridge_host.0.clone();
    options.guard = browser.guard;
    options.call_timeout = timeouts.call_s.0;
    let tries = u32::try_from(reconnect.tries.0).unwrap_or(u32::MAX);
    options.reconnect = Reconnect { tries, within: reconnect.seconds.0 };
    options
}

fn recording(settings: &Settings) -> Option<Recording> {
    let mut recording = Recording::to(settings.recording.path.as_deref()?);
    recording.max_bytes = settings.recording.max_mb.0 * MB;
    recording.redact = settings.recording.redact;
    recording.recorded_with = Some(concat!("cdp-supervisor ", env!("CARGO_PKG_VERSION")).to_owned());
    Some(recording)
}
