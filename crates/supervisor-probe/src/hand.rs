//! The probe's hand: opens its pages, answers their requests, and closes all that it opened.
//!
//! It never enables `Page`, so that it neither hears of dialogs nor keeps them open.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cdp_wire::{BrowserContextId, SessionId};
use serde_json::{Value, json};
use supervisor::TargetId;
use supervisor::supervisor_core::Route;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::error::Trouble;
use crate::limits::{CLEAN_STEP, CLOSE_AGAIN, LOOK_AGAIN};
use crate::line::Line;
use crate::pages::HUSH;
use crate::serve::{self, Served};

/// A page that the hand opened, and its own session there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Opened {
    pub(crate) target: TargetId,
    pub(crate) route: Route,
}

/// See the module.
pub(crate) struct Hand {
    line: Line,
    /// A session of the browser for the hand alone, or the connection's root where there is no such thing.
    base: Route,
    served: Arc<Served>,
    serving: JoinHandle<()>,
    owned: Arc<Mutex<Owned>>,
    /// Held while a page is being opened.
    opening: Arc<Turn>,
}

type Turn = tokio::sync::Mutex<()>;

/// What has to go again.
#[derive(Debug, Default)]
struct Owned {
    contexts: Vec<BrowserContextId>,
    pages: Vec<Opened>,
}

impl Drop for Hand {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Hand {
    /// Begins on a connection that nobody uses yet.
    pub(crate) async fn on(line: Line) -> Result<Self, Trouble> {
        let base = match line.send(&Route::Root, "Target.attachToBrowserTarget", json!({})).await {
            Ok(reply) => Route::Session(session_of(&reply)?),
            Err(Trouble::Refused { .. }) => Route::Root,
            Err(other) => return Err(other),
        };
        let served = Arc::new(watch::Sender::default());
        let serving = tokio::spawn(serve::serve(line.clone(), Arc::clone(&served)));
        Ok(Self { line, base, served, serving, owned: Arc::default(), opening: Arc::default() })
    }

    /// Whether a guest can use the same connection without either disturbing the other.
    pub(crate) fn shares_its_line(&self) -> bool {
        self.base != Route::Root
    }

    /// The connection.
    pub(crate) fn line(&self) -> &Line {
        &self.line
    }

    /// Sends a command to the browser.
    pub(crate) async fn send(&self, method: &'static str, params: Value) -> Result<Value, Trouble> {
        self.line.send(&self.base, method, params).await
    }

    /// A browser context of its own, which the browser throws away when the connection ends; `None` where that is refused.
    pub(crate) async fn context(&self) -> Result<Option<BrowserContextId>, Trouble> {
        let created = self.send("Target.createBrowserContext", json!({ "disposeOnDetach": true })).await;
        match created {
            Ok(reply) => {
                let id = reply["browserContextId"].as_str();
                let id = BrowserContextId::from(id.ok_or_else(|| Trouble::odd("a context's id", &reply))?);
                self.owned().contexts.push(id.clone());
                Ok(Some(id))
            }
            Err(Trouble::Refused { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    /// Opens a blank page whose requests are answered from then on.
    pub(crate) async fn open(&self, context: Option<&BrowserContextId>) -> Result<Opened, Trouble> {
        let mut params = json!({ "url": "about:blank" });
        if let Some(context) = context {
            params["browserContextId"] = json!(context);
        }
        let (line, base, owned) = (self.line.clone(), self.base.clone(), Arc::clone(&self.owned));
        let turn = Arc::clone(&self.opening).lock_owned().await;
        // Not to be broken off in the middle: a page that is open must be known, to be closed.
        let opening = tokio::spawn(async move {
            let _turn = turn;
            let reply = line.send(&base, "Target.createTarget", params).await?;
            let target = reply["targetId"].as_str().ok_or_else(|| Trouble::odd("a target's id", &reply))?;
            let page = Opened { target: target.into(), route: base };
            lock(&owned).pages.push(page.clone());
            Ok::<_, Trouble>(page)
        });
        let page = opening.await.map_err(|_| Trouble::Gone)??;
        let route = self.attach(&page.target).await?;
        self.owned()
            .pages
            .iter_mut()
            .filter(|it| it.target == page.target)
            .for_each(|it| it.route = route.clone());
        serve::look_after(&self.line, &self.served, &route, page.target.clone()).await?;
        Ok(Opened { route, ..page })
    }

    /// One more session on a page.
    pub(crate) async fn attach(&self, target: &TargetId) -> Result<Route, Trouble> {
        let reply =
            self.send("Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        Ok(Route::Session(session_of(&reply)?))
    }

    /// Waits until the requests of a frame in a process of its own are answered, and so those of frames below it.
    pub(crate) async fn serves(&self, target: &TargetId) {
        // The sender is ours: it cannot be gone.
        let _ = self.served.subscribe().wait_for(|served| served.contains(target)).await;
    }

    /// Waits until no page is being opened, so that the list of them is whole.
    pub(crate) async fn rests(&self) {
        let _ = timeout(CLEAN_STEP, self.opening.lock()).await;
    }

    /// The pages that are open.
    pub(crate) fn pages(&self) -> Vec<Opened> {
        self.owned().pages.clone()
    }

    /// Leaves a page's document, whatever it thinks of that: an open dialog goes with it. No part of it takes long.
    pub(crate) async fn blank(&self, page: &Opened) {
        let quiet = json!({ "expression": HUSH });
        let left = async {
            drop(self.line.post(&page.route, "Runtime.evaluate", quiet).await?);
            self.line.send(&page.route, "Page.navigate", json!({ "url": "about:blank" })).await
        };
        let _ = timeout(CLEAN_STEP, left).await;
    }

    /// Closes a page, and waits until the browser says that it is gone. While a page is being left it can forget that it
    /// was to be closed, so it is told again.
    pub(crate) async fn close(&self, page: &Opened) {
        let (target, end) = (page.target.as_str(), Instant::now() + CLEAN_STEP);
        let is_listed = |reply: &Value| lists(&reply["targetInfos"], "targetId", target);
        while Instant::now() < end {
            let close = self.send("Target.closeTarget", json!({ "targetId": target }));
            if matches!(timeout(CLEAN_STEP, close).await, Err(_) | Ok(Err(Trouble::Gone))) {
                return;
            }
            if self.is_gone("Target.getTargets", is_listed, CLOSE_AGAIN).await {
                return self.owned().pages.retain(|open| open.target != page.target);
            }
        }
    }

    /// Closes everything. Gives what is left, in words.
    pub(crate) async fn clear(&self) -> Vec<String> {
        for page in self.pages() {
            self.blank(&page).await;
            self.close(&page).await;
        }
        let contexts = self.owned().contexts.clone();
        for context in contexts {
            self.dispose(&context).await;
        }
        let owned = self.owned();
        let pages = owned.pages.iter().map(|page| format!("page {}", page.target));
        pages.chain(owned.contexts.iter().map(|context| format!("browser context {context}"))).collect()
    }

    async fn dispose(&self, context: &BrowserContextId) {
        let dispose = self.send("Target.disposeBrowserContext", json!({ "browserContextId": context }));
        let _ = timeout(CLEAN_STEP, dispose).await;
        let listed = |reply: &Value| {
            let ids = reply["browserContextIds"].as_array();
            ids.is_none_or(|ids| ids.iter().any(|id| id == context.as_str()))
        };
        if self.is_gone("Target.getBrowserContexts", listed, CLEAN_STEP).await {
            self.owned().contexts.retain(|open| open != context);
        }
    }

    /// Asks until what was closed is no longer listed. Without a connection nothing can be said.
    async fn is_gone(&self, list: &'static str, is_listed: impl Fn(&Value) -> bool, limit: Duration) -> bool {
        let end = Instant::now() + limit;
        while Instant::now() < end {
            match timeout(CLEAN_STEP, self.send(list, json!({}))).await {
                Ok(Ok(reply)) if !is_listed(&reply) => return true,
                Ok(Ok(_)) => sleep(LOOK_AGAIN).await,
                _ => return false,
            }
        }
        false
    }

    fn owned(&self) -> MutexGuard<'_, Owned> {
        lock(&self.owned)
    }
}

fn lock(owned: &Mutex<Owned>) -> MutexGuard<'_, Owned> {
    owned.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reply that is no list lists everything: nothing is taken for gone on an odd word.
fn lists(list: &Value, field: &str, id: &str) -> bool {
    list.as_array().is_none_or(|all| all.iter().any(|it| it[field] == id))
}

fn session_of(reply: &Value) -> Result<SessionId, Trouble> {
    reply["sessionId"].as_str().map(SessionId::from).ok_or_else(|| Trouble::odd("a session's id", reply))
}
