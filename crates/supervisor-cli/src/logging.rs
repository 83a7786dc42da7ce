//! The log, on standard error: standard output is for what was asked for.

use std::io::{self, IsTerminal as _};

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

/// What `rmcp` logs above this are whole requests, and with them signed URLs.
const MOST_OF_RMCP: LevelFilter = LevelFilter::INFO;

/// What is logged, and how.
#[derive(Debug, Args)]
pub(crate) struct Logging {
    /// The least important messages to log on standard error [default: warn; of `bench-client` off].
    #[arg(long, global = true, value_enum)]
    log_level: Option<Level>,
    /// How each message is written.
    #[arg(long, global = true, value_enum, default_value = "text")]
    log_format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Level {
    Off,
    Error,
    Warn,
    Info,
    Debug,
    Trace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Format {
    Text,
    Json,
}

impl From<Level> for LevelFilter {
    fn from(level: Level) -> Self {
        match level {
            Level::Off => LevelFilter::OFF,
            Level::Error => LevelFilter::ERROR,
            Level::Warn => LevelFilter::WARN,
            Level::Info => LevelFilter::INFO,
            Level::Debug => LevelFilter::DEBUG,
            Level::Trace => LevelFilter::TRACE,
        }
    }
}

/// Starts to log, at the usual level of the command unless another one was asked for.
pub(crate) fn start(logging: &Logging, usual: Level) {
    let colour = crate::screen::may_colour(io::stderr().is_terminal());
    let level = LevelFilter::from(logging.log_level.unwrap_or(usual));
    let filter = Targets::new().with_default(level).with_target("rmcp", level.min(MOST_OF_RMCP));
    let log = tracing_subscriber::fmt::layer().with_ansi(colour).with_writer(io::stderr);
    let log = match logging.log_format {
        Format::Text => log.boxed(),
        Format::Json => log.json().boxed(),
    };
    // Setting it fails only when it was set before.
    let _ = tracing_subscriber::registry().with(log.with_filter(filter)).try_init();
}
