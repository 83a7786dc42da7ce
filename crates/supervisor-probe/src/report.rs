//! What a probe found.

use std::fmt;

use serde::Serialize;
use supervisor::Endpoint;

use crate::row::Row;

/// What a probe found at one endpoint.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Where it was, without secrets.
    pub endpoint: Endpoint,
    /// What is there.
    pub backend: Backend,
    /// The four answers that decide whether a host gets along with it.
    pub matrix: Matrix,
    /// What was measured, in this order.
    pub checks: Vec<Outcome>,
    /// Whether the connection broke before everything was asked: what came after that is unknown.
    pub connection_lost: bool,
    /// What the probe opened and could not close, in words. Empty as a rule.
    pub left_behind: Vec<String>,
}

/// What is at an endpoint.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Backend {
    /// Whether it speaks the Chrome DevTools Protocol.
    pub cdp: bool,
    /// What it calls itself, such as `Chrome/156.0.8078.114`. Untrusted.
    pub product: Option<String>,
    /// The version of the protocol that it names.
    pub protocol: Option<String>,
    /// What it is instead, where it speaks no CDP.
    pub instead: Option<String>,
}

/// The four answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Matrix {
    /// Whether dialogs are seen while they can still be answered. The reason of a yes is `bridge` where only that helps.
    pub dialogs_seen: Verdict,
    /// Whether the answers reach the page.
    pub dialogs_answered: Verdict,
    /// Whether all frames are in the tree, in their places.
    pub frame_tree: Verdict,
    /// Whether calls reach frames in other processes.
    pub oopif_calls: Verdict,
}

/// One question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// The question.
    #[serde(rename = "name")]
    pub row: Row,
    /// The answer.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// Milliseconds since its check began.
    pub ms: u64,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The answer.
    pub value: Value,
    /// Why, in one word of a small list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// What happened, in words. Untrusted: it may hold what the backend said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Yes, no, or nobody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// It works.
    Yes,
    /// It does not.
    No,
    /// It could not be measured.
    Unknown,
}

impl Verdict {
    pub(crate) fn yes() -> Self {
        Self { value: Value::Yes, reason: None, detail: None }
    }

    pub(crate) fn no(reason: &'static str) -> Self {
        Self { value: Value::No, reason: Some(reason), detail: None }
    }

    pub(crate) fn unknown(reason: &'static str) -> Self {
        Self { value: Value::Unknown, reason: Some(reason), detail: None }
    }

    pub(crate) fn because(self, reason: &'static str) -> Self {
        Self { reason: Some(reason), ..self }
    }

    pub(crate) fn with(self, detail: impl Into<String>) -> Self {
        Self { detail: Some(detail.into()), ..self }
    }

    pub(crate) fn is_yes(&self) -> bool {
        self.value == Value::Yes
    }
}

/// `yes`, `yes: bridge`, `no: closed_by_backend`: how expectations and tables write it.
impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.value {
            Value::Yes => "yes",
            Value::No => "no",
            Value::Unknown => "unknown",
        })?;
        self.reason.map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

impl Matrix {
    /// All four are no, for one reason.
    pub(crate) fn none(reason: &'static str) -> Self {
        let no = || Verdict::no(reason);
        Self { dialogs_seen: no(), dialogs_answered: no(), frame_tree: no(), oopif_calls: no() }
    }

    /// From what was measured. Dialogs that the backend closes itself are seen and answered by the bridge where that works.
    pub(crate) fn of(checks: &[Outcome]) -> Self {
        let of = |row: Row| {
            let found = checks.iter().find(|outcome| outcome.row == row);
            found.map_or_else(|| Verdict::unknown("not_measured"), |outcome| outcome.verdict.clone())
        };
        let bridged = of(Row::BridgeHttps);
        let or_bridged = |native: Verdict| match native.value {
            Value::No if bridged.is_yes() => Verdict::yes().because("bridge"),
            _ => native,
        };
        let answers = [Row::Alert, Row::ConfirmTrue, Row::ConfirmFalse, Row::PromptText].map(of);
        let worst = answers.iter().find(|verdict| !verdict.is_yes()).unwrap_or(&answers[0]);
        Self {
            dialogs_seen: or_bridged(of(Row::DialogStaysOpen)),
            dialogs_answered: or_bridged(worst.clone()),
            frame_tree: of(Row::FrameTree),
            oopif_calls: of(Row::OopifCalls),
        }
    }

    /// The four with their titles.
    #[must_use]
    pub fn rows(&self) -> [(&'static str, &Verdict); 4] {
        [
            ("dialogs seen", &self.dialogs_seen),
            ("dialogs answered", &self.dialogs_answered),
            ("frame tree", &self.frame_tree),
            ("OOPIF calls", &self.oopif_calls),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcomes(verdicts: &[(Row, Verdict)]) -> Vec<Outcome> {
        verdicts.iter().map(|(row, verdict)| Outcome { row: *row, verdict: verdict.clone(), ms: 1 }).collect()
    }

    fn dialogs(native: &Verdict, bridge: &Verdict) -> Vec<(Row, Verdict)> {
        let native_rows =
            [Row::DialogStaysOpen, Row::Alert, Row::ConfirmTrue, Row::ConfirmFalse, Row::PromptText];
        let rows = native_rows.map(|row| (row, native.clone()));
        rows.into_iter().chain([(Row::BridgeHttps, bridge.clone())]).collect()
    }

    #[test]
    fn a_dialog_that_stays_open_needs_no_bridge() {
        let matrix =
            Matrix::of(&outcomes(&dialogs(&Verdict::yes(), &Verdict::no("content_security_policy"))));
        assert_eq!((matrix.dialogs_seen, matrix.dialogs_answered), (Verdict::yes(), Verdict::yes()));
        assert_eq!(matrix.frame_tree.to_string(), "unknown: not_measured");
    }

    #[test]
    fn where_the_backend_closes_dialogs_the_bridge_decides() {
        let closed = Verdict::no("closed_by_backend");
        let with = |bridge: Verdict| Matrix::of(&outcomes(&dialogs(&closed, &bridge)));
        assert_eq!(with(Verdict::yes()).dialogs_answered.to_string(), "yes: bridge");
        assert_eq!(with(Verdict::yes()).dialogs_seen.to_string(), "yes: bridge");
        assert_eq!(with(Verdict::no("unknown")).dialogs_answered.to_string(), "no: closed_by_backend");
    }

    #[test]
    fn one_answer_that_does_not_arrive_decides() {
        let mut rows = dialogs(&Verdict::yes(), &Verdict::unknown("timeout"));
        rows[4].1 = Verdict::no("wrong_answer");
        assert_eq!(Matrix::of(&outcomes(&rows)).dialogs_answered, Verdict::no("wrong_answer"));
    }

    #[test]
    fn an_outcome_is_flat_in_json() {
        let outcome = &outcomes(&[(Row::Alert, Verdict::no("not_seen"))])[0];
        assert_eq!(
            serde_json::to_value(outcome).unwrap(),
            serde_json::json!({"name": "alert", "value": "no", "reason": "not_seen", "ms": 1})
        );
    }
}
