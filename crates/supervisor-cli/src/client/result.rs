//! `result`: the late result of a call that a dialog held.

use serde_json::{Value, json};

use super::{Common, Question, eval, show};
use crate::error::CliError;
use crate::screen::Line;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor eval 'confirm(\"Sure?\")'     fails: dialog_opened, call c-1
  cdp-supervisor dialog accept
  cdp-supervisor result c-1                  true

A result is kept for 10 minutes and handed out once.";

/// The command line of `result`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The call, from its dialog_opened.
    call: String,
    /// How long to wait for it.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_result";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        Ok(json!({"call_id": self.call, "timeout_s": self.timeout}))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        match content.get("result") {
            Some(result) => Ok(show::value(result)),
            None => Ok(eval::evaluated(&content)),
        }
    }
}
