//! What can go wrong in the command: what happened, why, and what to do next.

use std::io::{self, Write as _};
use std::path::PathBuf;

use chromium_launcher::LauncherError;
use supervisor::journal::JournalError;
use supervisor::{Failure, Stage};
use supervisor_mcp::{ClientError, ServeError};
use supervisor_probe::ProbeError;
use supervisor_transcript::TranscriptError;

use crate::demo::StepFailed;
use crate::escape;
use crate::exit::Exit;
use crate::settings::SettingsError;
use crate::socket::SocketError;

/// A failure of the command. Its text is for people and may have several lines.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum CliError {
    /// The process lacks what any program needs.
    #[error("cannot start: {0}\n  next: look at the limits of this process (ulimit -a)")]
    Runtime(io::Error),
    /// A number of threads that cannot be.
    #[error(
        "TOKIO_WORKER_THREADS is {0:?}\n  expected: a number from 1 to 1024\n  next: leave it out for one thread, or give the number of processors that may be used"
    )]
    Workers(String),
    /// The settings are wrong.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// It is not said where the browser is.
    #[error(
        "it is not said where the browser is\n  next: give its URL, or --launch for one of its own, or set browser.cdp_url; see --help"
    )]
    NoUrl,
    /// The server's socket.
    #[error(transparent)]
    Socket(#[from] SocketError),
    /// The server does not answer as one should.
    #[error("the server at {} does not help\n  why: {error}\n  next: see whether it runs with `cdp-supervisor status`, and start it again if not", .path.display())]
    Server {
        /// Its socket.
        path: PathBuf,
        /// Why.
        error: ClientError,
    },
    /// Something listens and says nothing.
    #[error("what listens at {} does not answer\n  next: end it, or name the socket of a server by --socket", .0.display())]
    Silent(PathBuf),
    /// What a tool refused or failed at.
    #[error("{0}")]
    Tool(String),
    /// The server's answer is not what this version knows.
    #[error(
        "the server's answer is not understood: {0}\n  next: start the server with the same version as this command"
    )]
    OtherVersion(String),
    /// Parameters that are no JSON.
    #[error("the parameters are no JSON: {0}\n  next: give an object such as '{{\"url\": \"about:blank\"}}'")]
    Params(String),
    /// Standard input cannot be read.
    #[error(
        "cannot read standard input: {0}\n  next: see that what is piped in is text in UTF-8, or give it as an argument"
    )]
    Input(io::Error),
    /// A server in the background that did not start.
    #[error("the server did not start{}\n  why: {}\n  next: look at {}, or start it without --detach", exit_code(*.code), .said, .log.display())]
    NotDetached {
        /// How it ended, unless by a signal.
        code: Option<i32>,
        /// The end of its log.
        said: String,
        /// Its log.
        log: PathBuf,
    },
    /// There is no place for a log.
    #[error(
        "nobody says where the log goes\n  why: neither XDG_STATE_HOME nor HOME is set\n  next: give --log-file"
    )]
    NoLog,
    /// It is not said where to record to.
    #[error(
        "it is not said where to record to\n  next: give a file by -o, or set recording.path; see --help"
    )]
    NoOutput,
    /// There is a recording already.
    #[error("{} exists already\n  next: give another file by -o, or --force to replace it", .0.display())]
    RecordingExists(PathBuf),
    /// The recording ended before the task did.
    #[error(
        "the recording ended early\n  why: {0}\n  next: make room on the disk, or allow the recording more; what was written replays"
    )]
    RecordingEnded(String),
    /// Standard output cannot be written.
    #[error(
        "cannot write to standard output: {0}\n  next: see whether what reads it still runs, and whether its disk is full"
    )]
    Output(#[from] io::Error),
    /// The pages of the demo cannot be served.
    #[error("cannot serve the demo's pages on 127.0.0.1: {0}\n  next: allow this process to listen there")]
    Pages(io::Error),
    /// No browser.
    #[error(
        "there is no browser to start\n  why: {0}\n  next: name one by --browser, or give the URL of one that runs; `cdp-supervisor doctor` says which are found"
    )]
    NoBrowser(LauncherError),
    /// A browser does not start or does not stop.
    #[error(
        "the browser that was to be launched made trouble\n  why: {0}\n  next: run it by hand and look at what it says"
    )]
    Launch(LauncherError),
    /// The task did not start.
    #[error("cannot supervise {endpoint}\n  {}why: {}\n  next: {}", stage(.failure), .failure.message, next(.failure))]
    Start {
        /// Without secrets.
        endpoint: String,
        /// What the supervisor says.
        failure: Failure,
    },
    /// The task ended by itself.
    #[error(
        "the supervision of {endpoint} has ended\n  why: {reason}\n  next: see whether the browser still runs, then start again"
    )]
    Ended {
        /// Without secrets.
        endpoint: String,
        /// What the snapshot says.
        reason: String,
    },
    /// Nothing could be measured.
    #[error("cannot probe {endpoint}\n  {}why: {}\n  next: {}", at_stage(.error), why(.error), next_for_probe(.error))]
    Probe {
        /// Without secrets.
        endpoint: String,
        /// Why.
        error: ProbeError,
    },
    /// The browser went in the middle.
    #[error(
        "the connection to {endpoint} broke while it was measured\n  next: see whether the browser still runs, then probe again"
    )]
    Lost {
        /// Without secrets.
        endpoint: String,
    },
    /// A step of the demo.
    #[error(transparent)]
    Step(#[from] StepFailed),
    /// The demo broke off inside.
    #[error("the demo broke off: {0}\n  next: please report this")]
    BrokeOff(String),
    /// The client of the MCP server.
    #[error(
        "cannot serve the client\n  why: {0}\n  next: see whether the client speaks MCP, one JSON message a line, and what it logs"
    )]
    Client(ServeError),
    /// A file cannot be read or written.
    #[error("cannot {what} {}\n  why: {source}\n  next: look at the path and its permissions", .path.display())]
    File {
        /// `read` or `write`.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// There is nothing in the journal that could be shown.
    #[error(
        "there is nothing to show\n  why: {0}\n  next: see what there is with `cdp-supervisor journal list`, or name another folder by --dir"
    )]
    NoJournal(String),
    /// The journal cannot be read.
    #[error(
        "the journal cannot be read\n  why: {0}\n  next: end what writes to it, or look at the folder and its permissions; --dir names another one"
    )]
    Journal(JournalError),
    /// The recording did not become whole.
    #[error("the recording {} is not whole\n  why: {why}\n  next: record again", .path.display())]
    Recording {
        /// The file.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// A recording cannot be replayed, or fails its check.
    #[error("{}: {error}\n  next: {}", .path.display(), next_for_replay(.error))]
    Replay {
        /// The file.
        path: PathBuf,
        /// Why.
        error: TranscriptError,
    },
}

impl CliError {
    /// Says it on standard error, and how to end.
    pub(crate) fn report(&self) -> Exit {
        // Whoever closed our output has seen enough.
        if !matches!(self, CliError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe) {
            // Standard error may be gone as well, such as with its terminal.
            let _ = writeln!(io::stderr().lock(), "error: {}", escape::lines(&self.to_string()));
        }
        match self {
            CliError::NoBrowser(_) => Exit::NoBrowser,
            CliError::Settings(_)
            | CliError::Workers(_)
            | CliError::NoUrl
            | CliError::NoOutput
            | CliError::Params(_) => Exit::Usage,
            CliError::Socket(SocketError::NoServer(_)) => Exit::NoServer,
            CliError::NotDetached { code: Some(2), .. } => Exit::Usage,
            CliError::NotDetached { code: Some(3), .. } => Exit::NoBrowser,
            _ => Exit::Failed,
        }
    }
}

fn exit_code(code: Option<i32>) -> String {
    code.map(|code| format!(" (exit code {code})")).unwrap_or_default()
}

/// A line of its own, where there is one.
fn stage(failure: &Failure) -> String {
    failure
        .detail
        .stage
        .map(|stage| format!("stage: {}\n  ", crate::teller::word(&stage)))
        .unwrap_or_default()
}

pub(crate) fn next(failure: &Failure) -> &'static str {
    match failure.detail.stage {
        Some(Stage::Resolve) => "look at the URL, or give the path of a user-data-dir whose browser runs",
        Some(Stage::Tcp) if failure.detail.http_status.is_some() => {
            "look at the proxy (network.proxy, or HTTPS_PROXY), or go past it by network.no_proxy"
        }
        Some(Stage::Tcp) => {
            "start the browser with --remote-debugging-port=PORT, and look at host and port; `doctor` says whether a proxy leads there"
        }
        Some(Stage::Tls) => {
            "trust its authority by --ca-file (network.ca_file), or look at whether the server speaks TLS at all"
        }
        Some(Stage::Upgrade) if failure.detail.http_status.is_none() => {
            "look at what listens there, or allow more time (--start-timeout)"
        }
        Some(Stage::Upgrade) => {
            "look at the HTTP status: a token may have run out, or the browser may be gone"
        }
        Some(Stage::Handshake) => {
            "the server speaks WebSocket but not as a browser does; look at the URL's path"
        }
        None => "look at what was given",
    }
}

fn at_stage(error: &ProbeError) -> String {
    match error {
        ProbeError::Start(failure) => stage(failure),
        _ => String::new(),
    }
}

fn why(error: &ProbeError) -> String {
    match error {
        ProbeError::Start(failure) => failure.message.clone(),
        other => other.to_string(),
    }
}

fn next_for_replay(error: &TranscriptError) -> &'static str {
    match error {
        TranscriptError::Empty | TranscriptError::NoHeader { .. } | TranscriptError::NoLog { .. } => {
            "give a recording of `record`, lines of CDP messages, or a log of Playwright or Puppeteer"
        }
        TranscriptError::Format { .. } | TranscriptError::Header { .. } | TranscriptError::Checkpoint(_) => {
            "replay it with the version that recorded it"
        }
        TranscriptError::Difference(_) => {
            "see both in `cdp-supervisor timeline`; another version may decide otherwise"
        }
        TranscriptError::Damaged(_) => {
            "what is whole can be looked at without --check; for the rest, record again"
        }
        TranscriptError::Lost { .. } => "replay it without --check, or record again",
        TranscriptError::Foreign => "replay it without --check: then it is observed",
        TranscriptError::ShowsNot { .. } => "look at its events (--json), and name what is there",
        _ => "record again",
    }
}

fn next_for_probe(error: &ProbeError) -> &'static str {
    match error {
        ProbeError::Start(failure) => next(failure),
        ProbeError::PageEndpoint => "take the page's part out of the URL",
        _ => "look at the URL's path, or allow more time (--start-timeout)",
    }
}

#[cfg(test)]
mod tests {
    use supervisor::Code;

    use super::*;

    #[test]
    fn what_the_system_refuses_has_a_next_step_too() {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let journal = JournalError::InUse(PathBuf::from("/somewhere"));
        let errors = [
            CliError::Runtime(refused()),
            CliError::Input(refused()),
            CliError::Output(refused()),
            CliError::Pages(refused()),
            CliError::Journal(journal),
            CliError::File { what: "read", path: PathBuf::from("/somewhere"), source: refused() },
        ];
        for error in errors {
            assert!(error.to_string().contains("\n  next: "), "{error}");
        }
    }

    #[test]
    fn a_failed_start_says_stage_reason_and_what_next() {
        let failure =
            Failure::new(Code::StartFailed, "nobody listens").with(|detail| detail.stage = Some(Stage::Tcp));
        let text = CliError::Start { endpoint: "http://127.0.0.1:1/".into(), failure }.to_string();
        for part in ["http://127.0.0.1:1/", "stage: tcp", "why: nobody listens", "next: start the browser"] {
            assert!(text.contains(part), "{text}");
        }
    }
}
