//! `dialog`: answers a dialog.

use clap::ValueEnum;
use serde_json::{Value, json};
use supervisor::DialogView;

use super::{Common, Question, input, read, show};
use crate::error::CliError;
use crate::screen::{Kind, Line};
use crate::teller::word;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor dialog accept                     the only one that waits
  cdp-supervisor dialog dismiss --id d-3
  cdp-supervisor dialog accept --text 'New folder'
  cdp-supervisor dialog accept --text - < answer.txt

Accepting a prompt without --text sends the page's default text; --text '' sends nothing. For beforeunload, accept \
leaves the page and dismiss stays.";

/// The command line of `dialog`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// OK or Cancel.
    #[arg(value_enum)]
    action: Action,
    /// The dialog; without it the only one that waits.
    #[arg(long, value_name = "ID")]
    id: Option<String>,
    /// The page whose dialog is meant.
    #[arg(long, value_name = "ID", conflicts_with = "id")]
    target: Option<String>,
    /// What is typed into a prompt; `-` reads it from standard input, without the last line end.
    #[arg(long, allow_hyphen_values = true)]
    text: Option<String>,
    #[command(flatten)]
    common: Common,
}

#[derive(Debug, Clone, Copy, ValueEnum, serde::Serialize)]
#[serde(rename_all = "snake_case")]
enum Action {
    Accept,
    Dismiss,
}

impl Question for Args {
    const TOOL: &'static str = "browser_dialog";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        let text = self.text.as_deref().map(input::text).transpose()?;
        Ok(
            json!({"action": word(&self.action), "dialog_id": self.id, "target_id": self.target, "prompt_text": text}),
        )
    }

    fn told(&self, mut content: Value) -> Result<Vec<Line>, CliError> {
        let dialog: DialogView = read(content["dialog"].take())?;
        let mut lines = vec![Line::new(Kind::Good, show::ended(&dialog))];
        if let next @ Value::Object(_) = content["next_dialog"].take() {
            let next: DialogView = read(next)?;
            lines.push(Line::new(Kind::Ask, format!("the page asks again: {}", show::asks(&next))));
        }
        Ok(lines)
    }
}
