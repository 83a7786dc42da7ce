//! The bridge: dialogs that no backend can close.

use std::time::Duration;

use serde_json::json;
use supervisor::{Action, DialogId};

use crate::asking::{self, Question};
use crate::checks::frames;
use crate::error::Trouble;
use crate::hand::Opened;
use crate::notes::Notes;
use crate::pages::FIRST_SCRIPT;
use crate::report::Verdict;
use crate::row::Row;
use crate::stage::Stage;

fn accept() -> Action {
    Action::Accept { prompt_text: None }
}

/// What the page's first script asks.
fn first() -> Question {
    Question { call: "", message: FIRST_SCRIPT, action: accept(), expected: json!(true) }
}

fn questions() -> [Question; 4] {
    let typed = "by the bridge";
    [
        Question {
            call: "typeof alert('probe: alert')",
            message: "probe: alert",
            action: accept(),
            expected: json!("undefined"),
        },
        Question {
            call: "confirm('probe: accept this')",
            message: "probe: accept this",
            action: accept(),
            expected: json!(true),
        },
        Question {
            call: "confirm('probe: dismiss this')",
            message: "probe: dismiss this",
            action: Action::Dismiss,
            expected: json!(false),
        },
        Question {
            call: "prompt('probe: type this', 'preset')",
            message: "probe: type this",
            action: Action::Accept { prompt_text: Some(typed.to_owned()) },
            expected: json!(typed),
        },
    ]
}

/// Everything that a page can ask, from its first script on.
pub(crate) async fn https(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    stage.bridge().await?;
    let (page, last) = (stage.blank().await?, stage.last_dialog());
    stage.set_off(&page, "/first").await?;
    let verdict = everything(stage, &page, last).await?;
    notes.note(Row::BridgeHttps, verdict);
    Ok(())
}

async fn everything(stage: &Stage<'_>, page: &Opened, last: DialogId) -> Result<Verdict, Trouble> {
    let raised = asking::seen(stage, page, last, FIRST_SCRIPT, Duration::ZERO).await?;
    let frame = stage.main_frame(&page.target).await?;
    let verdict = asking::bridged(stage, page, &frame, raised, &first()).await?;
    if !verdict.is_yes() {
        return Ok(verdict);
    }
    let frame = stage.is_at(page, "/first").await?;
    for question in questions() {
        let verdict = asking::by_the_bridge(stage, page, &frame, &question).await?;
        if !verdict.is_yes() {
            return Ok(verdict);
        }
    }
    Ok(Verdict::yes())
}

/// A question from a frame in another process.
pub(crate) async fn oopif(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    stage.bridge().await?;
    let page = stage.open("/frames").await?;
    let verdict = match frames::other_process(stage, &page).await? {
        None => Verdict::unknown("same_process"),
        Some(frame) => asking::by_the_bridge(stage, &page, &frame, &frames::question()).await?,
    };
    notes.note(Row::BridgeOopif, verdict);
    Ok(())
}

/// A page whose policy forbids what the bridge needs.
pub(crate) async fn strict(
    stage: &Stage<'_>,
    notes: &mut Notes<'_>,
    row: Row,
    path: &str,
) -> Result<(), Trouble> {
    stage.bridge().await?;
    let page = stage.open(path).await?;
    let frame = stage.main_frame(&page.target).await?;
    let [_, question, _, _] = questions();
    let verdict = asking::by_the_bridge(stage, &page, &frame, &question).await?;
    notes.note(row, verdict);
    Ok(())
}
