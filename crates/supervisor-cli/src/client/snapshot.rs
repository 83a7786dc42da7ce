//! `snapshot`: what is known of a browser now.

use serde_json::{Value, json};

use super::{Common, Question, read, show};
use crate::error::CliError;
use crate::screen::{Kind, Line};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor snapshot              pages, frames, dialogs
  cdp-supervisor snapshot --wait 60    until a dialog opens, at most a minute
  cdp-supervisor snapshot --json | jq '.pending_dialogs[].message'

It is read from memory, and answers also while a dialog stops the page.";

/// The command line of `snapshot`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The page whose frames are shown; without it the active one.
    #[arg(long, value_name = "ID")]
    target: Option<String>,
    /// Wait for a dialog so long; return as soon as one waits for an answer.
    #[arg(long, value_name = "SECONDS")]
    wait: Option<f64>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_snapshot";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        Ok(json!({"target_id": self.target, "wait_s": self.wait}))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        if content.get("pages").is_some() {
            return Ok(show::snapshot(&read(content)?));
        }
        let text = |key: &str| content[key].as_str().unwrap_or_default().replace('_', " ");
        Ok(vec![Line::new(
            Kind::Bad,
            format!("{}: {}", text("status"), content["reason"].as_str().unwrap_or_default()),
        )])
    }
}
