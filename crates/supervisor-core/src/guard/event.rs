//! What became of the guard.

use cdp_wire::{CommandId, TargetId};
use serde::{Deserialize, Serialize};

use crate::dialog::DialogOpening;
use crate::flights::Purpose;
use crate::guard::{SeenEnd, Stands, Teller, Why};
use crate::ids::{DialogId, EndpointKind, Epoch, Route};
use crate::time::At;

/// One fact about the guard connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "guard", rename_all = "snake_case")]
#[non_exhaustive]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum GuardEvent {
    /// A socket is being opened.
    Dialing {
        /// Its number.
        epoch: Epoch,
        /// The main connection that it is made beside.
        made_for: Epoch,
        /// 0 for the first, then counting since the loss.
        attempt: u32,
    },
    /// The socket is open.
    Opened {
        /// Its number.
        epoch: Epoch,
        /// What its root is.
        endpoint: EndpointKind,
    },
    /// The socket is gone, or could not be opened.
    Lost {
        /// When the next attempt is made, if one is.
        retry_at: Option<At>,
    },
    /// It stands otherwise with the guard now.
    Stands {
        /// How.
        stands: Stands,
        /// In words, when it is not on.
        message: Option<String>,
    },
    /// This browser should not be guarded.
    Unsuited {
        /// Why.
        why: Why,
    },
    /// The main connection was lost just after the guard had come, or at another time.
    MainLost {
        /// Whether it was just after.
        just_after: bool,
    },
    /// A command was handed to the guard's writer.
    CommandSent {
        /// Its id; the guard counts its own.
        id: CommandId,
        /// Where to.
        route: Route,
        /// `Domain.command`.
        method: String,
        /// Why.
        purpose: Purpose,
    },
    /// A command was answered.
    CommandAnswered {
        /// Its id.
        id: CommandId,
    },
    /// It has a session on a page.
    Watches {
        /// The page.
        target: TargetId,
        /// The session.
        route: Route,
    },
    /// It is sure to hear of the dialogs that open there from now on.
    Listens {
        /// The page.
        target: TargetId,
    },
    /// It has no session there any more.
    Unwatches {
        /// The page.
        target: TargetId,
    },
    /// It heard of a dialog.
    Saw {
        /// The page.
        target: TargetId,
        /// The dialog; its route is the guard's.
        dialog: Box<DialogOpening>,
    },
    /// It heard of the end of one.
    SawEnd {
        /// The page.
        target: TargetId,
        /// How it ended.
        end: SeenEnd,
    },
    /// It heard that a page is leaving its document.
    SawLeaving {
        /// The page.
        target: TargetId,
    },
    /// Another word counts for the dialogs of a page.
    Tells {
        /// The page.
        target: TargetId,
        /// Whose.
        teller: Teller,
    },
    /// The main connection is lost, and the dialog is not, or perhaps not.
    Carries {
        /// The dialog.
        id: DialogId,
        /// The guard's session where its answer goes; none when it has not heard of it yet.
        route: Option<Route>,
        /// Whether it is known to be still open.
        sure: bool,
    },
}
