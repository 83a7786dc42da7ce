//! The one shape of an error that a host sees.

use cdp_wire::FrameId;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, DialogId};
use crate::snapshot::DialogView;

/// Why a request failed: a code for programs, a message for the reader that says what to do next, and what belongs to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[error("{message} [{code}]")]
pub struct Failure {
    /// The kind of failure.
    pub code: Code,
    /// What happened and what to do next.
    pub message: String,
    /// What belongs to it.
    #[serde(flatten)]
    pub detail: Box<Detail>,
}

impl Failure {
    /// A failure without details.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), detail: Box::default() }
    }

    /// Adds details.
    #[must_use]
    pub fn with(mut self, fill: impl FnOnce(&mut Detail)) -> Self {
        fill(&mut self.detail);
        self
    }
}

/// What a failure may carry; each code says which.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct Detail {
    /// `blocked_by_dialog`, `dialog_opened`, `already_closed`, `unanswerable`: the dialog.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub dialog: Option<DialogView>,
    /// `dialog_opened`: ask for the late result with this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// `ambiguous_dialog`: the dialogs to choose from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<DialogView>,
    /// `already_closed`: who answers or answered it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub won_by: Option<String>,
    /// `already_closed`: the dialog that our answer hit instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub misdirected_to: Option<DialogId>,
    /// `cdp_error`: the browser's own code and message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cdp: Option<CdpError>,
    /// `js_exception`: what was thrown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exception: Option<JsException>,
    /// `start_failed`: where it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// `start_failed` at `upgrade`: the HTTP status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http_status: Option<u16>,
    /// `not_an_oopif` and others about one frame.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub frame_id: Option<FrameId>,
}

/// An error as the browser gave it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CdpError {
    /// The JSON-RPC code.
    pub code: i64,
    /// The browser's words.
    pub message: String,
}

/// What a script threw. Lines and columns count from 0, as CDP's do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JsException {
    /// The description of what was thrown, with its stack where it has one.
    pub text: String,
    /// The line in the script.
    pub line: i64,
    /// The column.
    pub column: i64,
}

/// How far a start came.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Finding out what to connect to: the URL, `/json/version`, `DevToolsActivePort`, DNS.
    Resolve,
    /// The TCP connection.
    Tcp,
    /// The TLS handshake.
    Tls,
    /// The WebSocket upgrade; its HTTP status tells more.
    Upgrade,
    /// The first CDP commands.
    Handshake,
}

macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        /// The kinds of failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[non_exhaustive]
        pub enum Code {
            $($(#[$doc])* #[serde(rename = $text)] $variant,)+
        }

        impl Code {
            /// The code as it is written in JSON.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Code::$variant => $text,)+
                }
            }
        }
    };
}

codes! {
    /// Nothing is pending.
    NoDialog = "no_dialog",
    /// More than one dialog is pending and none was named.
    AmbiguousDialog = "ambiguous_dialog",
    /// There never was such a dialog on this binding.
    UnknownDialog = "unknown_dialog",
    /// Somebody else answers or answered it.
    AlreadyClosed = "already_closed",
    /// Nobody can answer it any more.
    Unanswerable = "unanswerable",
    /// A dialog blocks the renderer that the call needs; it was not sent.
    BlockedByDialog = "blocked_by_dialog",
    /// A dialog opened while the call ran; its result may come late.
    DialogOpened = "dialog_opened",
    /// The frame lives in its parent's process and has no session of its own.
    NotAnOopif = "not_an_oopif",
    /// There never was such a frame.
    FrameNotFound = "frame_not_found",
    /// The frame is gone.
    FrameGone = "frame_gone",
    /// The page is gone, or there is none.
    PageGone = "page_gone",
    /// The document that the call ran in is gone, or the frame is between two.
    Navigated = "navigated",
    /// The renderer crashed.
    TargetCrashed = "target_crashed",
    /// The page does not answer.
    TargetUnresponsive = "target_unresponsive",
    /// The session ended while its target lives on.
    SessionClosed = "session_closed",
    /// The task has no browser.
    NotConnected = "not_connected",
    /// The connection was lost.
    Disconnected = "disconnected",
    /// The deadline passed.
    Timeout = "timeout",
    /// The script threw.
    JsException = "js_exception",
    /// The browser refused the command.
    CdpError = "cdp_error",
    /// The command would break supervision or kill the browser.
    Refused = "refused",
    /// The task could not be started.
    StartFailed = "start_failed",
    /// There is no such call, or its late result is no longer kept.
    UnknownCall = "unknown_call",
    /// The request itself is wrong.
    InvalidArgument = "invalid_argument",
    /// The backend cannot do it.
    UnsupportedBackend = "unsupported_backend",
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}
