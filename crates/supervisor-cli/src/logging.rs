//! The log, on standard error: standard output is for what was asked for.

use std::io::{self, IsTerminal as _};

use clap::{Args, ValueEnum};
use tracing_subscriber::filter::LevelFilter;

/// What is logged, and how.
#[derive(Debug, Args)]
pub(crate) struct Logging {
    /// The least important messages to log on standard error.
    #[arg(long, global = true, value_enum, default_value = "warn")]
    log_level: Level,
    /// How each message is written.
    #[arg(long, global = true, value_enum, default_value = "text")]
    log_format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Level {
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

/// Starts to log.
pub(crate) fn start(logging: &Logging) {
    let colour = crate::screen::may_colour(io::stderr().is_terminal());
    let log = tracing_subscriber::fmt()
        .with_max_level(LevelFilter::from(logging.log_level))
        .with_ansi(colour)
        .with_writer(io::stderr);
    // Setting it fails only when it was set before.
    let _ = match logging.log_format {
        Format::Text => log.try_init(),
        Format::Json => log.json().try_init(),
    };
}
