//! The `Fetch` domain: requests stopped before they reach the network.

use serde::{Deserialize, Serialize};

use crate::command::Command;
use crate::{FetchRequestId, Text};

/// `Fetch.requestPaused`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPaused<'a> {
    /// What to continue, fulfil or fail.
    #[serde(borrow)]
    pub request_id: Text<'a>,
    /// The request.
    #[serde(borrow)]
    pub request: Request<'a>,
    /// The frame that asked.
    #[serde(borrow)]
    pub frame_id: Text<'a>,
    /// `XHR`, `Document`, `Script`, …
    #[serde(borrow)]
    pub resource_type: Text<'a>,
    /// There when the pause is at the response.
    pub response_status_code: Option<i64>,
    /// There when the pause is at a failed response.
    #[serde(borrow)]
    pub response_error_reason: Option<Text<'a>>,
}

/// `Network.Request`, as far as a pause needs it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request<'a> {
    /// The URL without its fragment.
    #[serde(borrow)]
    pub url: Text<'a>,
    /// The HTTP method.
    #[serde(borrow)]
    pub method: Text<'a>,
    /// The body, when it is small and text.
    #[serde(borrow)]
    pub post_data: Option<Text<'a>>,
}

/// `Fetch.RequestPattern`
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestPattern {
    /// `*` and `?` are wild.
    pub url_pattern: String,
    /// One type only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resource_type: Option<&'static str>,
}

/// `Fetch.enable`: replaces the patterns of an earlier one on this session.
#[derive(Debug, Clone, Serialize)]
pub struct Enable {
    /// What to stop.
    pub patterns: Vec<RequestPattern>,
}

impl Command for Enable {
    const METHOD: &'static str = "Fetch.enable";
}

/// `Fetch.disable`
#[derive(Debug, Clone, Serialize)]
pub struct Disable {}

impl Command for Disable {
    const METHOD: &'static str = "Fetch.disable";
}

/// `Fetch.HeaderEntry`
#[derive(Debug, Clone, Serialize)]
pub struct HeaderEntry {
    /// The name.
    pub name: &'static str,
    /// The value.
    pub value: String,
}

/// `Fetch.fulfillRequest`: answers in the server's place. A stale request id answers ok too.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FulfillRequest {
    /// The paused request.
    pub request_id: FetchRequestId,
    /// The HTTP status.
    pub response_code: u16,
    /// The headers.
    pub response_headers: Vec<HeaderEntry>,
    /// The body in base64.
    pub body: String,
}

impl Command for FulfillRequest {
    const METHOD: &'static str = "Fetch.fulfillRequest";
}

/// `Fetch.continueRequest`: lets a request go on as it was.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ContinueRequest {
    /// The paused request.
    pub request_id: FetchRequestId,
}

impl Command for ContinueRequest {
    const METHOD: &'static str = "Fetch.continueRequest";
}

/// `Fetch.failRequest`
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FailRequest {
    /// The paused request.
    pub request_id: FetchRequestId,
    /// A `Network.ErrorReason`, such as `Aborted`.
    pub error_reason: &'static str,
}

impl Command for FailRequest {
    const METHOD: &'static str = "Fetch.failRequest";
}
