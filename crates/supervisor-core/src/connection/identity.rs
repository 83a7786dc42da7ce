//! Whether the browser that a reconnect found is the one that was lost.
//!
//! The URL of a browser's own socket names it (`/devtools/browser/ID`). Behind a proxy it does not; then another version
//! tells of another browser, or browser contexts of which none was there before: the default one has an id that no other
//! browser's has (measured on Chromium 156). What is known of the one is not true of the other, so it is forgotten as
//! with a new binding; only ids go on counting.

use std::collections::BTreeSet;

use cdp_wire::BrowserContextId;
use serde::{Deserialize, Serialize};

use crate::call::late;
use crate::context::Cx;
use crate::event::Event;
use crate::guard::rules as guard;
use crate::ids::{CallId, EndpointKind};
use crate::limits::MAX_BROWSER_NAME;
use crate::state::State;

/// What tells one browser from another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// What the socket's URL names it. Written as the event writes it: no text of a page, which is replaced where it is redacted.
    #[serde(rename = "browser")]
    pub name: Option<String>,
    /// Such as `Chrome/156.0.8078.73`.
    pub product: Option<String>,
    /// The contexts of its pages, when it was last looked at.
    pub contexts: BTreeSet<BrowserContextId>,
}

impl Identity {
    /// Where only guesses are left, the same browser is the better one: it loses nothing.
    fn is_another_than(&self, before: &Identity) -> bool {
        if let (Some(name), Some(before)) = (&self.name, &before.name) {
            return name != before;
        }
        let other_product =
            matches!((&self.product, &before.product), (Some(now), Some(then)) if now != then);
        let tell = !before.contexts.is_empty() && !self.contexts.is_empty();
        other_product || (tell && before.contexts.is_disjoint(&self.contexts))
    }
}

pub(crate) fn named(cx: &mut Cx<'_>, browser: &str) {
    cx.emit(Event::BrowserNamed { browser: crate::shown::cut(browser, MAX_BROWSER_NAME).to_owned() });
}

/// The handshake is done: the browser has said what it is, and its pages are known.
pub(crate) fn compare(cx: &mut Cx<'_>) {
    let connection = &cx.state().connection;
    let is_page = matches!(connection.endpoint, Some(EndpointKind::Page(_)));
    let found = cx.state().identity_now();
    if connection.was_connected && !is_page && found.is_another_than(&connection.identity) {
        let late: Vec<CallId> = cx.state().calls.late.keys().copied().collect();
        late.into_iter().for_each(|call| late::too_old(cx, call));
        guard::browser_replaced(cx);
        cx.emit(Event::BrowserReplaced);
    }
}

impl State {
    fn identity_now(&self) -> Identity {
        let connection = &self.connection;
        let contexts = self.pages.iter().filter_map(|(_, page)| page.context.clone()).collect();
        Identity { name: connection.named.clone(), product: connection.product.clone(), contexts }
    }

    pub(crate) fn apply_identity(&mut self, event: &Event) {
        match event {
            Event::Dialing { .. } => {
                self.remember_contexts();
                self.connection.named = None;
            }
            Event::BrowserNamed { browser } => self.connection.named = Some(browser.clone()),
            Event::BrowserReplaced => self.forget_all(),
            Event::Connected { .. } => self.connection.identity = self.identity_now(),
            _ => {}
        }
    }

    /// Contexts come and go while it is connected; those of the last moment are the ones to find again.
    fn remember_contexts(&mut self) {
        let contexts = self.identity_now().contexts;
        if self.connection.was_connected && !contexts.is_empty() {
            self.connection.identity.contexts = contexts;
        }
    }

    /// As a new binding begins, but for what this connection has already told.
    fn forget_all(&mut self) {
        self.dialogs.recent.clear();
        self.dialogs.strays.clear();
        self.dialogs.first = self.dialogs.open.keys().next().copied().unwrap_or(self.dialogs.next);
        self.console = crate::console::Console::default();
        self.connection.orphaned.clear();
        self.connection.doomed.clear();
        self.bridge.snatched = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(name: Option<&str>, product: &str, contexts: &[&str]) -> Identity {
        let contexts = contexts.iter().map(|context| BrowserContextId::from(*context)).collect();
        Identity { name: name.map(str::to_owned), product: Some(product.to_owned()), contexts }
    }

    #[test]
    fn a_name_tells_and_nothing_else_counts_then() {
        let before = identity(Some("A"), "Chrome/1", &["P"]);
        assert!(!identity(Some("A"), "Chrome/2", &["Q"]).is_another_than(&before));
        assert!(identity(Some("B"), "Chrome/1", &["P"]).is_another_than(&before));
    }

    #[test]
    fn without_a_name_the_version_and_the_contexts_tell() {
        let before = identity(None, "Chrome/1", &["P", "Q"]);
        assert!(!identity(None, "Chrome/1", &["Q", "R"]).is_another_than(&before));
        assert!(identity(None, "Chrome/1", &["R"]).is_another_than(&before));
        assert!(identity(Some("A"), "Chrome/2", &["P"]).is_another_than(&before));
        assert!(!identity(None, "Chrome/1", &[]).is_another_than(&before), "nothing is known");
    }
}
