//! Sessions: what is attached, and what hangs on it.

mod apply;
pub(crate) mod attach;
pub(crate) mod doomed;
pub(crate) mod gone;
pub mod reach;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cdp_wire::{CommandId, FrameId, SessionId, TargetId, UniqueContextId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::ids::{Named, Route};
use crate::limits::{MAX_CONTEXTS, MAX_RELEASED_SESSIONS};

/// What a session is attached to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SessionKind {
    /// A page.
    Page,
    /// An iframe in another process than its parent.
    Iframe,
}

/// One attached session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Session {
    /// What it is attached to.
    pub kind: SessionKind,
    /// Its target.
    pub target: TargetId,
    /// The session on which it was announced.
    pub parent: Route,
    /// The page that it belongs to.
    pub page: TargetId,
    /// When it was attached, as a place in the history.
    pub attached: u64,
    /// Sessions announced on this one.
    pub children: BTreeSet<Route>,
    /// Whether its renderer died.
    pub crashed: bool,
    /// The last answer that a renderer-bound command got here, by the command's id.
    pub heard: Option<CommandId>,
    /// Whether its set-up is silent without a reason.
    pub unresponsive: bool,
    /// The `getFrameTree` that is in flight.
    pub listing: Option<CommandId>,
    /// The last command that was sent before its main document was committed: an older listing is out of date.
    pub committed: Option<CommandId>,
    /// Whether `Target.setAutoAttach` was answered: a page that only navigates answers it.
    pub auto_attach_answered: bool,
    /// By what the bridge's script is removed from it.
    pub bridge_script: Option<String>,
    /// The default execution contexts, by their number in the process.
    pub contexts: BTreeMap<i64, Context>,
    /// The current default context of each frame.
    pub documents: FxHashMap<FrameId, i64>,
}

/// The execution context of one document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Context {
    /// The frame.
    pub frame: FrameId,
    /// The id that no other context ever has.
    pub unique: UniqueContextId,
    /// The document's origin; `null` for an opaque one, empty when the browser did not say.
    pub origin: String,
}

impl Session {
    pub(crate) fn new(
        kind: SessionKind,
        target: TargetId,
        parent: Route,
        page: TargetId,
        attached: u64,
    ) -> Self {
        Self {
            kind,
            target,
            parent,
            page,
            attached,
            children: BTreeSet::new(),
            crashed: false,
            heard: None,
            unresponsive: false,
            listing: None,
            committed: None,
            auto_attach_answered: false,
            bridge_script: None,
            contexts: BTreeMap::new(),
            documents: FxHashMap::default(),
        }
    }

    /// The execution context of the document that is in this frame now.
    #[must_use]
    pub fn document(&self, frame: &FrameId) -> Option<(i64, &UniqueContextId)> {
        let id = self.documents.get(frame)?;
        Some((*id, &self.contexts.get(id)?.unique))
    }

    pub(crate) fn context_created(&mut self, id: i64, context: Context) {
        while self.contexts.len() >= MAX_CONTEXTS {
            let Some(oldest) = self.contexts.keys().next().copied() else { break };
            self.context_destroyed(oldest);
        }
        // A number that is used again is of another document: no frame may keep it.
        self.context_destroyed(id);
        self.documents.insert(context.frame.clone(), id);
        self.contexts.insert(id, context);
    }

    pub(crate) fn context_destroyed(&mut self, id: i64) {
        if let Some(context) = self.contexts.remove(&id)
            && self.documents.get(&context.frame) == Some(&id)
        {
            self.documents.remove(&context.frame);
        }
    }

    pub(crate) fn contexts_cleared(&mut self) {
        self.contexts.clear();
        self.documents.clear();
    }
}

/// All attached sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    /// Boxed: a map keeps room for eleven, and most tasks have one or two.
    #[serde(with = "crate::pairs")]
    by_route: BTreeMap<Route, Box<Session>>,
    released: VecDeque<Route>,
}

impl Sessions {
    /// The session on this route.
    #[must_use]
    pub fn get(&self, route: &Route) -> Option<&Session> {
        self.by_route.get(route).map(Box::as_ref)
    }

    /// The route with this session id, as it is kept: most messages are of a session that is known.
    pub(crate) fn route(&self, session: Option<&str>) -> Route {
        let known = self.by_route.get_key_value(&session as &dyn Named).map(|(route, _)| route.clone());
        known.unwrap_or_else(|| Route::from(session.map(SessionId::from)))
    }

    pub(crate) fn get_mut(&mut self, route: &Route) -> Option<&mut Session> {
        self.by_route.get_mut(route).map(Box::as_mut)
    }

    /// All of them, in the order of their routes.
    pub fn iter(&self) -> impl Iterator<Item = (&Route, &Session)> {
        self.by_route.iter().map(|(route, session)| (route, session.as_ref()))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.by_route.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.by_route.is_empty()
    }

    /// Whether this session was let go a moment ago, so that its last messages are no violation.
    #[must_use]
    pub fn was_released(&self, route: &Route) -> bool {
        self.released.contains(route)
    }

    /// The session and all that were announced below it, itself first.
    #[must_use]
    pub fn with_descendants(&self, route: &Route) -> Vec<Route> {
        let mut found = Vec::new();
        let mut waiting = vec![route.clone()];
        while let Some(route) = waiting.pop() {
            if let Some(session) = self.by_route.get(&route) {
                waiting.extend(session.children.iter().rev().cloned());
                found.push(route);
            }
        }
        found
    }

    pub(crate) fn insert(&mut self, route: Route, session: Session) {
        if let Some(parent) = self.by_route.get_mut(&session.parent) {
            parent.children.insert(route.clone());
        }
        self.by_route.insert(route, Box::new(session));
    }

    pub(crate) fn remove(&mut self, route: &Route) -> Option<Box<Session>> {
        let session = self.by_route.remove(route)?;
        if let Some(parent) = self.by_route.get_mut(&session.parent) {
            parent.children.remove(route);
        }
        self.release(route.clone());
        Some(session)
    }

    pub(crate) fn release(&mut self, route: Route) {
        self.released.push_back(route);
        while self.released.len() > MAX_RELEASED_SESSIONS {
            self.released.pop_front();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.by_route.clear();
        self.released.clear();
    }
}
