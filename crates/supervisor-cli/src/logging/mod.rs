//! The log, on standard error: standard output is for what was asked for.

mod lines;

use std::io::{self, IsTerminal as _};
use std::sync::atomic::{AtomicBool, Ordering};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer as _, SubscriberExt as _};
use tracing_subscriber::util::SubscriberInitExt as _;

pub(crate) use lines::finish;

use crate::settings::{Format, Level, Loaded};

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

/// Starts to log. `usual` is the level where nobody chose one; `bound` is how long the file may become that standard error is.
pub(crate) fn start(loaded: &Loaded, usual: Option<Level>, bound: Option<u64>) {
    // Without a thread to write it there is no log, and everything else goes on.
    let _ = lines::start(bound);
    let colour = crate::screen::may_colour(io::stderr().is_terminal());
    let chosen = usual.filter(|_| loaded.is_default("log.level")).unwrap_or(loaded.settings.log.level);
    let level = LevelFilter::from(chosen);
    let filter = Targets::new()
        .with_default(level)
        .with_target("rmcp", level.min(most_of_others(level)))
        .with_target("ractor", level.min(most_of_others(level)));
    // Where the log cannot be written (its terminal is gone), saying so there would panic.
    let log =
        tracing_subscriber::fmt::layer().with_ansi(colour).with_writer(writer).log_internal_errors(false);
    let log = match loaded.settings.log.format {
        Format::Text => log.boxed(),
        Format::Json => log.json().boxed(),
    };
    // Setting it fails only when it was set before.
    let _ = tracing_subscriber::registry().with(log.with_filter(filter)).try_init();
}

/// While the terminal shows one screen, lines of a log would tear it up.
static MUTED: AtomicBool = AtomicBool::new(false);

/// Whether what is logged to a terminal is dropped. A log that goes to a file or a pipe is not touched.
pub(crate) fn mute(muted: bool) {
    MUTED.store(muted, Ordering::Relaxed);
}

fn writer() -> Box<dyn io::Write> {
    if MUTED.load(Ordering::Relaxed) && io::stderr().is_terminal() {
        return Box::new(io::sink());
    }
    Box::new(lines::Line)
}

/// Above information, `rmcp` logs whole requests, and with them signed URLs. Clients that come and go, and the numbers of
/// actors, are for those who look for more than the usual.
fn most_of_others(level: LevelFilter) -> LevelFilter {
    if level > LevelFilter::INFO { LevelFilter::INFO } else { LevelFilter::WARN }
}
