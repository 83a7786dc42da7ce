//! `browser_recover`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::{Failure, Remedy};

use super::{ACTS, Call, Definition};
use crate::arguments::invalid;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The page, from `pages` of the snapshot.
    target_id: String,
    /// What to do; take one that the page's `blocked.remedies` names.
    remedy: Name,
    /// Where to go, with `navigate`.
    url: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Name {
    Reload,
    Navigate,
    Close,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// The page.
    target_id: String,
    /// What was done.
    remedy: Name,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_recover";
    const TITLE: &'static str = "Free a blocked page";
    const DESCRIPTION: &'static str = "Frees a page that is `blocked`: stopped by a dialog that nobody can answer any more. \
        What the page held in memory is lost. A dialog that can be answered is answered by browser_dialog instead. A remedy \
        that would kill the browser is refused.";
    const HINTS: super::Hints = ACTS;
    const NEEDS_BROWSER: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        let remedy = remedy(input.remedy, input.url)?;
        call.task().await?.recover(input.target_id.as_str().into(), remedy).await?;
        Ok(Output { target_id: input.target_id, remedy: input.remedy })
    }
}

fn remedy(name: Name, url: Option<String>) -> Result<Remedy, Failure> {
    match (name, url) {
        (Name::Reload, None) => Ok(Remedy::Reload),
        (Name::Close, None) => Ok(Remedy::Close),
        (Name::Navigate, Some(url)) if !url.trim().is_empty() => Ok(Remedy::Navigate { url }),
        (Name::Navigate, _) => Err(invalid("`navigate` needs a `url` to go to, such as about:blank")),
        (_, Some(_)) => Err(invalid("`url` goes with the remedy `navigate` only; leave it out")),
    }
}
