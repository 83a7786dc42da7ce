//! What is played for each recording.

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::ValueEnum;
use page_server::Site;
use serde_json::json;
use supervisor::{DialogPolicy, Options};

use super::stage::Stage;

/// A recording to make. Its file has its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Scenario {
    AlertAnswered,
    ConfirmInNestedOopif,
    PopupPrompt,
    BeforeunloadDismissed,
    LocalOopifLocal,
    AutoAcceptTen,
    Watchdog,
}

/// The pages of the demo, and one whose frame goes from site to site.
pub(super) fn site() -> Site {
    Site::demo().page("/swap", r#"<!doctype html><title>swap</title><iframe name="f" src="/index"></iframe>"#)
}

impl Scenario {
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// What the recording must keep showing.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::AlertAnswered => "An alert of a page's script is shown until the host accepts it.",
            Self::ConfirmInNestedOopif => {
                "A confirm in the third of three nested sites comes on the page's session, names its frame, and the \
                 frame gets the answer."
            }
            Self::PopupPrompt => {
                "A popup asks in its first script: it is attached paused, so its prompt is seen and answered."
            }
            Self::BeforeunloadDismissed => {
                "A page that does not like to be left stays when the host dismisses."
            }
            Self::LocalOopifLocal => {
                "A frame goes to another process and comes back: it stays one frame, and calls find it each time."
            }
            Self::AutoAcceptTen => "Ten alerts without a pause between them are each accepted by the policy.",
            Self::Watchdog => "An alert that nobody answers is dismissed by the watchdog.",
        }
    }

    pub(super) fn options(self) -> Options {
        let mut options = Options::default();
        match self {
            Self::AutoAcceptTen => options.dialog_policy = DialogPolicy::AutoAccept,
            Self::Watchdog => options.dialog_timeout = Duration::from_secs(1),
            _ => {}
        }
        options
    }

    pub(super) async fn play(self, stage: &Stage<'_>) -> Result<()> {
        match self {
            Self::AlertAnswered => alert_answered(stage).await,
            Self::ConfirmInNestedOopif => confirm_in_nested_oopif(stage).await,
            Self::PopupPrompt => popup_prompt(stage).await,
            Self::BeforeunloadDismissed => beforeunload_dismissed(stage).await,
            Self::LocalOopifLocal => local_oopif_local(stage).await,
            Self::AutoAcceptTen => auto_accept_ten(stage).await,
            Self::Watchdog => watchdog(stage).await,
        }
    }
}

async fn alert_answered(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/alert").await?;
    stage.eval(None, "raise()").await?;
    stage.dialog().await?;
    stage.accept(None).await?;
    stage.title("alert: closed").await
}

async fn confirm_in_nested_oopif(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/frames").await?;
    let at = stage.url("c.test", "/frame-c");
    let inner = stage.frame("the innermost frame", |frame| frame.is_oopif && frame.url == at).await?;
    stage.loaded(Some(&inner)).await?;
    stage.eval(Some(&inner), "raise()").await?;
    stage.dialog().await?;
    stage.accept(None).await?;
    let answer = stage.eval(Some(&inner), "window.answer").await?;
    ensure!(answer == json!(true), "the frame got {answer}");
    Ok(())
}

async fn popup_prompt(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/popup").await?;
    stage.eval_as_user("raise()").await?;
    stage.dialog().await?;
    stage.accept(Some("admin")).await?;
    stage.title("popup: admin").await
}

async fn beforeunload_dismissed(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/beforeunload").await?;
    stage.eval_as_user("raise()").await?;
    stage.dialog().await?;
    stage.dismiss().await?;
    stage.title("beforeunload: stayed").await
}

async fn local_oopif_local(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/swap").await?;
    let first = stage.frame("a frame of the same site", |frame| !frame.is_oopif).await?;
    for (host, oopif) in [("b.test", true), ("a.test", false)] {
        let url = stage.url(host, "/confirm");
        stage.eval(None, &format!("document.querySelector('iframe').src = '{url}'")).await?;
        let frame = stage.frame(&url, |frame| frame.is_oopif == oopif && frame.url == url).await?;
        ensure!(frame == first, "frame {first} became {frame}");
        stage.loaded(Some(&frame)).await?;
        let title = stage.eval(Some(&frame), "location.hostname + ' ' + document.title").await?;
        ensure!(title == format!("{host} confirm"), "the frame on {host} is {title}");
    }
    Ok(())
}

async fn auto_accept_ten(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/index").await?;
    let ten = "for (let number = 1; number <= 10; number += 1) alert(`Alert ${number} of 10`)";
    stage.eval(None, &format!("setTimeout(() => {{ {ten}; document.title = 'ten'; }})")).await?;
    stage.ended(10).await?;
    stage.title("ten").await
}

async fn watchdog(stage: &Stage<'_>) -> Result<()> {
    stage.open("a.test", "/alert").await?;
    stage.eval(None, "raise()").await?;
    stage.ended(1).await?;
    stage.title("alert: closed").await
}
