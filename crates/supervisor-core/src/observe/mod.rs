//! Observing: what is known comes from the messages of another client, and nothing is ever sent.
//!
//! An observer sees both directions. The client's commands tell what a reply means and which answers of dialogs are the
//! agent's; policies, the watchdog, set-up and probes are off. A client may attach in ways that a task of ours does not:
//! by hand, several times to one page, through a tab, late.

pub(crate) mod rules;

use std::collections::BTreeMap;

use cdp_wire::TargetId;

use crate::ids::{EndpointKind, Route};
use crate::limits::MAX_SESSIONS;

/// What only an observer keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct Observer {
    /// What the client is connected to.
    pub endpoint: EndpointKind,
    /// Sessions besides the one of each target that counts; a tab's session names no target.
    standing_by: BTreeMap<Route, Option<TargetId>>,
}

impl Observer {
    pub(crate) fn of(endpoint: EndpointKind) -> Self {
        Self { endpoint, standing_by: BTreeMap::new() }
    }

    pub(crate) fn stands_by(&mut self, route: &Route, target: Option<&TargetId>) {
        if self.standing_by.len() < MAX_SESSIONS {
            self.standing_by.insert(route.clone(), target.cloned());
        }
    }

    pub(crate) fn gone(&mut self, route: &Route) {
        self.standing_by.remove(route);
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
