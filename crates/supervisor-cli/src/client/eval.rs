//! `eval`: evaluates an expression in a frame.

use serde_json::{Value, json};

use super::{Common, Question, input, show};
use crate::error::CliError;
use crate::screen::{Kind, Line};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor eval document.title
  cdp-supervisor eval 'fetch(\"/api\").then(r => r.json())' --await
  cdp-supervisor eval @script.js --frame 08C73E…
  cdp-supervisor eval --json location.href | jq -r .value

The value is printed as JSON. It never hangs: while a dialog stops the page, it fails with blocked_by_dialog; when \
one opens meanwhile, with dialog_opened and a call for `cdp-supervisor result`.";

/// The command line of `eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// JavaScript; `-` reads it from standard input, `@FILE` from a file.
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// The frame, of any page; without it the active page's main frame.
    #[arg(long, value_name = "ID")]
    frame: Option<String>,
    /// Wait for a promise, and give what it resolves to.
    #[arg(long = "await")]
    await_promise: bool,
    /// How long it may take.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_eval";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        let expression = input::text_or_file(&self.expression)?;
        Ok(json!({"expression": expression, "frame_id": self.frame, "await_promise": self.await_promise,
            "timeout_s": self.timeout}))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        Ok(evaluated(&content))
    }
}

/// A value, or what there is instead of one.
pub(super) fn evaluated(content: &Value) -> Vec<Line> {
    match content["type"].as_str() {
        Some("undefined") => vec![Line::new(Kind::Plain, "undefined")],
        _ => show::value(&content["value"]),
    }
}
