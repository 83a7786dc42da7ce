//! `connect`: gives a task its browser.

use std::path::Path;

use serde_json::{Value, json};

use super::{Common, Question, read, show};
use crate::error::CliError;
use crate::screen::Line;

const EXAMPLES: &str = "\
Examples:
  cdp-supervisor connect http://127.0.0.1:9222
  cdp-supervisor connect ~/.config/chromium --task shop --policy auto-dismiss
  cdp-supervisor connect --policy must-respond    what runs, with another policy

Idempotent: the same browser again gives what runs. Another browser ends the old connection and makes a new one. What \
is not given stays as it is, and is as the server's settings say for a new task.";

/// The command line of `connect`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    /// Where the browser is; without it where the task is connected, else as the server's settings say.
    url: Option<String>,
    /// Who answers dialogs: must_respond, auto_dismiss or auto_accept.
    #[arg(long, value_name = "WHO", value_parser = ["must_respond", "auto_dismiss", "auto_accept",
        "must-respond", "auto-dismiss", "auto-accept"], hide_possible_values = true)]
    policy: Option<String>,
    /// After how many seconds a dialog that nobody answers is dismissed, under must_respond.
    #[arg(long, value_name = "SECONDS")]
    dialog_timeout: Option<f64>,
    /// Whether dialogs are caught inside of the pages.
    #[arg(long, value_name = "WHEN", value_parser = ["auto", "on", "off"])]
    bridge: Option<String>,
    /// A second connection that keeps open dialogs answerable when the first is lost.
    #[arg(long)]
    guard: bool,
    /// Only this page and the popups it opens.
    #[arg(long, value_name = "ID")]
    target: Option<String>,
    /// Only this browser context.
    #[arg(long, value_name = "ID", conflicts_with = "target")]
    browser_context: Option<String>,
    #[command(flatten)]
    common: Common,
}

impl Question for Args {
    const TOOL: &'static str = "browser_connect";

    fn common(&self) -> &Common {
        &self.common
    }

    fn arguments(&self) -> Result<Value, CliError> {
        let scope = match (&self.target, &self.browser_context) {
            (Some(id), _) => json!({"target_id": id}),
            (None, Some(id)) => json!({"browser_context_id": id}),
            (None, None) => Value::Null,
        };
        Ok(json!({
            "cdp_url": self.url.as_deref().map(from_here),
            "dialog_policy": self.policy.as_deref().map(|policy| policy.replace('-', "_")),
            "dialog_timeout_s": self.dialog_timeout,
            "bridge": self.bridge,
            "guard": self.guard.then_some(true),
            "scope": scope,
        }))
    }

    fn told(&self, content: Value) -> Result<Vec<Line>, CliError> {
        Ok(show::snapshot(&read(content)?))
    }
}

/// The server may stand in another folder.
fn from_here(url: &str) -> String {
    let path = url.strip_prefix("file://").unwrap_or(url);
    // As the server tells the two apart: HOST:PORT without a scheme is no folder.
    let is_path =
        url.starts_with("file://") || !url.contains("://") && Path::new(path).components().count() > 1;
    match std::path::absolute(path) {
        Ok(path) if is_path => path.to_string_lossy().into_owned(),
        _ => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_from_the_root() {
        assert_eq!(from_here("ws://a.test/x"), "ws://a.test/x");
        assert_eq!(from_here("127.0.0.1:9222"), "127.0.0.1:9222");
        assert_eq!(from_here("/p/q"), "/p/q");
        assert_eq!(from_here("file:///p/q"), "/p/q");
        assert!(from_here("./profile").starts_with('/'));
    }
}
