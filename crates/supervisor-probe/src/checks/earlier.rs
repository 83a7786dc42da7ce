//! A dialog that was open before anybody listened to the page.

use std::sync::Arc;

use serde_json::{Value, json};
use supervisor::supervisor_core::Route;
use tokio::sync::broadcast::Receiver;
use tokio::time::{Instant, sleep, timeout};

use crate::error::Trouble;
use crate::hand::Opened;
use crate::limits::LOOK_AGAIN;
use crate::line::Heard;
use crate::notes::Notes;
use crate::report::Verdict;
use crate::row::Row;
use crate::stage::Stage;

const ASK: &str = "void setTimeout(() => { window.answer = [confirm('probe: from before')] })";
const LOOK: &str = "JSON.stringify(window.answer ?? null)";

pub(crate) async fn dialog(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let page = stage.aside().await?;
    evaluate(stage, &page, ASK).await?;
    let verdicts = match blocks(stage, &page).await? {
        Blocks::No(answer) => over(&answer),
        Blocks::Yes => latecomer(stage, &page).await?,
    };
    notes.note(Row::EarlierDialogSeen, verdicts.0);
    notes.note(Row::EarlierDialogAnswered, verdicts.1);
    Ok(())
}

/// Whether a page waits for its dialog, or what it has got already.
enum Blocks {
    Yes,
    No(Value),
}

async fn evaluate(stage: &Stage<'_>, page: &Opened, expression: &str) -> Result<Value, Trouble> {
    let params = json!({ "expression": expression, "returnByValue": true });
    let reply = stage.hand.line().send(&page.route, "Runtime.evaluate", params).await?;
    Ok(reply["result"]["value"].clone())
}

/// What the page has got, `null` while it has got nothing.
async fn answer(stage: &Stage<'_>, page: &Opened) -> Result<Value, Trouble> {
    let text = evaluate(stage, page, LOOK).await?;
    serde_json::from_str(text.as_str().unwrap_or_default()).map_err(|error| Trouble::odd("JSON", error))
}

/// A page that answers nothing is taken for blocked. A slow one is found out later.
async fn blocks(stage: &Stage<'_>, page: &Opened) -> Result<Blocks, Trouble> {
    loop {
        match timeout(stage.request.hold, answer(stage, page)).await {
            Err(_) => return Ok(Blocks::Yes),
            Ok(Ok(Value::Null)) => sleep(LOOK_AGAIN).await,
            Ok(got) => return got.map(Blocks::No),
        }
    }
}

/// The browser or somebody in between has closed it: there is nothing to see and nothing to answer.
fn over(answer: &Value) -> (Verdict, Verdict) {
    let no = Verdict::no("dismissed_at_once").with(format!("nobody was asked, and the page got {answer}"));
    (no.clone(), no)
}

/// Comes to the page while its dialog is open, as a supervisor would that starts now.
async fn latecomer(stage: &Stage<'_>, page: &Opened) -> Result<(Verdict, Verdict), Trouble> {
    let mut events = stage.hand.line().events();
    let route = stage.hand.attach(&page.target).await?;
    let enabled = stage.hand.line().post(&route, "Page.enable", json!({})).await?;
    let end = Instant::now() + stage.request.hold.min(stage.patience());
    let seen = tokio::select! {
        () = opening(&mut events, &route) => Verdict::yes(),
        // The page is not blocked after all.
        _ = enabled => return Ok(over(&answer(stage, page).await?)),
        () = tokio::time::sleep_until(end) => Verdict::no("not_reported"),
    };
    let handle = json!({ "accept": true });
    let answered = match stage.hand.line().send(&route, "Page.handleJavaScriptDialog", handle).await {
        Ok(_) => got(stage, page).await?,
        Err(Trouble::Refused { message, .. }) => Verdict::no("refused").with(message),
        Err(other) => return Err(other),
    };
    Ok((seen, answered))
}

async fn got(stage: &Stage<'_>, page: &Opened) -> Result<Verdict, Trouble> {
    Ok(crate::asking::got_as_expected(&answer(stage, page).await?, &json!([true])))
}

async fn opening(events: &mut Receiver<Arc<Heard>>, route: &Route) {
    let Route::Session(session) = route else { return std::future::pending().await };
    loop {
        match events.recv().await {
            Ok(heard)
                if heard.method == "Page.javascriptDialogOpening"
                    && heard.session.as_ref() == Some(session) =>
            {
                return;
            }
            Ok(_) => {}
            Err(_) => return std::future::pending().await,
        }
    }
}
