//! The browser, its pages, and the driver's own hand in it.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use chromium_launcher::{Launch, Running};
use futures_util::{SinkExt as _, StreamExt as _};
use page_server::PageServer;
use serde_json::{Value, json};
use supervisor::{Bridge, DialogPolicy, Options, Place, Status, Supervisor, TargetId, Task};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;

use super::protocol::Binding;
use super::site;
use super::wire::Wire;

/// For each command of the driver.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// What the dialogs of a page are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// The host answers, the watchdog, or another client.
    Host,
    /// The policy answers all.
    Policy,
    /// The host answers, by the bridge.
    Bridge,
}

/// Each role is a task and a browser context; the host has two pages.
const ROLES: [(Role, usize); 3] = [(Role::Host, 2), (Role::Policy, 1), (Role::Bridge, 1)];

/// One tab.
#[derive(Debug, Clone)]
pub(super) struct Tab {
    pub(super) role: Role,
    pub(super) target: TargetId,
}

/// Everything around the process that is watched. The driver supervises the browser too, on a connection of its own that
/// is never cut: that is how it drives the pages, and what makes it another client.
pub(super) struct World {
    pub(super) pages: PageServer,
    pub(super) wire: Wire,
    browser: Running,
    supervisor: Supervisor,
    pub(super) task: Task,
    pub(super) tabs: Vec<Tab>,
    pub(super) bindings: Vec<Binding>,
    /// Whether the tasks have guards.
    guard: bool,
}

impl World {
    pub(super) async fn start(guard: bool) -> Result<Self> {
        let pages = PageServer::start(site::site()).await?;
        let browser = launch().await?;
        let wire = Wire::to(port(&browser)?).await?;
        let supervisor = Supervisor::start();
        let task = connect(&supervisor, &browser).await?;
        let mut world =
            Self { pages, wire, browser, supervisor, task, tabs: Vec::new(), bindings: Vec::new(), guard };
        world.open_tabs().await?;
        Ok(world)
    }

    pub(super) fn browser_version(&self) -> String {
        self.browser.version().to_owned()
    }

    /// The end of what the browser said of itself.
    pub(super) fn last_words(&self) -> String {
        self.browser.stderr_tail()
    }

    /// Whether the browser is still there.
    pub(super) fn is_alive(&self) -> bool {
        self.task.snapshot().status.status == Status::Connected
    }

    /// Another browser in the place of this one, found behind the same wire.
    pub(super) async fn restart(&mut self) -> Result<()> {
        let fresh = launch().await?;
        let old = std::mem::replace(&mut self.browser, fresh);
        // One that has died by itself has ended already.
        let _ = old.stop().await;
        self.wire.lead_to(port(&self.browser)?);
        self.task = connect(&self.supervisor, &self.browser).await?;
        self.open_tabs().await
    }

    async fn open_tabs(&mut self) -> Result<()> {
        self.tabs.clear();
        self.bindings.clear();
        for (role, count) in ROLES {
            let context = browser_context(&self.browser).await.context("a browser context")?;
            for _ in 0..count {
                let params = json!({ "url": "about:blank", "browserContextId": context });
                let target = self.created("Target.createTarget", params, "targetId").await?;
                self.tabs.push(Tab { role, target: TargetId::from(target.as_str()) });
            }
            self.bindings.push(Binding { guard: self.guard, ..binding(role, self.wire.url(), context) });
        }
        Ok(())
    }

    async fn created(&self, method: &str, params: Value, what: &str) -> Result<String> {
        let reply = self.task.call(Place::Active, method, params.to_string(), Some(PATIENCE)).await;
        let reply = reply.with_context(|| method.to_owned())?;
        let reply: Value = serde_json::from_str(reply.result.get())?;
        reply[what].as_str().map(str::to_owned).with_context(|| format!("{method} gave no {what}"))
    }

    pub(super) async fn end(self) -> Result<()> {
        self.supervisor.stop_all().await;
        self.browser.stop().await?;
        self.pages.stop().await;
        Ok(())
    }
}

/// A browser context that stays. Only a browser's root may make one, and the library sends nothing of a host's there.
async fn browser_context(browser: &Running) -> Result<String> {
    let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port(browser)?)).await?;
    let (mut socket, _) = tokio_tungstenite::client_async(browser.ws_url(), stream).await?;
    let command = json!({ "id": 1, "method": "Target.createBrowserContext", "params": {} });
    socket.send(Message::text(command.to_string())).await?;
    while let Some(message) = socket.next().await {
        let reply: Value = serde_json::from_str(message?.to_text()?)?;
        if let Some(context) = reply["result"]["browserContextId"].as_str() {
            return Ok(context.to_owned());
        }
    }
    bail!("the browser closed the connection")
}

async fn launch() -> Result<Running> {
    let launch = Launch::new(chromium_launcher::find()?);
    Ok(launch.site_per_process(true).map_test_hosts(true).start().await?)
}

fn port(browser: &Running) -> Result<u16> {
    let port = browser.http_url().trim_end_matches('/').rsplit_once(':').map(|(_, port)| port);
    port.and_then(|port| port.parse().ok()).context("the browser's URL has no port")
}

async fn connect(supervisor: &Supervisor, browser: &Running) -> Result<Task> {
    let mut options = Options::default();
    // It never answers by itself: what it leaves alone is the other side's.
    options.dialog_timeout = Duration::from_secs(3_600);
    options.reconnect.tries = 0;
    options.bridge = Bridge::Off;
    let task = supervisor.get_or_start("driver", browser.ws_url(), options).await?;
    task.wait_for(|snapshot| !snapshot.pages.is_empty(), PATIENCE).await.context("the first page")?;
    Ok(task)
}

fn binding(role: Role, url: String, context: String) -> Binding {
    let (policy, bridge) = match role {
        Role::Host => (DialogPolicy::MustRespond, Bridge::Off),
        Role::Policy => (DialogPolicy::AutoAccept, Bridge::Off),
        Role::Bridge => (DialogPolicy::MustRespond, Bridge::On),
    };
    Binding { name: format!("{role:?}").to_lowercase(), url, context, policy, bridge, guard: false }
}
