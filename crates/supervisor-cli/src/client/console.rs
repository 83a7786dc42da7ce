//! `console`: the last errors and warnings.

use serde_json::{Value, json};
use supervisor::ConsoleView;
use supervisor::supervisor_core::snapshot::ConsoleEntryView;

use super::{Common, Question, read};
use crate::error::CliError;
use crate::escape::quoted;
use crate::screen::{Kind, Line};
use crate::teller::word;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor console
  cdp-supervisor console --frame 08C73E…
  cdp-supervisor console --json | jq '.errors[].text'

The last 50 errors (uncaught exceptions among them) and the last 50 warnings since the task was connected.";

/// The command line of `console`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Only what comes from this frame.
    #[arg(long, value_name = "ID")]
    frame: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_console";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        Ok(json!({"frame_id": self.frame}))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        let console: ConsoleView = read(content)?;
        let mut entries: Vec<_> = console.errors.iter().chain(&console.warnings).collect();
        entries.sort_by(|ours, theirs| ours.at.total_cmp(&theirs.at));
        let mut lines: Vec<_> = entries.into_iter().map(entry).collect();
        if console.dropped > 0 {
            lines.push(Line::new(Kind::Note, format!("{} older ones are no longer kept", console.dropped)));
        }
        if lines.is_empty() {
            lines.push(Line::new(Kind::Note, "no errors and no warnings"));
        }
        Ok(lines)
    }
}

fn entry(entry: &ConsoleEntryView) -> Line {
    let level = word(&entry.level);
    let kind = if level == "warning" { Kind::Warn } else { Kind::Bad };
    // People count lines from 1.
    let line = entry.line.map(|line| format!(":{}", line.saturating_add(1))).unwrap_or_default();
    let place = if entry.url.is_empty() { String::new() } else { format!(" ({}{line})", entry.url) };
    Line::new(kind, format!("{level} {}{place}", quoted(&entry.text)))
}
