//! A second client: whether it comes to the same browser, hears of dialogs there, and may answer.

use std::sync::Arc;

use serde_json::{Value, json};
use supervisor::supervisor_core::Route;
use supervisor::{DialogId, RawSocket, SessionId, TargetId};
use tokio::sync::broadcast::Receiver;
use tokio::time::timeout;

use crate::asking;
use crate::error::Trouble;
use crate::hand::Opened;
use crate::line::{Heard, Line};
use crate::notes::Notes;
use crate::report::Verdict;
use crate::row::Row;
use crate::stage::Stage;

const OPENING: &str = "Page.javascriptDialogOpening";
const CLOSED: &str = "Page.javascriptDialogClosed";

const QUESTION: &str = "probe: for the second client";

pub(crate) async fn second(stage: &Stage<'_>, notes: &mut Notes<'_>) -> Result<(), Trouble> {
    let request = stage.request;
    let page = stage.open("/plain").await?;
    let line = match RawSocket::open(&request.endpoint, &request.start).await {
        Ok(socket) => Line::over(socket),
        Err(failure) => {
            all(notes, &Verdict::no("refused").with(failure.to_string()));
            return Ok(());
        }
    };
    if !sees(&line, &page.target).await? {
        all(notes, &Verdict::no("another_browser").with("the probe's page is not there"));
        return Ok(());
    }
    notes.note(Row::SecondClient, Verdict::yes());
    let client = Client::beside(line, &page.target).await?;
    client.dialog(stage, notes, &page).await
}

/// Where there is no second client, it neither sees nor answers.
fn all(notes: &mut Notes<'_>, verdict: &Verdict) {
    for row in [Row::SecondClient, Row::SecondClientSees, Row::SecondClientAnswers] {
        notes.note(row, verdict.clone());
    }
}

async fn sees(line: &Line, target: &TargetId) -> Result<bool, Trouble> {
    let reply = line.send(&Route::Root, "Target.getTargets", json!({})).await?;
    let all = reply["targetInfos"].as_array().ok_or_else(|| Trouble::odd("a list of targets", &reply))?;
    Ok(all.iter().any(|it| it["targetId"] == target.as_str()))
}

/// Waits until the first client has heard, too, that the dialog is over: until then it asks the page nothing.
async fn ours_is_over(stage: &Stage<'_>, page: &Opened, last: DialogId) -> Result<(), Trouble> {
    if let Some(dialog) = stage.dialog(page, last, QUESTION).await? {
        stage.stays_open(dialog.id, stage.patience()).await?;
    }
    Ok(())
}

/// It listens to the page's dialogs on a connection of its own.
struct Client {
    line: Line,
    session: SessionId,
}

impl Client {
    async fn beside(line: Line, target: &TargetId) -> Result<Self, Trouble> {
        let params = json!({ "targetId": target, "flatten": true });
        let reply = line.send(&Route::Root, "Target.attachToTarget", params).await?;
        let session = reply["sessionId"].as_str().ok_or_else(|| Trouble::odd("a session's id", &reply))?;
        let client = Self { line, session: session.into() };
        client.send("Page.enable", json!({})).await?;
        Ok(client)
    }

    async fn send(&self, method: &'static str, params: Value) -> Result<Value, Trouble> {
        self.line.send(&Route::Session(self.session.clone()), method, params).await
    }

    async fn dialog(&self, stage: &Stage<'_>, notes: &mut Notes<'_>, page: &Opened) -> Result<(), Trouble> {
        let (mut events, last) = (self.line.events(), stage.last_dialog());
        let frame = stage.main_frame(&page.target).await?;
        stage.start(&frame, &format!("window.answer = [confirm('{QUESTION}')]")).await?;
        if timeout(stage.patience(), self.hears(&mut events, OPENING)).await.is_err() {
            notes.note(Row::SecondClientSees, Verdict::no("not_seen"));
            return Ok(());
        }
        notes.note(Row::SecondClientSees, Verdict::yes());
        let verdict = match timeout(stage.request.hold, self.hears(&mut events, CLOSED)).await {
            Ok(_) => Verdict::no("closed_by_backend"),
            Err(_) => self.answers().await?,
        };
        let verdict = match verdict.is_yes() {
            true => {
                ours_is_over(stage, page, last).await?;
                asking::got_as_expected(&stage.answer(&frame).await?, &json!(true))
            }
            false => verdict,
        };
        notes.note(Row::SecondClientAnswers, verdict);
        Ok(())
    }

    async fn answers(&self) -> Result<Verdict, Trouble> {
        match self.send("Page.handleJavaScriptDialog", json!({ "accept": true })).await {
            Ok(_) => Ok(Verdict::yes()),
            Err(Trouble::Refused { message, .. }) => Ok(Verdict::no("refused").with(message)),
            Err(other) => Err(other),
        }
    }

    /// Waits for an event on the page. Of a connection that is gone nothing is heard any more.
    async fn hears(&self, events: &mut Receiver<Arc<Heard>>, method: &str) {
        loop {
            match events.recv().await {
                Ok(heard) if heard.method == method && heard.session.as_ref() == Some(&self.session) => {
                    return;
                }
                Ok(_) => {}
                Err(_) => return std::future::pending().await,
            }
        }
    }
}
