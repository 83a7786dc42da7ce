//! Native dialogs of a page.

use serde_json::json;
use supervisor::{Action, DialogView, FrameId};

use crate::asking::{self, Question, Raised};
use crate::error::Trouble;
use crate::notes::Notes;
use crate::report::Verdict;
use crate::row::Row;
use crate::stage::Stage;

/// Where the pages are was decided before.
pub(crate) fn context(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let verdict = match stage.has_its_own_context() {
        true => Verdict::yes(),
        false => Verdict::no("refused").with("the probe's pages are tabs among the others"),
    };
    notes.note(Row::OwnContext, verdict);
    Ok(())
}

pub(crate) async fn alert(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let question = Question {
        call: "typeof alert('probe: alert')",
        message: "probe: alert",
        action: Action::Accept { prompt_text: None },
        expected: json!("undefined"),
    };
    let page = stage.open("/plain").await?;
    let frame = stage.main_frame(&page.target).await?;
    let (stays, verdict) = match asking::raise(stage, &page, &frame, &question, stage.request.hold).await? {
        Raised::NotSeen => (Verdict::no("not_seen"), Verdict::no("not_seen")),
        Raised::Closed(dialog) => (asking::closed(&dialog), asking::closed(&dialog)),
        Raised::Open(dialog) => {
            notes.note(Row::DialogStaysOpen, Verdict::yes());
            (Verdict::yes(), asking::answer(stage, &frame, &dialog, &question).await?)
        }
    };
    notes.note(Row::DialogStaysOpen, stays);
    notes.note(Row::Alert, verdict);
    Ok(())
}

pub(crate) async fn confirm_true(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let question = Question {
        call: "confirm('probe: accept this')",
        message: "probe: accept this",
        action: Action::Accept { prompt_text: None },
        expected: json!(true),
    };
    let page = stage.open("/plain").await?;
    let frame = stage.main_frame(&page.target).await?;
    let verdict = match asking::raise(stage, &page, &frame, &question, stage.request.hold).await? {
        Raised::NotSeen => Verdict::no("not_seen"),
        Raised::Closed(dialog) => {
            notes.note(Row::DialogFrameId, names(&dialog, &frame));
            asking::closed(&dialog)
        }
        Raised::Open(dialog) => {
            notes.note(Row::DialogFrameId, names(&dialog, &frame));
            asking::answer(stage, &frame, &dialog, &question).await?
        }
    };
    notes.note(Row::ConfirmTrue, verdict);
    Ok(())
}

/// Whether a dialog says whose it is.
pub(super) fn names(dialog: &DialogView, frame: &FrameId) -> Verdict {
    match &dialog.frame_id {
        None => Verdict::no("not_told"),
        Some(named) if named == frame => Verdict::yes(),
        Some(other) => Verdict::no("wrong_frame").with(format!("it names {other} instead of {frame}")),
    }
}

pub(crate) async fn confirm_false(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let question = Question {
        call: "confirm('probe: dismiss this')",
        message: "probe: dismiss this",
        action: Action::Dismiss,
        expected: json!(false),
    };
    ask(stage, notes, Row::ConfirmFalse, &question).await
}

pub(crate) async fn prompt(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let typed = "tÿped \u{1F600}";
    let question = Question {
        call: "prompt('probe: type this', 'preset')",
        message: "probe: type this",
        action: Action::Accept { prompt_text: Some(typed.to_owned()) },
        expected: json!(typed),
    };
    ask(stage, notes, Row::PromptText, &question).await
}

async fn ask(stage: &Stage<'_>, notes: &mut Notes<'_>, row: Row, question: &Question) -> Result<(), Trouble> {
    let page = stage.open("/plain").await?;
    let frame = stage.main_frame(&page.target).await?;
    let verdict = asking::natively(stage, &page, &frame, question).await?;
    notes.note(row, verdict);
    Ok(())
}
