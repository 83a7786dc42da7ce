//! `recover`: frees a page that nobody can free by answering.

use clap::ValueEnum;
use serde_json::{Value, json};

use super::{Common, Question};
use crate::error::CliError;
use crate::screen::{Kind, Line};
use crate::teller::word;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor recover 0E9D1B… reload
  cdp-supervisor recover 0E9D1B… navigate --url about:blank

Take the page and a remedy that frees it from `cdp-supervisor snapshot`. What the page held in memory is lost. A remedy \
that would kill the browser is refused.";

/// The command line of `recover`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The page.
    target: String,
    /// What to do.
    #[arg(value_enum)]
    remedy: Remedy,
    /// Where to go, with navigate.
    #[arg(long, required_if_eq("remedy", "navigate"))]
    url: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Remedy {
    Reload,
    Navigate,
    Close,
}

impl Question for Args {
    const TOOL: &'static str = "browser_recover";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        Ok(json!({"target_id": self.target, "remedy": word(&self.remedy), "url": self.url}))
    }

    fn told(&self, _: Value) -> Result<Vec<Line>, CliError> {
        Ok(vec![Line::new(Kind::Good, format!("{} of page {} is done", word(&self.remedy), self.target))])
    }
}
