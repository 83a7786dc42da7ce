//! What a host gets for a request.

use ractor::RpcReplyPort;
use serde::Serialize;
use supervisor_core::{Code, DialogView, Failure, FrameId, Outcome, SessionId};
use tokio_tungstenite::tungstenite::Utf8Bytes;

use crate::json::Json;

/// Where an answer goes. Dropping it tells the caller that none will come.
pub(crate) type Port = RpcReplyPort<Result<Answer, Failure>>;

/// How a request succeeded.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Answer {
    /// Done, and there is nothing to say.
    Done,
    /// A dialog was answered.
    Dialog(Box<Answered>),
    /// A CDP command was answered.
    Call(CallResult),
    /// An expression was evaluated.
    Eval(EvalValue),
}

/// A dialog that the host answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// Whether it was accepted.
    pub accepted: bool,
    /// The dialog as it ended.
    pub dialog: DialogView,
    /// The one that opened on the same page since.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_dialog: Option<DialogView>,
}

/// The browser's answer to a CDP command.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallResult {
    /// The result, an object. It comes from the browser and, for many methods, from the page: untrusted.
    pub result: Json,
    /// The frame that the call was for.
    pub frame_id: Option<FrameId>,
    /// The session that it went over.
    pub session_id: Option<SessionId>,
}

/// The value of an expression.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvalValue {
    /// The value; `null` also for what JSON cannot express. Untrusted.
    pub value: Json,
    /// Its JavaScript type, such as `string` or `undefined`.
    pub kind: String,
}

/// The result of a call that a dialog had interrupted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum LateResult {
    /// Of a CDP command.
    Call(CallResult),
    /// Of an expression.
    Eval(EvalValue),
}

/// The core's outcome with its bytes: a slice of the message that was being handled.
pub(crate) fn answer(outcome: Outcome, message: Option<&Utf8Bytes>) -> Result<Answer, Failure> {
    Ok(match outcome {
        Outcome::Done => Answer::Done,
        Outcome::Answered { accepted, dialog, next } => {
            let next_dialog = next.map(|next| *next);
            Answer::Dialog(Box::new(Answered { accepted, dialog: *dialog, next_dialog }))
        }
        Outcome::Result { body, frame_id, session_id } => {
            Answer::Call(CallResult { result: Json::of(body, message), frame_id, session_id })
        }
        Outcome::Value { body, kind } => Answer::Eval(EvalValue { value: Json::of(body, message), kind }),
        Outcome::Failed(failure) => return Err(failure),
    })
}

impl Answer {
    /// Changes the JSON text, if there is one.
    pub(crate) fn map_json(self, change: impl FnOnce(Json) -> Json) -> Self {
        match self {
            Answer::Call(call) => Answer::Call(CallResult { result: change(call.result), ..call }),
            Answer::Eval(eval) => Answer::Eval(EvalValue { value: change(eval.value), ..eval }),
            other => other,
        }
    }
}

/// An answer of another kind than the request has: a fault of this program, told rather than hidden.
pub(crate) fn unexpected(got: &Answer) -> Failure {
    let kind = match got {
        Answer::Done => "nothing",
        Answer::Dialog(_) => "a dialog",
        Answer::Call(_) => "a CDP result",
        Answer::Eval(_) => "a value",
    };
    Failure::new(
        Code::UnsupportedBackend,
        format!("The request was answered with {kind}: please report this fault."),
    )
}
