//! The processes that pages run in: found by the browser's own list, stopped and killed by their id.

use std::collections::BTreeSet;

use chromium_launcher::Launch;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::raw_client::RawClient;
use crate::stage::browser;

/// A browser that keeps no renderer in reserve: a process that appears is the new page's.
#[must_use]
pub fn without_spare_renderers() -> Launch {
    Launch::new(browser()).arg("--disable-features=SpareRendererForSitePerProcess")
}

/// Renderer processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Renderers(BTreeSet<i32>);

impl Renderers {
    /// Those that run now.
    pub async fn of(client: &RawClient) -> Self {
        Self::of_kind(client, "renderer").await
    }

    /// The browser's own process instead, on which all of them depend.
    pub async fn browser(client: &RawClient) -> Self {
        Self::of_kind(client, "browser").await
    }

    async fn of_kind(client: &RawClient, kind: &str) -> Self {
        let reply = client.send("SystemInfo.getProcessInfo", json!({}), None).await;
        let all = reply["result"]["processInfo"].as_array().unwrap_or_else(|| panic!("{reply}"));
        let wanted = all.iter().filter(|it| it["type"] == kind);
        Self(wanted.map(|it| i32::try_from(it["id"].as_i64().unwrap()).unwrap()).collect())
    }

    /// Those that run now and did not run then. There is at least one.
    pub async fn since(client: &RawClient, then: &Self) -> Self {
        let fresh: BTreeSet<i32> = Self::of(client).await.0.difference(&then.0).copied().collect();
        assert!(!fresh.is_empty(), "no renderer was started since {then:?}");
        Self(fresh)
    }

    /// Kills them, as an out-of-memory killer does.
    pub fn kill(&self) {
        self.signal(Signal::KILL);
    }

    /// Stops them until the result is dropped: they answer nothing, and do not know it.
    #[must_use]
    pub fn freeze(self) -> Frozen {
        self.signal(Signal::STOP);
        Frozen(self)
    }

    fn signal(&self, signal: Signal) {
        for pid in &self.0 {
            kill_process(Pid::from_raw(*pid).unwrap(), signal).unwrap();
        }
    }
}

/// Renderer processes that are stopped.
pub struct Frozen(Renderers);

impl Drop for Frozen {
    fn drop(&mut self) {
        for pid in &self.0.0 {
            // It may have been killed meanwhile.
            let _ = kill_process(Pid::from_raw(*pid).unwrap(), Signal::CONT);
        }
    }
}
