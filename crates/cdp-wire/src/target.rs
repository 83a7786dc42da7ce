//! The `Target` domain: pages, iframes in other processes, workers, and the sessions attached to them.

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::{SessionId, TargetId, Text};

/// `Target.TargetInfo`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfo<'a> {
    /// The target.
    #[serde(borrow)]
    pub target_id: Text<'a>,
    /// `page`, `iframe`, `worker`, `tab`, … A text, because the list grows.
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// The page's title.
    #[serde(borrow, default)]
    pub title: Text<'a>,
    /// Its URL; empty before the first commit.
    #[serde(borrow, default)]
    pub url: Text<'a>,
    /// The target that opened it.
    #[serde(borrow)]
    pub opener_id: Option<Text<'a>>,
    /// Whether the page can script its opener: then the two share a renderer when they are same-site.
    #[serde(default)]
    pub can_access_opener: bool,
    /// The frame that opened it.
    #[serde(borrow)]
    pub opener_frame_id: Option<Text<'a>>,
    /// For an iframe target: the frame that embeds it. Older browsers do not say.
    #[serde(borrow)]
    pub parent_frame_id: Option<Text<'a>>,
    /// The browser context it lives in.
    #[serde(borrow)]
    pub browser_context_id: Option<Text<'a>>,
    /// A refinement of the type, such as `prerender`.
    #[serde(borrow)]
    pub subtype: Option<Text<'a>>,
}

/// `Target.attachedToTarget`: a session was born. It comes on the parent's session, before any message of the new one.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachedToTarget<'a> {
    /// The new session.
    #[serde(borrow)]
    pub session_id: Text<'a>,
    /// What it is attached to.
    #[serde(borrow)]
    pub target_info: TargetInfo<'a>,
    /// Whether the target is paused until `Runtime.runIfWaitingForDebugger`.
    pub waiting_for_debugger: bool,
}

/// `Target.detachedFromTarget`. For an iframe it is no proof that the frame is gone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DetachedFromTarget<'a> {
    /// The session that ended.
    #[serde(borrow)]
    pub session_id: Text<'a>,
}

/// `Target.targetCreated`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetCreated<'a> {
    /// The target.
    #[serde(borrow)]
    pub target_info: TargetInfo<'a>,
}

/// `Target.targetInfoChanged`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfoChanged<'a> {
    /// The target as it is now.
    #[serde(borrow)]
    pub target_info: TargetInfo<'a>,
}

/// `Target.targetDestroyed`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetDestroyed<'a> {
    /// The target.
    #[serde(borrow)]
    pub target_id: Text<'a>,
}

/// `Target.targetCrashed`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetCrashed<'a> {
    /// The target whose renderer died.
    #[serde(borrow)]
    pub target_id: Text<'a>,
    /// The kind of termination.
    #[serde(borrow, default)]
    pub status: Text<'a>,
    /// The exit code or signal.
    #[serde(default)]
    pub error_code: i64,
}

/// `Target.FilterEntry`: the first entry that matches a target decides.
#[derive(Debug, Clone, Serialize)]
pub struct FilterEntry {
    /// The target type; none matches every type.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Exclude what matches.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub exclude: bool,
}

/// `Target.setDiscoverTargets`
#[derive(Debug, Clone, Serialize)]
pub struct SetDiscoverTargets {
    /// Report targets with `targetCreated`, `targetInfoChanged` and `targetDestroyed`.
    pub discover: bool,
    /// Which targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<FilterEntry>,
}

impl Command for SetDiscoverTargets {
    const METHOD: &'static str = "Target.setDiscoverTargets";
}

/// `Target.setAutoAttach`. It is not recursive: it must be sent on each attached session again.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SetAutoAttach {
    /// Attach to targets related to this one; `false` detaches all that were.
    pub auto_attach: bool,
    /// Pause new targets until `Runtime.runIfWaitingForDebugger`.
    pub wait_for_debugger_on_start: bool,
    /// Flat sessions: messages carry a `sessionId`.
    pub flatten: bool,
    /// Which targets. On a page's session it must be empty: with a filter, paused workers are never announced.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub filter: Vec<FilterEntry>,
}

impl Command for SetAutoAttach {
    const METHOD: &'static str = "Target.setAutoAttach";
}

/// `Target.getTargetInfo`: answered by the browser process, whatever the page does.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GetTargetInfo {
    /// The target.
    pub target_id: TargetId,
}

impl Command for GetTargetInfo {
    const METHOD: &'static str = "Target.getTargetInfo";
}

/// The result of [`GetTargetInfo`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetInfoResult<'a> {
    /// The target as it is now.
    #[serde(borrow)]
    pub target_info: TargetInfo<'a>,
}

/// `Target.attachToTarget`
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AttachToTarget {
    /// The target.
    pub target_id: TargetId,
    /// A flat session.
    pub flatten: bool,
}

impl Command for AttachToTarget {
    const METHOD: &'static str = "Target.attachToTarget";
}

/// The result of [`AttachToTarget`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attached<'a> {
    /// The new session.
    #[serde(borrow)]
    pub session_id: Text<'a>,
}

/// `Target.detachFromTarget`
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DetachFromTarget {
    /// The session to end.
    pub session_id: SessionId,
}

impl Command for DetachFromTarget {
    const METHOD: &'static str = "Target.detachFromTarget";
}

/// `Target.closeTarget`: closes a page without asking its `beforeunload`.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CloseTarget {
    /// The page.
    pub target_id: TargetId,
}

impl Command for CloseTarget {
    const METHOD: &'static str = "Target.closeTarget";
}
