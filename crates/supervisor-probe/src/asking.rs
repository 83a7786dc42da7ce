//! A question in a page, and what becomes of it.

use std::time::Duration;

use serde_json::Value;
use supervisor::supervisor_core::dialog::Source;
use supervisor::{Action, Code, DialogChoice, DialogId, DialogView, FrameId};

use crate::error::Trouble;
use crate::hand::Opened;
use crate::report::Verdict;
use crate::stage::Stage;

/// What the page asks, what is answered, and what the page must get.
pub(crate) struct Question {
    /// The call, whose text is [`Question::message`].
    pub(crate) call: &'static str,
    /// What it says.
    pub(crate) message: &'static str,
    /// The answer.
    pub(crate) action: Action,
    /// What the page gets by it.
    pub(crate) expected: Value,
}

/// What became of a question.
pub(crate) enum Raised {
    /// No dialog was seen.
    NotSeen,
    /// It was closed before an agent could have answered.
    Closed(DialogView),
    /// It waits for an answer.
    Open(DialogView),
}

/// Has a frame ask by a native dialog and answers after a while, as an agent does.
pub(crate) async fn natively(
    stage: &Stage<'_>,
    page: &Opened,
    frame: &FrameId,
    question: &Question,
) -> Result<Verdict, Trouble> {
    match raise(stage, page, frame, question, stage.request.hold).await? {
        Raised::NotSeen => Ok(Verdict::no("not_seen")),
        Raised::Closed(dialog) => Ok(closed(&dialog)),
        Raised::Open(dialog) => answer(stage, frame, &dialog, question).await,
    }
}

/// Has a frame ask by the bridge and answers.
pub(crate) async fn by_the_bridge(
    stage: &Stage<'_>,
    page: &Opened,
    frame: &FrameId,
    question: &Question,
) -> Result<Verdict, Trouble> {
    let raised = raise(stage, page, frame, question, Duration::ZERO).await?;
    bridged(stage, page, frame, raised, question).await
}

/// The same for a question that was raised already.
pub(crate) async fn bridged(
    stage: &Stage<'_>,
    page: &Opened,
    frame: &FrameId,
    raised: Raised,
    question: &Question,
) -> Result<Verdict, Trouble> {
    match raised {
        Raised::NotSeen => Ok(Verdict::no("not_seen")),
        Raised::Open(dialog) if dialog.source == Source::Bridge => {
            answer(stage, frame, &dialog, question).await
        }
        Raised::Closed(dialog) if dialog.source == Source::Bridge => Ok(closed(&dialog)),
        Raised::Open(_) | Raised::Closed(_) => fell_back(stage, page).await,
    }
}

/// Has a frame ask, and leaves the dialog alone for a while.
pub(crate) async fn raise(
    stage: &Stage<'_>,
    page: &Opened,
    frame: &FrameId,
    question: &Question,
    hold: Duration,
) -> Result<Raised, Trouble> {
    let last = stage.last_dialog();
    let script = format!("window.answer = undefined; window.answer = [{}]", question.call);
    stage.start(frame, &script).await?;
    seen(stage, page, last, question.message, hold).await
}

/// What becomes of a question that is being asked, and was not before that dialog.
pub(crate) async fn seen(
    stage: &Stage<'_>,
    page: &Opened,
    last: DialogId,
    message: &str,
    hold: Duration,
) -> Result<Raised, Trouble> {
    let Some(dialog) = stage.dialog(page, last, message).await? else {
        return Ok(Raised::NotSeen);
    };
    after(stage, dialog, hold).await
}

/// What becomes of a dialog that is left alone for a while.
pub(crate) async fn after(stage: &Stage<'_>, dialog: DialogView, hold: Duration) -> Result<Raised, Trouble> {
    let is_open = dialog.closed_by.is_none() && (hold.is_zero() || stage.stays_open(dialog.id, hold).await?);
    Ok(if is_open { Raised::Open(dialog) } else { Raised::Closed(dialog) })
}

/// Answers, and looks at what the page got.
pub(crate) async fn answer(
    stage: &Stage<'_>,
    frame: &FrameId,
    dialog: &DialogView,
    question: &Question,
) -> Result<Verdict, Trouble> {
    if let Some(refused) = respond(stage, dialog, question.action.clone()).await? {
        return Ok(refused);
    }
    let got = stage.answer(frame).await?;
    Ok(got_as_expected(&got, &question.expected))
}

/// Answers; gives why that did not work, where it did not.
pub(crate) async fn respond(
    stage: &Stage<'_>,
    dialog: &DialogView,
    action: Action,
) -> Result<Option<Verdict>, Trouble> {
    let choice = DialogChoice { dialog_id: Some(dialog.id), target_id: None };
    match stage.task.respond(choice, action).await {
        Ok(_) => Ok(None),
        Err(failure) if failure.code == Code::AlreadyClosed => Ok(Some(closed(dialog))),
        Err(failure) if failure.code == Code::Unanswerable => {
            Ok(Some(Verdict::no(failure.code.as_str()).with(failure.message)))
        }
        Err(failure) => Err(failure.into()),
    }
}

pub(crate) fn got_as_expected(got: &Value, expected: &Value) -> Verdict {
    if got == expected {
        return Verdict::yes();
    }
    Verdict::no("wrong_answer").with(format!("the page got {got} instead of {expected}"))
}

/// Somebody else was faster, within the time that an agent needs.
pub(crate) fn closed(dialog: &DialogView) -> Verdict {
    let what = format!("{} was closed by somebody else before it could be answered", dialog.id);
    Verdict::no("closed_by_backend").with(what)
}

/// The dialog is a native one though the bridge is on: the page says why.
async fn fell_back(stage: &Stage<'_>, page: &Opened) -> Result<Verdict, Trouble> {
    use supervisor::supervisor_core::bridge::Unavailable;
    let view = stage.page(page, |view| view.bridge_reason.is_some()).await?;
    let verdict = Verdict::no(match view.and_then(|view| view.bridge_reason) {
        Some(Unavailable::ContentSecurityPolicy) => "content_security_policy",
        Some(Unavailable::PermissionsPolicy) => "permissions_policy",
        Some(Unavailable::Unknown) | None => "native_dialog",
    });
    Ok(verdict.with("the page asked by a native dialog instead"))
}
