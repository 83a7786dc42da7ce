//! The `Runtime` domain: execution contexts, evaluation, console calls and exceptions.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::command::Command;
use crate::{Text, UniqueContextId};

/// `Runtime.executionContextCreated`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExecutionContextCreated<'a> {
    /// The new context.
    #[serde(borrow)]
    pub context: ExecutionContextDescription<'a>,
}

/// `Runtime.ExecutionContextDescription`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionContextDescription<'a> {
    /// Unique in one process only: two sessions have a context 1.
    pub id: i64,
    /// The origin of the document; `://` for an opaque one.
    #[serde(borrow, default)]
    pub origin: Text<'a>,
    /// Unique in the browser and never reused.
    #[serde(borrow, default)]
    pub unique_id: Text<'a>,
    /// Which frame it belongs to, where the embedder says it.
    #[serde(borrow)]
    pub aux_data: Option<AuxData<'a>>,
}

/// What Chromium puts into `auxData` of a context.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AuxData<'a> {
    /// Whether it is the page's own world (not an isolated one).
    #[serde(default)]
    pub is_default: bool,
    /// The frame; workers have none.
    #[serde(borrow)]
    pub frame_id: Option<Text<'a>>,
}

/// `Runtime.executionContextDestroyed`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutionContextDestroyed<'a> {
    /// The context's id in its process.
    pub execution_context_id: i64,
    /// Its unique id; older browsers do not say.
    #[serde(borrow)]
    pub execution_context_unique_id: Option<Text<'a>>,
}

/// `Runtime.executionContextsCleared`: all contexts of this session are gone.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ExecutionContextsCleared {}

/// `Runtime.RemoteObject`: a value of the page.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RemoteObject<'a> {
    /// `object`, `string`, `number`, …
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// `null`, `error`, `array`, …
    #[serde(borrow)]
    pub subtype: Option<Text<'a>>,
    /// The JSON text of a primitive value, or of any value asked for by value.
    #[serde(borrow)]
    pub value: Option<&'a RawValue>,
    /// `Infinity`, `NaN`, `-0`, a bigint.
    #[serde(borrow)]
    pub unserializable_value: Option<Text<'a>>,
    /// The value as a person reads it; of an error its stack.
    #[serde(borrow)]
    pub description: Option<Text<'a>>,
    /// The handle of an object that the browser keeps for us.
    #[serde(borrow)]
    pub object_id: Option<Text<'a>>,
}

impl PartialEq for RemoteObject<'_> {
    fn eq(&self, other: &Self) -> bool {
        let json = |object: &Self| object.value.map(|value| value.get().to_owned());
        self.kind == other.kind
            && self.subtype == other.subtype
            && json(self) == json(other)
            && self.unserializable_value == other.unserializable_value
            && self.description == other.description
            && self.object_id == other.object_id
    }
}

/// `Runtime.consoleAPICalled`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ConsoleApiCalled<'a> {
    /// `log`, `error`, `warning`, `assert`, …
    #[serde(borrow, rename = "type")]
    pub kind: Text<'a>,
    /// What was logged.
    #[serde(borrow, default)]
    pub args: Vec<RemoteObject<'a>>,
    /// The context that called.
    pub execution_context_id: i64,
    /// Where.
    #[serde(borrow)]
    pub stack_trace: Option<StackTrace<'a>>,
}

/// `Runtime.StackTrace`
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StackTrace<'a> {
    /// The frames, innermost first.
    #[serde(borrow, default)]
    pub call_frames: Vec<CallFrame<'a>>,
}

/// `Runtime.CallFrame`. Lines and columns count from 0.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CallFrame<'a> {
    /// The script.
    #[serde(borrow, default)]
    pub url: Text<'a>,
    /// The line.
    pub line_number: i64,
    /// The column.
    pub column_number: i64,
}

/// `Runtime.exceptionThrown`
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionThrown<'a> {
    /// What was thrown and where.
    #[serde(borrow)]
    pub exception_details: ExceptionDetails<'a>,
}

/// `Runtime.ExceptionDetails`. Lines and columns count from 0.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExceptionDetails<'a> {
    /// `Uncaught`, or a little more.
    #[serde(borrow)]
    pub text: Text<'a>,
    /// The line.
    pub line_number: i64,
    /// The column.
    pub column_number: i64,
    /// The script.
    #[serde(borrow)]
    pub url: Option<Text<'a>>,
    /// The way there.
    #[serde(borrow)]
    pub stack_trace: Option<StackTrace<'a>>,
    /// What was thrown.
    #[serde(borrow)]
    pub exception: Option<RemoteObject<'a>>,
    /// The context it was thrown in.
    pub execution_context_id: Option<i64>,
}

/// `Runtime.enable`
#[derive(Debug, Clone, Serialize)]
pub struct Enable {}

impl Command for Enable {
    const METHOD: &'static str = "Runtime.enable";
}

/// `Runtime.runIfWaitingForDebugger`: resumes a paused target.
#[derive(Debug, Clone, Serialize)]
pub struct RunIfWaitingForDebugger {}

impl Command for RunIfWaitingForDebugger {
    const METHOD: &'static str = "Runtime.runIfWaitingForDebugger";
}

/// `Runtime.releaseObjectGroup`: lets the browser forget the objects of a group.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReleaseObjectGroup {
    /// The group; `console` holds what console calls logged.
    pub object_group: &'static str,
}

impl Command for ReleaseObjectGroup {
    const METHOD: &'static str = "Runtime.releaseObjectGroup";
}

/// `Runtime.evaluate`
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Evaluate {
    /// What to evaluate.
    pub expression: String,
    /// The one context it may run in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unique_context_id: Option<UniqueContextId>,
    /// Wait for a promise.
    pub await_promise: bool,
    /// The value itself instead of a handle.
    pub return_by_value: bool,
    /// As if the user had just clicked.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub user_gesture: bool,
}

impl Command for Evaluate {
    const METHOD: &'static str = "Runtime.evaluate";
}

/// The result of [`Evaluate`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EvaluateResult<'a> {
    /// The value, or what was thrown.
    #[serde(borrow)]
    pub result: RemoteObject<'a>,
    /// There when it threw.
    #[serde(borrow)]
    pub exception_details: Option<ExceptionDetails<'a>>,
}
