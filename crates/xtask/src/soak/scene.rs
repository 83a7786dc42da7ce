//! What is played in the tabs.

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use supervisor::Place;

use super::counts::Counts;
use super::hand::Hand;
use super::world::Role;

/// One thing that pages do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scene {
    Asks,
    ChildAsks,
    Watchdog,
    OtherClient,
    Swap,
    Popup,
    Leaves,
    Crash,
    ChildCrash,
    Flood,
    Churn,
    History,
}

/// In the order in which they are played. Some are there twice.
const SCENES: [Scene; 15] = [
    Scene::Asks,
    Scene::Swap,
    Scene::Crash,
    Scene::Popup,
    Scene::OtherClient,
    Scene::Churn,
    Scene::ChildAsks,
    Scene::Swap,
    Scene::Watchdog,
    Scene::ChildCrash,
    Scene::Flood,
    Scene::Leaves,
    Scene::Asks,
    Scene::History,
    Scene::OtherClient,
];

/// Console calls of one flood: more than the rings hold, less than a second of work.
const FLOOD: u32 = 3_000;

impl Scene {
    pub(super) fn at(turn: usize) -> Self {
        SCENES[turn % SCENES.len()]
    }

    /// Whether such a page can play it: the policy answers before anybody else, and no other client sees the bridge.
    pub(super) fn suits(self, role: Role) -> bool {
        match self {
            Self::OtherClient => role == Role::Host,
            Self::Watchdog => role != Role::Policy,
            _ => true,
        }
    }
}

/// A tab and the server with its pages.
pub(super) struct Set<'a> {
    pub(super) hand: Hand,
    pub(super) url: &'a (dyn Fn(&str, &str) -> String + Sync),
    pub(super) counts: &'a Counts,
}

impl Set<'_> {
    pub(super) async fn play(&self, scene: Scene) -> Result<()> {
        match scene {
            Scene::Asks => self.asks(&["alert", "confirm", "prompt"], "agent").await,
            Scene::Watchdog => self.asks(&["confirm"], "watchdog").await,
            Scene::ChildAsks => self.child_asks().await,
            Scene::OtherClient => self.other_client().await,
            Scene::Swap => self.swap().await,
            Scene::Popup => self.popup().await,
            Scene::Leaves => self.leaves().await,
            Scene::Crash => self.crash().await,
            Scene::ChildCrash => self.child_crash().await,
            Scene::Flood => self.flood().await,
            Scene::Churn => self.churn().await,
            Scene::History => self.history().await,
        }
    }

    pub(super) fn url(&self, host: &str, path: &str) -> String {
        (self.url)(host, path)
    }

    async fn open(&self, path: &str) -> Result<()> {
        self.hand.open(&self.url("a.test", path)).await
    }

    async fn asks(&self, kinds: &[&str], whom: &str) -> Result<()> {
        self.open("/asks").await?;
        self.hand.eval(None, &format!("go({}, '{whom}')", json!(kinds))).await?;
        self.hand.comes_true(None, "done").await
    }

    async fn child_asks(&self) -> Result<()> {
        self.open("/frames").await?;
        let inner = self.hand.frame(&self.url("c.test", "/asks"), true).await?;
        self.hand.eval(Some(&inner), "go(['confirm', 'prompt'], 'agent')").await?;
        self.hand.comes_true(Some(&inner), "done").await
    }

    async fn other_client(&self) -> Result<()> {
        self.open("/asks").await?;
        self.hand.eval(None, "go(['confirm', 'prompt'], 'other')").await?;
        self.hand.answer_other(true).await?;
        self.hand.answer_other(false).await?;
        self.hand.comes_true(None, "done").await
    }

    /// The frame goes from its parent's process to one site's, to another's, and back.
    async fn swap(&self) -> Result<()> {
        self.open("/swap").await?;
        for (host, oopif) in [("b.test", true), ("c.test", true), ("a.test", false)] {
            let url = self.url(host, "/asks");
            self.hand
                .eval(None, &format!("void (document.querySelector('iframe').src = {})", json!(url)))
                .await?;
            self.hand.frame(&url, oopif).await?;
            self.counts.add("swap");
        }
        Ok(())
    }

    async fn popup(&self) -> Result<()> {
        self.open("/asks").await?;
        self.hand.eval_as_user("void open('/popup')").await?;
        self.hand.comes_true(None, "popups === 1").await?;
        self.counts.add("popup");
        Ok(())
    }

    /// A page that asks before it is left: some answers make it stay.
    async fn leaves(&self) -> Result<()> {
        self.open("/leaves").await?;
        self.hand.eval_as_user("1").await?;
        // The reply is held until the dialog is answered, so the call ends with it; the page goes or stays.
        let _ = self.hand.call("Page.navigate", json!({ "url": self.url("b.test", "/asks") })).await;
        self.hand.comes_true(None, "typeof free === 'function' ? (free(), true) : true").await
    }

    async fn crash(&self) -> Result<()> {
        self.open("/asks").await?;
        self.crashed(Place::Target(self.hand.target.clone())).await?;
        self.open("/asks").await
    }

    async fn child_crash(&self) -> Result<()> {
        self.open("/frames").await?;
        let inner = self.hand.frame(&self.url("c.test", "/asks"), true).await?;
        self.crashed(Place::Frame(inner)).await?;
        self.open("/asks").await
    }

    async fn crashed(&self, place: Place) -> Result<()> {
        match self.hand.call_at(place, "Page.crash", json!({})).await {
            Err(error) if is_crash(&error) => Ok(()),
            Err(error) => Err(error),
            Ok(reply) => bail!("a crash was answered with {reply}"),
        }
    }

    async fn flood(&self) -> Result<()> {
        self.open("/asks").await?;
        self.hand.eval(None, &format!("flood({FLOOD})")).await?;
        self.counts.add_many("console call of a flood", u64::from(FLOOD));
        Ok(())
    }

    async fn churn(&self) -> Result<()> {
        self.open("/asks").await?;
        self.hand.eval(None, &format!("void churn(12, {})", json!(self.url("b.test", "/asks")))).await?;
        self.hand.comes_true(None, "done").await
    }

    async fn history(&self) -> Result<()> {
        self.open("/frames").await?;
        self.hand.open(&self.url("b.test", "/asks")).await?;
        let history = self.hand.call("Page.getNavigationHistory", json!({})).await?;
        let current = history["currentIndex"].as_u64().and_then(|index| usize::try_from(index).ok());
        let before = current.and_then(|index| index.checked_sub(1)).context("no page to go back to")?;
        let entry: &Value = &history["entries"][before]["id"];
        self.hand.call("Page.navigateToHistoryEntry", json!({ "entryId": entry })).await?;
        self.hand.comes_true(None, "location.pathname === '/frames'").await
    }
}

fn is_crash(error: &anyhow::Error) -> bool {
    let failure = error.downcast_ref::<supervisor::Failure>();
    failure.is_some_and(|failure| failure.code == supervisor::Code::TargetCrashed)
}
