//! Observing: what is known comes from the messages of another client, and nothing is ever sent.
//!
//! An observer sees both directions. The client's commands tell what a reply means and which answers of dialogs are the
//! agent's; policies, the watchdog, set-up and probes are off. A client may attach in ways that a task of ours does not:
//! by hand, several times to one page, through a tab, late.

pub(crate) mod bridge;
pub(crate) mod rules;

use std::collections::{BTreeMap, VecDeque};

use cdp_wire::{FrameId, TargetId};
use serde::{Deserialize, Serialize};

use crate::event::{Event, FrameInfo};
use crate::ids::{EndpointKind, Route};
use crate::limits::{MAX_GONE_FRAMES, MAX_SESSIONS};

/// What only an observer keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Observer {
    /// What the client is connected to.
    pub endpoint: EndpointKind,
    /// Sessions besides the one of each target that counts; a tab's session names no target.
    #[serde(with = "crate::pairs")]
    standing_by: BTreeMap<Route, Option<TargetId>>,
    /// Child frames as they were last described, those that are gone among them: a document may come back with its frames.
    described: BTreeMap<FrameId, FrameInfo>,
    /// The order in which they were first described.
    order: VecDeque<FrameId>,
}

impl Observer {
    pub(crate) fn of(endpoint: EndpointKind) -> Self {
        Self { endpoint, standing_by: BTreeMap::new(), described: BTreeMap::new(), order: VecDeque::new() }
    }

    pub(crate) fn apply(&mut self, event: &Event) {
        match event {
            Event::SessionStandsBy { route, target } if self.standing_by.len() < MAX_SESSIONS => {
                self.standing_by.insert(route.clone(), target.clone());
            }
            Event::SessionGone { route } => {
                self.standing_by.remove(route);
            }
            Event::FrameNavigated { frame, .. } => self.describe(frame),
            Event::FramesListed { frames, .. } => frames.iter().for_each(|frame| self.describe(frame)),
            _ => {}
        }
    }

    fn describe(&mut self, frame: &FrameInfo) {
        if frame.parent.is_some() && self.described.insert(frame.id.clone(), frame.clone()).is_none() {
            self.order.push_back(frame.id.clone());
        }
        while self.order.len() > MAX_GONE_FRAMES {
            self.order.pop_front().map(|oldest| self.described.remove(&oldest));
        }
    }

    /// A child frame as it was last described.
    #[must_use]
    pub fn described(&self, frame: &FrameId) -> Option<&FrameInfo> {
        self.described.get(frame)
    }

    /// Whether this session is one of a tab: it tells of the tab's pages, and of nothing else.
    #[must_use]
    pub fn is_tab(&self, route: &Route) -> bool {
        self.standing_by.get(route).is_some_and(Option::is_none)
    }

    /// The target that this session is a further one of.
    #[must_use]
    pub fn target_of(&self, route: &Route) -> Option<&TargetId> {
        self.standing_by.get(route)?.as_ref()
    }

    /// Another session of this target.
    #[must_use]
    pub fn another(&self, target: &TargetId) -> Option<&Route> {
        self.standing_by.iter().find(|(_, other)| other.as_ref() == Some(target)).map(|(route, _)| route)
    }
}
