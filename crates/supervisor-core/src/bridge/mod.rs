//! The bridge, for backends that close native dialogs themselves before anybody can answer.
//!
//! A script in every document asks us instead of the browser: by a synchronous request to a host that does not exist, which
//! the browser hands to us before it reaches the network. The page's thread waits for the reply as it would for a dialog.
//!
//! ```text
//!  page: confirm("sure?") ──XHR──▶ Fetch.requestPaused ──▶ a pending dialog like any other
//!  page: true            ◀─────── Fetch.fulfillRequest ◀── whoever answers it
//! ```
//!
//! Such a dialog has no `Closed` event: it ends by its answer, or with the document or the connection that it needs. A page
//! has one native dialog at most; of these, each of its frames can have one.

mod apply;
pub(crate) mod intercept;
pub(crate) mod rules;
pub(crate) mod sandbox;
mod script;
pub(crate) mod wanted;

use std::collections::BTreeMap;

use cdp_wire::FrameId;
use serde::{Deserialize, Serialize};

use crate::dialog::DialogOpening;
use crate::options::Bridge as Choice;
use crate::state::State;

/// Whether dialogs go by the bridge, and what was seen of the backend.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Bridge {
    /// Whether it is on, for every session.
    pub on: bool,
    /// Dialogs that were closed at once, by nobody here and for no reason that the browser told.
    pub snatched: u32,
    /// Whether that was often enough to tell that the backend does it.
    pub detected: bool,
    /// What is known of the elements of iframes in other processes than their parents.
    pub elements: BTreeMap<FrameId, Element>,
    /// Requests that wait until it is known whether their frame may ask.
    pub held: Vec<Held>,
    /// The number of the last of them.
    pub last_held: u64,
}

/// Whether an iframe's element lets it ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Element {
    /// As far as is known.
    #[default]
    Speaks,
    /// That was asked.
    Asked,
    /// It is sandboxed without `allow-modals`.
    Silent,
}

/// A request that waits until it is known whether its frame may ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// Its number.
    pub number: u64,
    /// What it asks.
    pub dialog: DialogOpening,
}

/// Why a page's dialogs do not go by the bridge though it is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unavailable {
    /// A native dialog opened all the same; nothing told why.
    Unknown,
    /// The page's Permissions-Policy forbids synchronous requests.
    PermissionsPolicy,
    /// The page's Content-Security-Policy forbids requests to the bridge's host.
    ContentSecurityPolicy,
}

/// A request of the script that waits for its reply.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paused {
    /// The session that was told. A popup that is still at `about:blank` sends its request on its opener's.
    pub route: crate::ids::Route,
    /// The browser's id of the request.
    pub request: String,
}

impl Bridge {
    /// The connection is gone, and what was known of its frames.
    pub(crate) fn disconnected(&mut self) {
        self.elements.clear();
        self.held.clear();
    }
}

impl State {
    /// Whether the bridge should be on.
    pub(crate) fn wants_bridge(&self) -> bool {
        match self.options.bridge {
            Choice::On => true,
            Choice::Off => false,
            Choice::Auto => self.bridge.detected,
        }
    }
}
