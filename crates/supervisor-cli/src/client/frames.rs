//! `frames`: all frames of a page.

use serde_json::{Value, json};
use supervisor::FrameView;

use super::{Common, Question, read, show};
use crate::error::CliError;
use crate::screen::{Kind, Line};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor frames
  cdp-supervisor frames --target 0E9D1B…
  cdp-supervisor frames --json | jq -r '.frames[].frame_id'";

/// The command line of `frames`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// The page; without it the active one.
    #[arg(long, value_name = "ID")]
    target: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_frames";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        Ok(json!({"target_id": self.target}))
    }

    fn told(&self, mut content: Value) -> Result<Vec<Line>, CliError> {
        let frames: Vec<FrameView> = read(content["frames"].take())?;
        let mut lines = show::frames(&frames.iter().collect::<Vec<_>>());
        if content["stale"] == true {
            lines.push(Line::new(Kind::Bad, "the connection is lost: this is the last known state"));
        }
        Ok(lines)
    }
}
