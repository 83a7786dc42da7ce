//! `browser_dialog`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use supervisor::{Action, Code, DialogChoice, DialogId, DialogView, Failure, Status};

use super::{ACTS, Call, Definition};
use crate::arguments::invalid;

pub(crate) struct Tool;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// `accept` is OK (for `beforeunload`: leave the page), `dismiss` is Cancel (stay).
    action: Verb,
    /// What is typed into a prompt that is accepted. Left out: the page's default text; `""` stays empty.
    prompt_text: Option<String>,
    /// The dialog, from `pending_dialogs`. May be left out while only one waits.
    dialog_id: Option<DialogId>,
    /// Instead of dialog_id: the page whose dialog is meant.
    target_id: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Verb {
    Accept,
    Dismiss,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Output {
    /// How it was answered.
    action: Verb,
    /// The dialog as it ended.
    dialog: DialogView,
    /// The one that opened on the same page since, and waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_dialog: Option<DialogView>,
}

impl Definition for Tool {
    const NAME: &'static str = "browser_dialog";
    const TITLE: &'static str = "Answer a dialog";
    const DESCRIPTION: &'static str = "Answers a native JavaScript dialog (alert, confirm, prompt, beforeunload) that stops a \
        page. It only answers: nothing is clicked or typed in the page. Exactly one party answers a dialog; if another was \
        faster the error is `already_closed` and says who. Calls that the dialog held go on; their results come by \
        browser_result.";
    const HINTS: super::Hints = ACTS;
    const NEEDS_BROWSER: bool = true;
    type Input = Input;
    type Output = Output;

    async fn run(call: Call, input: Input) -> Result<Output, Failure> {
        let (verb, choice, action) = read(input)?;
        let task = call.task().await?;
        if task.snapshot().status.status == Status::Reconnecting {
            return Err(reconnecting());
        }
        let answered = task.respond(choice, action).await?;
        Ok(Output { action: verb, dialog: answered.dialog, next_dialog: answered.next_dialog })
    }
}

/// Better than `no_dialog`: whether there is one is not known.
fn reconnecting() -> Failure {
    let why =
        "the connection to the browser was lost and is being made again, so nothing can be answered now";
    Failure::new(Code::Disconnected, why)
}

fn read(input: Input) -> Result<(Verb, DialogChoice, Action), Failure> {
    let action = match (input.action, input.prompt_text) {
        (Verb::Accept, prompt_text) => Action::Accept { prompt_text },
        (Verb::Dismiss, None) => Action::Dismiss,
        (Verb::Dismiss, Some(_)) => {
            return Err(invalid("`prompt_text` goes with `accept` only; leave it out to dismiss"));
        }
    };
    if input.dialog_id.is_some() && input.target_id.is_some() {
        return Err(invalid("`dialog_id` and `target_id` are two ways to name one dialog; give one of them"));
    }
    let target_id = input.target_id.as_deref().map(Into::into);
    Ok((input.action, DialogChoice { dialog_id: input.dialog_id, target_id }, action))
}
