//! Pages: tabs and popups, each with its own frames and at most one dialog.

use cdp_wire::{BrowserContextId, FrameId, LoaderId, TargetId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::dialog::{Slot, Unanswerable};
use crate::ids::{DialogId, Route};

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// Its session: dialogs are reported and answered there.
    pub route: Route,
    /// Its main frame, once known. Usually it has the page's target id.
    pub main_frame: Option<FrameId>,
    /// Its URL, as the browser shows it.
    pub url: String,
    /// Its title.
    pub title: String,
    /// The page that opened it.
    pub opener: Option<TargetId>,
    /// The frame that opened it.
    pub opener_frame: Option<FrameId>,
    /// Whether it can script its opener.
    pub can_access_opener: bool,
    /// Its browser context.
    pub context: Option<BrowserContextId>,
    /// The dialog that is open on it.
    pub slot: Slot,
    /// Why nobody can free it by answering.
    pub blocked: Option<Blocked>,
    /// Whether it opens dialogs faster than anybody could answer.
    pub flooding: bool,
    /// Why its dialogs do not go by the bridge though that is on.
    pub bridge_unavailable: Option<crate::bridge::Unavailable>,
}

/// Why a page is stuck.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blocked {
    /// What happened.
    pub why: Unanswerable,
    /// The dialog, where there is a record of it.
    pub dialog: Option<DialogId>,
}

/// A page that a lost connection left in a state in which the wrong command ends the browser.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Doomed {
    /// What happened.
    pub why: Unanswerable,
    /// The document that it happened to: it is over with the next one.
    pub loader: Option<LoaderId>,
    /// The iframe in another process that has a dialog open which nobody can answer any more: only without it the page is
    /// so.
    pub without: Option<FrameId>,
}

/// All pages, in the order in which they were attached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Pages {
    by_target: FxHashMap<TargetId, Page>,
    order: Vec<TargetId>,
    active: Option<TargetId>,
}

impl Pages {
    /// The page with this target.
    #[must_use]
    pub fn get(&self, target: &TargetId) -> Option<&Page> {
        self.by_target.get(target)
    }

    pub(crate) fn get_mut(&mut self, target: &TargetId) -> Option<&mut Page> {
        self.by_target.get_mut(target)
    }

    /// All pages, in the order in which they were attached.
    pub fn iter(&self) -> impl Iterator<Item = (&TargetId, &Page)> {
        self.order.iter().filter_map(|target| Some((target, self.by_target.get(target)?)))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// The first one that was attached and, when it closed, the one attached last.
    #[must_use]
    pub fn active(&self) -> Option<&TargetId> {
        self.active.as_ref()
    }

    pub(crate) fn insert(&mut self, target: TargetId, page: Page) {
        if self.active.is_none() {
            self.active = Some(target.clone());
        }
        self.order.retain(|other| *other != target);
        self.order.push(target.clone());
        self.by_target.insert(target, page);
    }

    pub(crate) fn remove(&mut self, target: &TargetId) -> Option<Page> {
        let page = self.by_target.remove(target)?;
        self.order.retain(|other| other != target);
        if self.active.as_ref() == Some(target) {
            self.active = self.order.last().cloned();
        }
        Some(page)
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }

    /// The page at the end of the chain of openers that this page can script: pages with the same one may share a
    /// renderer.
    #[must_use]
    pub fn family(&self, target: &TargetId) -> TargetId {
        let mut current = target;
        // A chain of openers cannot be longer than there are pages, unless a peer invents a circle.
        for _ in 0..self.order.len() {
            let Some(page) = self.by_target.get(current).filter(|page| page.can_access_opener) else { break };
            let Some((opener, _)) =
                page.opener.as_ref().and_then(|opener| self.by_target.get_key_value(opener))
            else {
                break;
            };
            current = opener;
        }
        current.clone()
    }
}
