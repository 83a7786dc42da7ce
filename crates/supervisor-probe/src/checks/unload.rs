//! A page that asks before it is left.

use serde_json::{Value, json};
use supervisor::{Action, CallId, Code, DialogView, LateResult, Place};

use crate::asking::{self, Raised};
use crate::error::Trouble;
use crate::hand::Opened;
use crate::notes::Notes;
use crate::pages;
use crate::report::Verdict;
use crate::row::Row;
use crate::stage::Stage;

pub(crate) async fn beforeunload(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let page = stage.open("/leave").await?;
    let stay = asked(stage, &page, Action::Dismiss, stayed).await?;
    notes.note(Row::BeforeunloadStay, stay);
    let leave = asked(stage, &page, Action::Accept { prompt_text: None }, left).await?;
    let leave = match leave.is_yes() {
        true => stage.is_at(&page, "/plain").await.map(|_| leave)?,
        false => leave,
    };
    notes.note(Row::BeforeunloadLeave, leave);
    Ok(())
}

/// Tries to leave, and answers so.
async fn asked(
    stage: &Stage<'_>,
    page: &Opened,
    action: Action,
    judge: impl Fn(&Value) -> Verdict,
) -> Result<Verdict, Trouble> {
    // A page that nobody touched, or not for a while, may be left. To evaluate counts as a user's gesture.
    stage.eval(&stage.main_frame(&page.target).await?, "1").await?;
    let Some((dialog, call)) = leave(stage, page).await? else { return Ok(Verdict::no("not_seen")) };
    let dialog = match asking::after(stage, dialog, stage.request.hold).await? {
        Raised::Open(dialog) => dialog,
        Raised::Closed(dialog) => return Ok(asking::closed(&dialog)),
        Raised::NotSeen => return Ok(Verdict::no("not_seen")),
    };
    if let Some(refused) = asking::respond(stage, &dialog, action).await? {
        return Ok(refused);
    }
    match stage.task.result(call, Some(stage.patience())).await? {
        LateResult::Call(call) => Ok(judge(&call.result.parse()?)),
        LateResult::Eval(value) => Err(Trouble::odd("a navigation's result", value.value)),
    }
}

/// The dialog that leaving opens, and the call that it holds; `None` when the page goes without asking.
async fn leave(stage: &Stage<'_>, page: &Opened) -> Result<Option<(DialogView, CallId)>, Trouble> {
    let url = json!({ "url": pages::url(pages::HOST, "/plain") }).to_string();
    let place = Place::Target(page.target.clone());
    match stage.task.call(place, "Page.navigate", url, Some(stage.patience())).await {
        Ok(_) => Ok(None),
        Err(failure) if failure.code == Code::DialogOpened => {
            let detail = *failure.detail;
            let both = detail.dialog.zip(detail.call_id);
            both.map(Some).ok_or_else(|| Trouble::odd("a dialog and a call", "less"))
        }
        Err(failure) => Err(failure.into()),
    }
}

fn stayed(navigated: &Value) -> Verdict {
    asking::got_as_expected(&navigated["errorText"], &json!("net::ERR_ABORTED"))
}

fn left(navigated: &Value) -> Verdict {
    asking::got_as_expected(&navigated["errorText"], &Value::Null)
}
