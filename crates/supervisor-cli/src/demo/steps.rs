//! What the demo shows, in order.

use std::time::Instant;

use serde_json::Value;
use supervisor::{Action, Code, EvalOptions, Failure, LateResult, Place, TargetId};

use crate::teller::short;

use super::frames;
use super::stage::{Mismatch, Outcome, Stage, StepFailed, equal};

const ACCEPT: Action = Action::Accept { prompt_text: None };

/// Plays all steps. The first that does not go as it must ends the demo.
pub(super) async fn all(stage: &Stage) -> Result<(), StepFailed> {
    macro_rules! step {
        ($title:literal, $step:expr) => {
            async {
                stage.narrator.title($title)?;
                $step.await
            }
            .await
            .map_err(|mismatch: Mismatch| mismatch.in_step($title))?
        };
    }
    step!("connect", connected(stage));
    step!("an alert", alert(stage));
    step!("a confirm", confirm(stage));
    step!("a prompt with a default text", prompt(stage));
    step!("a page that does not like to be left", beforeunload(stage));
    step!("a popup that asks in its first script", popup(stage));
    step!("calls while a dialog is open", blocked(stage));
    let frames = step!("three sites, each in a process of its own", frames::tree(stage));
    step!("a question from the innermost frame", frames::question(stage, &frames));
    step!("at the end", end(stage));
    Ok(())
}

async fn connected(stage: &Stage) -> Outcome<()> {
    let snapshot = stage.until("the browser's name", |snapshot| snapshot.status.browser.is_some()).await?;
    let browser = snapshot.status.browser.as_deref().unwrap_or_default();
    stage
        .narrator
        .good(&format!("connected to {browser}; policy must_respond: dialogs wait for an answer"))?;
    Ok(())
}

async fn alert(stage: &Stage) -> Outcome<()> {
    stage.open("/alert").await?;
    let dialog = stage.raise(None).await?;
    stage.respond(&dialog, ACCEPT).await?;
    stage.check("the page went on", "closed", &stage.answer_in(None).await?)
}

async fn confirm(stage: &Stage) -> Outcome<()> {
    stage.open("/confirm").await?;
    let dialog = stage.raise(None).await?;
    stage.respond(&dialog, ACCEPT).await?;
    stage.check("the page got", true, &stage.answer_in(None).await?)
}

async fn prompt(stage: &Stage) -> Outcome<()> {
    stage.open("/prompt").await?;
    let dialog = stage.raise(None).await?;
    stage.respond(&dialog, ACCEPT).await?;
    stage.check(
        "accepted without a text, the page got its default",
        "Untitled",
        &stage.answer_in(None).await?,
    )
}

/// The browser asks only when a user has touched the page.
async fn beforeunload(stage: &Stage) -> Outcome<()> {
    stage.open("/beforeunload").await?;
    stage.gesture("document.title").await?;
    let result = leave(stage, Action::Dismiss).await?;
    stage.check("Page.navigate says", "net::ERR_ABORTED", &result["errorText"])?;
    stage.check("the page", "stayed", &stage.answer_in(None).await?)?;
    let result = leave(stage, ACCEPT).await?;
    equal("Page.navigate without an error", &Value::Null, &result["errorText"])?;
    stage.arrived(&stage.url("/")).await?;
    stage.narrator.good("the page is left")?;
    Ok(())
}

/// Sends the page to the first one, answers its question, and gives what `Page.navigate` says then.
async fn leave(stage: &Stage, action: Action) -> Outcome<Value> {
    stage.narrator.act("Page.navigate to the first page")?;
    let url = stage.url("/");
    let (navigated, answered) = tokio::join!(stage.navigate(&url), async {
        let dialog = stage.dialog().await?;
        stage.respond(&dialog, action).await
    });
    answered?;
    late(stage, navigated, "Page.navigate to end").await
}

/// The result of a call, also when a dialog opened while it ran: then it comes late.
async fn late(stage: &Stage, ended: Result<Value, Failure>, what: &str) -> Outcome<Value> {
    let failure = match ended {
        Ok(value) => return Ok(value),
        Err(failure) => failure,
    };
    let Some(call) = failure.detail.call_id else { return Err(Mismatch::new(what, failure)) };
    let value = match stage.task.result(call, None).await {
        Ok(LateResult::Call(call)) => call.result.parse(),
        Ok(LateResult::Eval(value)) => value.value.parse(),
        Err(failure) => Err(failure),
    };
    value.map_err(|failure| Mismatch::new(what, failure))
}

/// The dialog belongs to the popup; both pages share a process, so it blocks its opener too.
async fn popup(stage: &Stage) -> Outcome<()> {
    stage.open("/popup").await?;
    let opener = stage.first_page()?;
    let dialog = stage.raise_by_gesture().await?;
    opened_by(stage, &dialog.target_id, &opener)?;
    let text = "admin".to_owned();
    stage.respond(&dialog, Action::Accept { prompt_text: Some(text) }).await?;
    stage.check("the popup got", "admin", &stage.answer_in(dialog.frame_id.as_ref()).await?)?;
    stage.check("and told its opener", "admin", &stage.answer_in(None).await?)?;
    close(stage, dialog.target_id).await
}

fn opened_by(stage: &Stage, popup: &TargetId, opener: &TargetId) -> Outcome<()> {
    let snapshot = stage.task.snapshot();
    let page = snapshot.pages.iter().find(|page| page.target_id == *popup);
    let by = page.and_then(|page| page.opener_target_id.clone());
    equal("a page of its own, opened by the first", &Some(opener.clone()), &by)?;
    let (popup, opener) = (short(popup.as_str()), short(opener.as_str()));
    stage.narrator.good(&format!("it is pending with its own page {popup}, opened by {opener}"))?;
    Ok(())
}

async fn close(stage: &Stage, popup: TargetId) -> Outcome<()> {
    // A page that closes may take its answer with it. What counts is that it goes.
    let _ = stage.task.call(Place::Target(popup), "Page.close", "{}", None).await;
    stage.until("the popup to be gone", |snapshot| snapshot.pages.len() == 1).await.map(drop)
}

async fn blocked(stage: &Stage) -> Outcome<()> {
    stage.open("/").await?;
    stage.narrator.act("evaluate `confirm('Go on?')`")?;
    let asked = stage.task.eval(None, "confirm('Go on?')", EvalOptions::default()).await;
    let asked = asked.and_then(|value| value.value.parse());
    if let Err(failure) = &asked {
        stage.narrator.note(&format!("it ends with `{}` and a call_id, and does not hang", failure.code))?;
    }
    let dialog = stage.dialog().await?;
    look(stage)?;
    refused(stage).await?;
    stage.respond(&dialog, ACCEPT).await?;
    stage.check("its result comes late", true, &late(stage, asked, "the late result").await?)
}

fn look(stage: &Stage) -> Outcome<()> {
    let begun = Instant::now();
    let snapshot = stage.task.snapshot();
    let took = begun.elapsed();
    equal("the open dialog in the snapshot", &1, &snapshot.pending_dialogs.len())?;
    stage.narrator.good(&format!("meanwhile a snapshot is read in {took:.1?}"))?;
    Ok(())
}

async fn refused(stage: &Stage) -> Outcome<()> {
    let begun = Instant::now();
    let ended = stage.task.eval(None, "1 + 1", EvalOptions::default()).await;
    let took = begun.elapsed();
    match ended {
        Err(failure) if failure.code == Code::BlockedByDialog => {
            stage
                .narrator
                .good(&format!("a call into the blocked frame ends in {took:.1?}: `{}`", failure.code))?;
            Ok(())
        }
        Err(failure) => Err(Mismatch::new(Code::BlockedByDialog, failure)),
        Ok(value) => Err(Mismatch::new(Code::BlockedByDialog, value.value)),
    }
}

async fn end(stage: &Stage) -> Outcome<()> {
    let snapshot = stage.task.snapshot();
    let answered = stage.answered();
    equal("no dialog to be pending", &0, &snapshot.pending_dialogs.len())?;
    equal(format!("{answered} dialogs to have opened"), &answered, &snapshot.counts.dialogs_seen)?;
    stage.narrator.good(&format!("all {answered} dialogs were answered, and the deepest frame evaluated"))?;
    Ok(())
}
