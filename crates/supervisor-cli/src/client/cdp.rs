//! `cdp`: sends a command of the Chrome DevTools Protocol.

use serde_json::{Value, json};

use super::{Common, Question, input, show};
use crate::error::CliError;
use crate::screen::Line;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor cdp Page.navigate '{\"url\": \"https://example.com\"}'
  cdp-supervisor cdp Page.captureScreenshot | jq -r .data | base64 -d > page.png
  cdp-supervisor cdp Runtime.evaluate @params.json --frame 08C73E…
  echo '{\"ignoreCache\": true}' | cdp-supervisor cdp Page.reload -

Without --frame and --target it goes to the active page. It never hangs: while a dialog stops the page, it fails with \
blocked_by_dialog; when one opens meanwhile, with dialog_opened and a call for `cdp-supervisor result`.";

/// The command line of `cdp`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The command, as Domain.command.
    method: String,
    /// Its parameters as JSON; `-` reads them from standard input, `@FILE` from a file.
    params: Option<String>,
    /// The frame: a page's main frame, or one in a process of its own.
    #[arg(long, value_name = "ID")]
    frame: Option<String>,
    /// The page.
    #[arg(long, value_name = "ID", conflicts_with = "frame")]
    target: Option<String>,
    /// How long it may take.
    #[arg(long, value_name = "SECONDS")]
    timeout: Option<f64>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_cdp";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        let params = self.params.as_deref().map(input::text_or_file).transpose()?;
        let params = params.map(|text| serde_json::from_str::<Value>(&text)).transpose();
        let params = params.map_err(|error| CliError::Params(error.to_string()))?;
        Ok(json!({"method": self.method, "params": params, "frame_id": self.frame, "target_id": self.target,
            "timeout_s": self.timeout}))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        Ok(show::value(&content["result"]))
    }
}
