//! `disconnect`: ends a task's connection.

use serde_json::{Value, json};

use super::{Common, Question};
use crate::error::CliError;
use crate::screen::{Kind, Line};

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor disconnect
  cdp-supervisor disconnect --task shopping

Dialogs that still wait are dismissed first. The browser and its pages stay as they are.";

/// The command line of `disconnect`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_disconnect";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        Ok(json!({}))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        Ok(vec![match content["disconnected"] == true {
            true => Line::new(Kind::Good, format!("task {} is disconnected", self.common.task)),
            false => Line::new(Kind::Note, format!("task {} was not connected", self.common.task)),
        }])
    }
}
